"""`pgjobs tasks prune`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgjobs.cli.bulk import DryRun, Yes, confirm
from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.durations import duration
from pgjobs.cli.output import print_table, progress, say
from pgjobs.cli.selectors import JobFilter, StatusFilter

if TYPE_CHECKING:
    from pgjobs.queue.server import ServerQueue

_BATCH = 1000


def prune(
    *,
    url: Url = None,
    job: JobFilter = None,
    status: StatusFilter = None,
    room: Annotated[str | None, typer.Option(help="Only tasks of this room's jobs.")] = None,
    older_than: Annotated[
        timedelta | None,
        typer.Option(
            parser=duration,
            metavar="DURATION",
            help="Ended longer ago than this; if left out, each job's retention.",
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Remove ended tasks whose retention is over, in batches."""
    chosen: dict[str, Any] = {
        "of_status": status and status.value,
        "older_than": older_than,
        "of_job": job,
        "in_room": room,
    }

    async def run(queue: ServerQueue) -> int:
        first = await queue.prune_tasks(**chosen, batch=_BATCH, dry_run=True)
        about = f"{len(first)}{' or more' if len(first) == _BATCH else ''} ended tasks"
        if dry_run:
            print_table(
                ("id", "status", "ended"), ((task.task_id, task.status, task.ended_at) for task in first)
            )
            say(f"Prune would remove {about}; nothing was changed.")
            return 0
        if first and not yes:
            confirm(f"Remove {about} permanently?")
        removed = 0
        with progress("Prune", None) as bar:
            while batch := await queue.prune_tasks(**chosen, batch=_BATCH):
                removed += len(batch)
                bar.advance(len(batch))
        say(f"Removed {removed} tasks.")
        return removed

    removed = with_queue(url, run)
    if not dry_run:
        typer.echo(removed)
