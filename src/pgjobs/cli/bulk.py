"""`pgjobs tasks retry|cancel|ignore|unignore`: on named tasks, or on all that fit some filters."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.exit_codes import REFUSED, code_of, sentence
from pgjobs.cli.output import AsJson, print_document, print_table, progress, say
from pgjobs.cli.selectors import (
    JobFilter,
    OwnerFilter,
    ProjectFilter,
    Reference,
    RoomFilter,
    Status,
    TaskRefs,
    find,
    matching,
)
from pgjobs.errors import Conflict, InvalidTransition, NotFound, TaskNotFound

if TYPE_CHECKING:
    from pgjobs.queue.records import BulkResult, Task
    from pgjobs.queue.server import ServerQueue

Act: TypeAlias = "Callable[[ServerQueue, list[int]], Awaitable[list[BulkResult]]]"

Reason: TypeAlias = Annotated[str | None, typer.Option("--reason", help="Why, for the audit trail.")]
DryRun: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Only list what would change.")]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

_PAGE = 500
Problems: TypeAlias = "list[Conflict | NotFound]"


def _status(default: Status) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option("--status", help=f"With filters; {default} if left out.")
    return option


@dataclass
class Choice:
    """Which tasks to act on: those named, else those that fit the filters."""

    named: list[Reference] | None
    filters: dict[str, str | None]
    status: Status
    is_status_given: bool = False
    chosen: list[Task] = field(default_factory=list)

    def __post_init__(self) -> None:
        is_filtered = self.is_status_given or any(self.filters.values())
        if bool(self.named) == is_filtered:
            raise typer.BadParameter("name some tasks, or give at least one filter", param_hint="TASK")

    async def look(self, queue: ServerQueue) -> None:
        if self.named:
            self.chosen = [await find(queue, task) for task in self.named]
        else:
            async for page in matching(queue, **self.filters, status=self.status.value):
                self.chosen += page


@dataclass(frozen=True)
class BulkAction:
    """A bulk action: one verb for all selected tasks."""

    verb: str
    choice: Choice
    act: Act
    is_dry: bool
    is_confirmed: bool
    as_json: bool

    def go(self, url: str | None) -> None:
        done, problems = with_queue(url, self._talk)
        if not self.as_json:
            print_table(("id", "job", "status"), ((task.id, task.job, task.status) for task in done))
        if self.is_dry:
            say(f"{self.verb} would change {_quantity(done)}; nothing was changed.")
            return
        for problem in problems[:10]:
            say(f"pgjobs: {sentence(problem)}")
        refused = f", refused for {len(problems)}" if problems else ""
        say(f"{self.verb}: done for {_quantity(done)}{refused}.")
        if problems:
            raise typer.Exit(code_of(problems[0]) if len(problems) == 1 else REFUSED)

    async def _talk(self, queue: ServerQueue) -> tuple[list[Task], Problems]:
        await self.choice.look(queue)
        done = self.choice.chosen
        problems: Problems = []
        if not self.is_dry:
            if not self.choice.named:
                self._ask()
            done, problems = await self._act_on_all(queue)
        if self.as_json:
            await self._print_json(queue, done)
        return done, problems

    def _ask(self) -> None:
        """Says how many there are, and asks where somebody can answer."""
        chosen = self.choice.chosen
        for job, quantity in Counter(task.job for task in chosen).most_common(10):
            say(f"{quantity:>8}  {job}")
        if chosen and not self.is_confirmed:
            confirm(f"{self.verb} {_quantity(chosen)}?")

    async def _act_on_all(self, queue: ServerQueue) -> tuple[list[Task], Problems]:
        """A page at a time: one that has moved on meanwhile does not hold up the others."""
        done: list[Task] = []
        problems: Problems = []
        chosen = self.choice.chosen
        with progress(self.verb, len(chosen)) as bar:
            for start in range(0, len(chosen), _PAGE):
                page = chosen[start : start + _PAGE]
                for task, answer in zip(page, await self.act(queue, [task.id for task in page]), strict=True):
                    if answer.problem is None:
                        done.append(replace(task, status=answer.status or task.status))
                    else:
                        problems.append(self._problem(answer))
                    bar.advance()
        return done, problems

    def _problem(self, answer: BulkResult) -> Conflict | NotFound:
        if answer.status is None:
            return TaskNotFound(f"Task {answer.task_id} does not exist")
        return InvalidTransition(
            f"Cannot {self.verb.lower()} a task that is {answer.status}",
            detail=f"Task {answer.task_id} is {answer.status}.",
        )

    async def _print_json(self, queue: ServerQueue, done: list[Task]) -> None:
        from pgjobs.cli.json_output import shown, shown_page

        if done and len(self.choice.named or ()) == 1:
            print_document(await shown(queue, done[0].id))
        else:
            print_document(await shown_page(queue, done, len(done) + 1))


def confirm(question: str) -> None:
    """Asks, and ends the command unless the answer is yes; without a terminal nobody can answer."""
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{question} Add --yes, or preview with --dry-run", param_hint="--yes")
    typer.confirm(question, abort=True, err=True)


def _quantity(tasks: list[Task]) -> str:
    return "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"


def retry(
    task: TaskRefs = None,
    *,
    url: Url = None,
    room: RoomFilter = None,
    job: JobFilter = None,
    status: Annotated[Status | None, _status(Status.failed)] = None,
    owner: OwnerFilter = None,
    project: ProjectFilter = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Retry tasks: due now, with all attempts again."""
    choice = Choice(
        task,
        {"room": room, "job": job, "owner": owner, "project": project},
        status or Status.failed,
        status is not None,
    )

    async def act(queue: ServerQueue, tasks: list[int]) -> list[BulkResult]:
        return await queue.retry_tasks(tasks, actor=operator(), reason=reason)

    BulkAction("Retry", choice, act, dry_run, yes, as_json).go(url)


def cancel(
    task: TaskRefs = None,
    *,
    url: Url = None,
    room: RoomFilter = None,
    job: JobFilter = None,
    status: Annotated[Status | None, _status(Status.pending)] = None,
    owner: OwnerFilter = None,
    project: ProjectFilter = None,
    reason: Reason = None,
    force: Annotated[
        bool, typer.Option("--force", help="End running tasks now, without waiting for their worker.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Cancel tasks. Pending ones end now, running ones stop at their worker's next heartbeat."""
    choice = Choice(
        task,
        {"room": room, "job": job, "owner": owner, "project": project},
        status or Status.pending,
        status is not None,
    )

    async def act(queue: ServerQueue, tasks: list[int]) -> list[BulkResult]:
        return await queue.cancel_tasks(tasks, actor=operator(), reason=reason, force=force)

    BulkAction("Cancel", choice, act, dry_run, yes, as_json).go(url)


def ignore(
    task: TaskRefs = None,
    *,
    url: Url = None,
    room: RoomFilter = None,
    job: JobFilter = None,
    status: Annotated[Status | None, _status(Status.failed)] = None,
    owner: OwnerFilter = None,
    project: ProjectFilter = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Ignore tasks until somebody retries or unignores them."""
    choice = Choice(
        task,
        {"room": room, "job": job, "owner": owner, "project": project},
        status or Status.failed,
        status is not None,
    )

    async def act(queue: ServerQueue, tasks: list[int]) -> list[BulkResult]:
        return await queue.ignore_tasks(tasks, actor=operator(), reason=reason)

    BulkAction("Ignore", choice, act, dry_run, yes, as_json).go(url)


def unignore(
    task: TaskRefs = None,
    *,
    url: Url = None,
    room: RoomFilter = None,
    job: JobFilter = None,
    owner: OwnerFilter = None,
    project: ProjectFilter = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Stop ignoring tasks: they return to the queue."""
    choice = Choice(task, {"room": room, "job": job, "owner": owner, "project": project}, Status.ignored)

    async def act(queue: ServerQueue, tasks: list[int]) -> list[BulkResult]:
        return await queue.unignore_tasks(tasks, actor=operator(), reason=reason)

    BulkAction("Unignore", choice, act, dry_run, yes, as_json).go(url)
