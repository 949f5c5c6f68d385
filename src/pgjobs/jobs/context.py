"""A task as its handler sees it while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from pgjobs.errors import InvalidArgument, LeaseLost, PgJobsError, SchemaChanged
from pgjobs.jobs.durable import DurableTask
from pgjobs.queue.records import Json

if TYPE_CHECKING:
    from pgjobs.queue.queue import Queue

log = logging.getLogger("pgjobs.task")
_current: ContextVar[TaskContext | None] = ContextVar("pgjobs_task", default=None)

Interruption = Literal["lost", "cancelled", "timed out", "stopping"]


class Abort(PgJobsError):
    """Raised by a handler: the task has failed for good, no attempt left would help."""

    def __init__(self, message: str, *, kind: str = "aborted") -> None:
        super().__init__(message)
        self.kind = kind


class Blocked(PgJobsError):
    """Raised by a handler: credentials or configuration must be fixed first.

    The task is retried as after any error; until then it shows as blocked.
    """

    def __init__(self, message: str, *, kind: Literal["auth", "config"] = "config") -> None:
        super().__init__(message)
        self.kind = kind


class Snooze(PgJobsError):
    """Raised by a handler: not now, run me again after the delay. Uses up no attempt."""

    def __init__(self, delay: timedelta) -> None:
        super().__init__(f"snoozed for {delay}")
        self.delay = delay


class Interrupted(PgJobsError):
    """Raised by `raise_if_cancelled`: the work on this task should stop."""


class TaskContext(DurableTask):
    """One attempt at one task: what it is about, and what its handler may ask and say."""

    __slots__ = (
        "_runner",
        "deadline",
        "id",
        "interruption",
        "is_settled",
        "job",
        "loop",
        "queue",
        "result",
        "row",
        "token",
    )

    def __init__(self, row: Mapping[str, Any], job: Any, queue: Queue, deadline: float) -> None:
        self.row = row
        self.id: int = row["task_id"]
        self.token: UUID = row["token"]
        self.job = job
        self.queue = queue
        self.deadline = deadline
        self.interruption: Interruption | None = None
        self.is_settled = False
        self.is_suspended = False
        self.result: Json = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._runner: asyncio.Task[None] | None = None
        self._steps = None
        self._names = set()

    def __repr__(self) -> str:
        return f"<task {self.id} {self.row['job']} attempt {self.attempt}>"

    @property
    def payload(self) -> Json:
        return self.row["payload"]

    @property
    def room(self) -> str:
        return str(self.row["room"])

    @property
    def attempt(self) -> int:
        return int(self.row["attempt"])

    @property
    def max_attempts(self) -> int:
        return int(self.row["max_attempts"])

    @property
    def created_at(self) -> datetime:
        created_at: datetime = self.row["created_at"]
        return created_at

    @property
    def owner(self) -> str | None:
        owner: str | None = self.row["owner"]
        return owner

    @property
    def cancelled(self) -> bool:
        """Whether the work should stop: cancelled, timed out, lease lost or worker shutting down."""
        return self.interruption is not None

    def raise_if_cancelled(self) -> None:
        """For loops in synchronous handlers, which nobody else can stop."""
        if self.interruption is not None:
            raise Interrupted(f"task {self.id}: {self.interruption}")

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose records carry the task's id, job and attempt."""
        context = {"task_id": self.id, "job": self.row["job"], "attempt": self.attempt}
        return logging.LoggerAdapter(log, context)

    async def report(self, progress: Json) -> None:
        """Publishes progress. Raises `LeaseLost` when the task is no longer this worker's."""
        reported = (await self.queue.report_progress([(self.id, self.token)], [progress]))[0]
        if reported.problem is not None:
            self.interruption = "lost"
            raise LeaseLost(f"Task {self.id} is no longer held")
        if reported.cancel_requested:
            self.interrupt("cancelled")

    def report_sync(self, progress: Json) -> None:
        """The same from a synchronous handler."""
        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(self.report(progress), self.loop).result()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """A transaction that completes the task as it commits: both happen or neither does.

        Set `task.result` inside to keep a result. When the lease is lost, `LeaseLost`
        is raised at the end and everything is rolled back.
        """
        if self.is_settled:
            raise InvalidArgument(f"Task {self.id} was completed by an earlier transaction")
        try:
            async with self.queue.driver.transaction() as connection:
                yield connection
                document = None if self.result is None else self.job.signature.document(self.result)
                try:
                    await self.queue.bound_to(connection).complete_task((self.id, self.token), document)
                except LeaseLost:
                    # Not interrupt(): the cancellation would hit the rollback.
                    self.interruption = "lost"
                    raise
        except SchemaChanged as error:
            # Not the handler's doing, so it costs no attempt.
            raise Snooze(timedelta(0)) from error
        self.is_settled = True

    # for the worker

    def interrupt(self, why: Interruption) -> None:
        """Requests the handler's end, once, by asyncio cancellation if it waits. From the loop's thread."""
        if self.interruption is None or why == "lost":
            self.interruption = why
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.cancel()

    def entered(self, runner: asyncio.Task[None] | None) -> None:
        """The handler began to wait inside `runner`, or has ended."""
        self._runner = runner


def current_task() -> TaskContext:
    """The task being run here; raises LookupError outside of a handler."""
    task = _current.get()
    if task is None:
        raise LookupError("not inside a task's handler")
    return task


def set_current(task: TaskContext) -> None:
    _current.set(task)


class TaskContextFilter(logging.Filter):
    """Gives every log record `task_id`, `job` and `attempt` of the task it was written in."""

    def filter(self, record: logging.LogRecord) -> bool:
        task = _current.get()
        record.task_id = task.id if task else None
        record.job = task.row["job"] if task else None
        record.attempt = task.attempt if task else None
        return True
