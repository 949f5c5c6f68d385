"""Workflows: tasks of several jobs with edges, submitted in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from pgjobs.errors import InvalidArgument, JobNotFound
from pgjobs.queue.flow import SubmittedWorkflow
from pgjobs.queue.records import Workflow as WorkflowRecord

if TYPE_CHECKING:
    from pgjobs.jobs.jobs import Jobs
    from pgjobs.jobs.typed import TypedJob
    from pgjobs.queue.queue import Queue

R = TypeVar("R")
_PAGE = 500


class WorkflowTask(Generic[R]):
    """A task of a workflow that is being written: others may run after it."""

    def __init__(self, name: str, job: TypedJob[..., R]) -> None:
        self.name = name
        self.job = job

    def __repr__(self) -> str:
        return f"<task {self.name} of {self.job.address}>"


class Workflow:
    """Tasks to be submitted together. Each may run after earlier ones only, so there are no cycles."""

    def __init__(self, jobs: Jobs, name: str) -> None:
        self.name = name
        self._jobs = jobs
        self._tasks: dict[str, WorkflowTask[Any]] = {}
        self._entries: list[dict[str, Any]] = []

    def add(
        self,
        job: TypedJob[..., R],
        *args: Any,
        after: WorkflowTask[Any] | int | Iterable[WorkflowTask[Any] | int] = (),
        on_failure: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> WorkflowTask[R]:
        """Adds a task with these arguments. Without a name it has its job's, numbered from the second on.

        `after`: tasks of this workflow, or numbers of existing ones. `on_failure`, when one of those does not
        complete: cancel (as without it), run or hold.
        """
        task = WorkflowTask(name or self._free_name(job.name), job)
        if task.name in self._tasks:
            raise InvalidArgument(f"Two tasks of workflow {self.name} are called {task.name}")
        parents = [after] if isinstance(after, (WorkflowTask, int)) else list(after)
        strangers = [
            each
            for each in parents
            if isinstance(each, WorkflowTask) and self._tasks.get(each.name) is not each
        ]
        if strangers:
            raise InvalidArgument(f"{strangers[0]!r} is no earlier task of workflow {self.name}")
        entry = {
            "name": task.name,
            "job": job.address,
            "payload": job.signature.payload(args, kwargs),
            "after": [each.name if isinstance(each, WorkflowTask) else each for each in parents],
            "on_failure": on_failure,
            "priority": job.options.priority,
            "max_attempts": job.options.max_attempts,
        }
        self._entries.append({key: value for key, value in entry.items() if value not in (None, [])})
        self._tasks[task.name] = task
        return task

    async def submit(
        self, queue: Queue | None = None, *, connection: Any = None, **options: Any
    ) -> WorkflowHandle:
        """Submits all of it, in one transaction or in that of `connection`. Options: room, owner, …"""
        queue = queue or await self._jobs.queue()
        submitting = queue if connection is None else queue.bound_to(connection)
        jobs = {task.job.address: task.job for task in self._tasks.values()}.values()
        for job in jobs:
            await self._jobs.ensure_registered(job)
        try:
            submitted = await submitting.submit_workflow(self.name, self._entries, **options)
        except JobNotFound:
            if connection is not None:
                raise
            # Retired by an operator, or another queue than the program's own.
            for job in jobs:
                await job.register(queue)
            submitted = await submitting.submit_workflow(self.name, self._entries, **options)
        return WorkflowHandle(queue, submitted, self._tasks, self._sinks())

    def _sinks(self) -> list[str]:
        parents = {name for entry in self._entries for name in entry.get("after", ())}
        return [name for name in self._tasks if name not in parents]

    def _free_name(self, base: str) -> str:
        name, number = base, 1
        while name in self._tasks:
            number += 1
            name = f"{base}-{number}"
        return name


class WorkflowHandle:
    """A submitted workflow. `status` and `results` are as of the last `refresh` or `wait`."""

    def __init__(
        self,
        queue: Queue,
        submitted: SubmittedWorkflow,
        tasks: Mapping[str, WorkflowTask[Any]],
        sinks: list[str],
    ) -> None:
        self.queue = queue
        self.id: int = submitted.id
        self.uuid: UUID = submitted.uuid
        self.tasks = submitted.tasks
        self.status = "pending"
        self.results: dict[str, Any] = {}
        self._tasks = dict(tasks)
        self._sinks = sinks

    def __repr__(self) -> str:
        return f"<WorkflowHandle {self.id} {self.status}>"

    async def wait(self, timeout: float | None = None) -> str:
        """Its status once all of its tasks have ended; raises TimeoutError when the time is over before."""
        async with asyncio.timeout(timeout):
            for name in [*self._sinks, *self.tasks]:
                while not (await self.queue.wait_for(self.tasks[name])).is_ended:
                    pass
                if name in self._sinks[:-1]:
                    continue
                if (await self.refresh()).ended_at is not None:
                    break
        return self.status

    async def refresh(self) -> WorkflowRecord:
        """Reads status and results."""
        workflow = await self.queue.get_workflow(self.id)
        after = None
        while True:
            page = await self.queue.list_workflow_tasks(self.id, after=after, page_size=_PAGE)
            for task in page:
                if task.status == "completed":
                    self.results[task.name] = self._tasks[task.name].job.signature.result(task.result)
            if len(page) < _PAGE:
                break
            after = page[-1].task_id
        self.status = workflow.status
        return workflow

    async def cancel(self, reason: str | None = None, *, force: bool = False) -> WorkflowRecord:
        return await self.queue.cancel_workflow(self.id, reason=reason, force=force)

    async def retry(self, reason: str | None = None) -> WorkflowRecord:
        """Starts what failed over, and what was cancelled because of it."""
        return await self.queue.retry_workflow(self.id, reason=reason)
