"""`pgjobs workflows`: tasks submitted together."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import AsJson, Limit, first_line, print_pairs, print_table, say
from pgjobs.cli.selectors import RoomFilter

if TYPE_CHECKING:
    from pgjobs.queue.records import Workflow
    from pgjobs.queue.server import ServerQueue

workflows = typer.Typer(
    help="List, inspect, cancel and retry workflows.", no_args_is_help=True, rich_markup_mode=None
)

Number: TypeAlias = Annotated[int, typer.Argument(help="The workflow's number.")]
Reason: TypeAlias = Annotated[str | None, typer.Option(help="Why; kept with its tasks.")]
_SHOWN = (
    "id", "uuid", "name", "room", "status", "tasks", "running", "completed", "failed", "cancelled", "held",
    "created_at", "ended_at", "submitter",
)  # fmt: skip


@workflows.command("list")
def list_all(
    *,
    url: Url = None,
    room: RoomFilter = None,
    name: Annotated[str | None, typer.Option(help="Only workflows of this name.")] = None,
    before: Annotated[
        int | None, typer.Option(help="Only workflows with a smaller number: the next page.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List workflows, newest first."""
    found = with_queue(
        url, lambda queue: queue.list_workflows(room, name=name, before=before, page_size=limit)
    )
    if as_json:
        _print_json([{name: getattr(each, name) for name in _SHOWN} for each in found])
        return
    print_table(
        ("id", "name", "room", "status", "ended", "tasks", "created"),
        ((w.id, w.name, w.room, w.status, _ended(w), w.tasks, w.created_at) for w in found),
    )
    if len(found) == limit:
        say(f"There may be more: --before {found[-1].id}")


@workflows.command()
def show(workflow: Number, url: Url = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Show a workflow with its tasks; as JSON with its graph."""

    async def run(queue: ServerQueue) -> None:
        if as_json:
            _print_json(await queue.get_workflow_graph(workflow))
            return
        found = await queue.get_workflow(workflow)
        print_pairs((name, getattr(found, name)) for name in _SHOWN)
        tasks = await queue.list_workflow_tasks(workflow, page_size=limit)
        say("")
        print_table(
            ("task", "name", "job", "status", "phase", "error"),
            ((t.task_id, t.name, t.job, t.status, t.phase, first_line(t.error or t.reason)) for t in tasks),
        )

    with_queue(url, run)


@workflows.command()
def cancel(
    workflow: Number,
    url: Url = None,
    reason: Reason = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also take running tasks from their workers.")
    ] = False,
) -> None:
    """Cancel what has not ended of a workflow."""
    found = with_queue(url, lambda queue: queue.cancel_workflow(workflow, reason=reason, force=force))
    _say_status(found)


@workflows.command()
def retry(workflow: Number, url: Url = None, reason: Reason = None) -> None:
    """Start over what failed, and what was cancelled because of it."""
    _say_status(with_queue(url, lambda queue: queue.retry_workflow(workflow, reason=reason)))


def _say_status(found: Workflow) -> None:
    say(f"Workflow {found.id} is {found.status}: {_ended(found)} of {found.tasks} tasks have ended.")


def _ended(found: Workflow) -> int:
    return found.completed + found.failed + found.cancelled


def _print_json(document: Any) -> None:
    import json

    typer.echo(json.dumps(document, ensure_ascii=False, default=_text))


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
