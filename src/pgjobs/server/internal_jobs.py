"""Handlers of `@internal` jobs as a worker runs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from pgjobs.jobs.context import Blocked, TaskContext
from pgjobs.jobs.jobs import Jobs
from pgjobs.jobs.signatures import Signature
from pgjobs.jobs.typed import Policy, TypedJob
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Json, Registration

Handler = Callable[[Any, str, UUID], Awaitable[Any]]
"""Runs a task: payload, room, task id. What it returns is the result."""


class InternalJob(TypedJob[..., Any]):
    """A job of the server, with the schema it was declared with; its policy is the operators'."""

    def __init__(self, jobs: Jobs, address: str, handler: Handler, schema: Json) -> None:
        room, category, name = address.split(":", 2)
        run = _run_by(handler)
        super().__init__(
            jobs, run, _AnyPayload(run),
            room=room, category=category, name=name, mode="async",
            concurrency=None, timeout=None, permanent=(), policy=Policy(),
        )  # fmt: skip
        self._schema = schema

    async def register(self, queue: Queue) -> Registration:
        return await queue.register_job(
            self.room, self.category, self.name, schema=self._schema, replace_schema=True, events="full"
        )


class _AnyPayload(Signature):
    """The handler is given the payload as it is."""

    def arguments(self, payload: Json) -> dict[str, Any]:
        return {}


class _Failed(Blocked):
    """Told without a trace: whoever may read the task reads this."""

    def __init__(self, error: Exception) -> None:
        kind: Any = type(error).__name__
        super().__init__(str(error) or kind, kind=kind)


def _run_by(handler: Handler) -> Callable[[TaskContext], Awaitable[Any]]:
    async def run(task: TaskContext) -> Any:
        task_id = (await task.queue.get_task(task.id)).uuid
        try:
            return await handler(task.payload, task.room, task_id)
        except Exception as error:
            task.log.exception("@internal task %s failed", task_id)
            raise _Failed(error) from error

    return run
