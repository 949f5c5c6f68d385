"""`pgjobs tasks`: looking, waiting."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.bulk import cancel, ignore, retry, unignore
from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.durations import duration
from pgjobs.cli.exit_codes import AWAITED_FAILED, TIMED_OUT
from pgjobs.cli.output import AsJson, Limit, cell, first_line, print_document, print_pairs, print_table, say
from pgjobs.cli.prune import prune
from pgjobs.cli.resubmit import resubmit
from pgjobs.cli.selectors import (
    JobFilter,
    OwnerFilter,
    ProjectFilter,
    RoomFilter,
    StatusFilter,
    TaskRef,
    find,
)
from pgjobs.cli.signals import signal
from pgjobs.cli.task_log import log
from pgjobs.cli.task_steps import steps
from pgjobs.cli.why import why

if TYPE_CHECKING:
    from pgjobs.queue.records import Attempt, TaskDocument
    from pgjobs.queue.server import ServerQueue

tasks = typer.Typer(help="List, inspect and change tasks.", no_args_is_help=True, rich_markup_mode=None)

_SHOWN = (
    "id", "uuid", "job", "room", "status", "phase", "priority", "attempt", "max_attempts", "created_at",
    "due_at", "claimed_at", "started_at", "ended_at", "until", "worker_id", "holder", "error_kind", "error",
    "progress", "cancel_requested_at", "reason", "submitter", "owner", "project", "tags", "idempotency_key",
    "payload", "result",
)  # fmt: skip


@tasks.command("list")
def list_all(
    *,
    url: Url = None,
    room: RoomFilter = None,
    job: JobFilter = None,
    status: StatusFilter = None,
    owner: OwnerFilter = None,
    project: ProjectFilter = None,
    before: Annotated[
        int | None, typer.Option(help="Only tasks with a smaller number: the next page.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List tasks, newest first."""

    async def run(queue: ServerQueue) -> None:
        found = await queue.list_tasks(
            room=room,
            job=job,
            status=status and status.value,
            owner=owner,
            project=project,
            before=before,
            page_size=limit,
        )
        if as_json:
            from pgjobs.cli.json_output import shown_page

            print_document(await shown_page(queue, found, limit))
            return
        print_table(
            ("id", "job", "room", "status", "phase", "attempt", "created", "error"),
            (
                (
                    t.id,
                    t.job,
                    t.room,
                    t.status,
                    t.phase,
                    f"{t.attempt}/{t.max_attempts}",
                    t.created_at,
                    first_line(t.error),
                )
                for t in found
            ),
        )
        if len(found) == limit:
            say(f"There may be more: --before {found[-1].id}")

    with_queue(url, run)


@tasks.command()
def show(task: TaskRef, url: Url = None, as_json: AsJson = False) -> None:
    """Show a task with its payload, result and attempts."""

    async def run(queue: ServerQueue) -> None:
        found = await find(queue, task)
        if as_json:
            from pgjobs.cli.json_output import shown

            print_document(await shown(queue, found.id))
        else:
            _print(found, await queue.list_attempts(found.id))

    with_queue(url, run)


@tasks.command()
def wait(
    task: TaskRef,
    url: Url = None,
    timeout: Annotated[
        timedelta | None,
        typer.Option(parser=duration, metavar="DURATION", help="Give up after this long: 90s, 5m."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Wait for a task to end and print its result. Exit code 7 if it failed, 124 after the timeout."""

    async def run(queue: ServerQueue) -> TaskDocument:
        found = await find(queue, task)
        ended = await queue.wait_for(found.id, timeout.total_seconds() if timeout else None)
        if as_json:
            from pgjobs.cli.json_output import shown

            print_document(await shown(queue, found.id))
        return ended

    ended = with_queue(url, run)
    if not ended.is_ended:
        say(f"Task {ended.id} is still {ended.status}.")
        raise typer.Exit(TIMED_OUT)
    if ended.status != "completed":
        reason = first_line(ended.error or ended.reason) or "no reason given"
        say(f"Task {ended.id} is {ended.status}: {cell(reason)}")
        raise typer.Exit(AWAITED_FAILED)
    if not as_json:
        import json

        typer.echo(json.dumps(ended.result, ensure_ascii=False))


for _act in (why, log, steps, retry, cancel, ignore, unignore, resubmit, signal, prune):
    tasks.command()(_act)


def _print(task: TaskDocument, attempts: list[Attempt]) -> None:
    print_pairs((name, getattr(task, name)) for name in _SHOWN)
    for attempt in attempts:
        ended = f"{attempt.status} {cell(attempt.ended_at)} {first_line(attempt.error or attempt.reason)}"
        print_pairs([(f"attempt {attempt.attempt}", ended)])
