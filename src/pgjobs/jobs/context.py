"""A task as its handler sees it while it runs."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol
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


class LogKeeper(Protocol):
    """Who keeps log lines with their tasks."""

    level: int

    def add(self, task: TaskContext, level: int, message: str) -> None: ...

    async def flush(self, tasks: list[TaskContext]) -> None: ...


class TaskLog(logging.LoggerAdapter[logging.Logger]):
    """The logger of a task: its lines go where the program's logging says, and are kept with the task."""

    def __init__(self, task: TaskContext) -> None:
        super().__init__(log, {"task_id": task.id, "job": task.row["job"], "attempt": task.attempt})
        self._task = task

    def log(self, level: int, msg: object, *args: Any, **kwargs: Any) -> None:
        keeper = self._task.log_keeper
        if keeper is not None and level >= keeper.level:
            keeper.add(self._task, level, _text(msg, args, kwargs.get("exc_info")))
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        super().log(level, msg, *args, **kwargs)


def _text(msg: object, args: tuple[Any, ...], exc_info: Any) -> str:
    # As logging formats: one mapping is for names, and what cannot be formatted is said as it is.
    try:
        text = (
            str(msg) % (args[0] if len(args) == 1 and isinstance(args[0], Mapping) else args)
            if args
            else str(msg)
        )
    except Exception:
        text = f"{msg!s} {args!r}"
    if not exc_info:
        return text
    told = (
        traceback.format_exception(exc_info)
        if isinstance(exc_info, BaseException)
        else [traceback.format_exc()]
    )
    return f"{text}\n{''.join(told).rstrip()}"


class TaskContext(DurableTask):
    """One attempt at one task: what it is about, and what its handler may ask and say."""

    __slots__ = (
        "_runner",
        "deadline",
        "id",
        "interruption",
        "is_settled",
        "job",
        "log_keeper",
        "loop",
        "queue",
        "result",
        "row",
        "token",
    )

    def __init__(
        self,
        row: Mapping[str, Any],
        job: Any,
        queue: Queue,
        deadline: float,
        log_keeper: LogKeeper | None = None,
    ) -> None:
        self.row = row
        self.id: int = row["task_id"]
        self.token: UUID = row["token"]
        self.job = job
        self.queue = queue
        self.deadline = deadline
        self.log_keeper = log_keeper
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
    def log(self) -> TaskLog:
        """A logger whose records carry the task's id, job and attempt, and are kept with the task."""
        return TaskLog(self)

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
                await self._flush_log()
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

    async def _flush_log(self) -> None:
        """Before the lease is given up, without which no line is taken."""
        if self.log_keeper is not None:
            await self.log_keeper.flush([self])

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


def running_task() -> TaskContext | None:
    """The task being run here, if this is inside of a handler."""
    return _current.get()


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
