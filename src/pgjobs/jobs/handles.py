"""What a submitter holds: a submitted task, its progress and its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pgjobs.errors import PgJobsError
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Json, Status, Task, TaskDocument

R = TypeVar("R")


class TaskFailed(PgJobsError):
    """The task whose result was awaited has failed; `task` tells how."""

    def __init__(self, task: TaskDocument) -> None:
        super().__init__(f"Task {task.id} of {task.job} failed: {task.error}")
        self.task = task


class TaskCancelled(PgJobsError):
    """The task whose result was awaited was cancelled; `task` tells why."""

    def __init__(self, task: TaskDocument) -> None:
        super().__init__(f"Task {task.id} of {task.job} was cancelled: {task.reason or 'no reason given'}")
        self.task = task


class TaskHandle(Generic[R]):
    """A submitted task. `is_new` is false when an earlier one was found, or, by its `outcome`, replaced."""

    def __init__(
        self,
        queue: Queue,
        task_id: int,
        *,
        is_new: bool,
        decode: Callable[[Json], Any],
        outcome: str | None = None,
    ) -> None:
        self.queue = queue
        self.id = task_id
        self.is_new = is_new
        self.outcome = outcome or ("new" if is_new else "found")
        self._decode = decode

    def __repr__(self) -> str:
        return f"<TaskHandle {self.id}>"

    async def result(self, timeout: float | None = None) -> R:
        """What the handler returned, once it has; raises TaskFailed, TaskCancelled or TimeoutError."""
        task = await self.queue.wait_for(self.id, timeout)
        if task.status == "completed":
            value: R = self._decode(task.result)
            return value
        if task.status == "failed":
            raise TaskFailed(task)
        if task.status == "cancelled":
            raise TaskCancelled(task)
        raise TimeoutError(f"Task {self.id} is still {task.status}")

    async def get(self) -> TaskDocument:
        return await self.queue.get_task(self.id)

    async def status(self) -> Status:
        return (await self.get()).status

    async def progress(self) -> Json:
        """What the running handler last reported."""
        return (await self.get()).progress

    async def cancel(self, reason: str | None = None, *, force: bool = False) -> Task:
        return await self.queue.cancel_task(self.id, reason=reason, force=force)
