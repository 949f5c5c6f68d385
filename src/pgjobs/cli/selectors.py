"""Which tasks a command is about: by number, by public id, or by filters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias
from uuid import UUID

import typer

if TYPE_CHECKING:
    from pgjobs.queue.records import Task, TaskDocument
    from pgjobs.queue.server import ServerQueue

_PAGE = 500


class Status(StrEnum):
    """What a task's status may be."""

    pending = "pending"
    claimed = "claimed"
    running = "running"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"
    ignored = "ignored"


class Reference:
    """A task as named on the command line."""

    def __init__(self, text: str) -> None:
        try:
            self.key: int | UUID = int(text) if text.isdecimal() else UUID(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is neither a number nor a UUID") from None


def complete_job(incomplete: str) -> list[str]:
    """Addresses for the shell; silence where there is no database to ask."""
    from pgjobs.cli.database import with_queue

    try:
        jobs = with_queue(None, lambda queue: queue.list_jobs(page_size=_PAGE))
    except Exception:
        # Inside somebody's prompt nothing may be said.
        return []
    return [job.full_name for job in jobs if job.full_name.startswith(incomplete)]


def complete_schedule(incomplete: str) -> list[str]:
    """The same for schedules."""
    from pgjobs.cli.database import with_queue

    try:
        schedules = with_queue(None, lambda queue: queue.list_schedules(page_size=_PAGE))
    except Exception:
        return []
    return [schedule.full_name for schedule in schedules if schedule.full_name.startswith(incomplete)]


TaskRef: TypeAlias = Annotated[
    Reference, typer.Argument(parser=Reference, metavar="TASK", help="Number or public id of the task.")
]
TaskRefs: TypeAlias = Annotated[
    list[Reference] | None,
    typer.Argument(parser=Reference, metavar="[TASK]...", help="Numbers or public ids of tasks."),
]
RoomFilter: TypeAlias = Annotated[
    str | None, typer.Option("--room", help="Only tasks submitted from this room.")
]
JobFilter: TypeAlias = Annotated[
    str | None, typer.Option("--job", help="Only tasks of this job.", autocompletion=complete_job)
]
StatusFilter: TypeAlias = Annotated[
    Status | None, typer.Option("--status", help="Only tasks of this status.")
]
OwnerFilter: TypeAlias = Annotated[str | None, typer.Option("--owner", help="Only this owner's tasks.")]
ProjectFilter: TypeAlias = Annotated[str | None, typer.Option("--project", help="Only this project's tasks.")]


async def find(queue: ServerQueue, task: Reference) -> TaskDocument:
    if isinstance(task.key, int):
        return await queue.get_task(task.key)
    return await queue.get_task(task_uuid=task.key)


async def matching(queue: ServerQueue, **filters: Any) -> AsyncIterator[list[Task]]:
    """Every task that fits, a page at a time, newest first."""
    before: int | None = None
    while page := await queue.list_tasks(**filters, before=before, page_size=_PAGE):
        yield page
        before = page[-1].id
