"""`@internal` jobs: which ones this server runs, and running them."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI
from starlette.requests import Request

from pgjobs.errors import InternalJobNotConfigured
from pgjobs.models import Lease
from pgjobs.queue import Queue

log = logging.getLogger("pgjobs.internal")

Handler = Callable[[Any, str, UUID], Awaitable[Any]]
"""Runs a task: payload, room, task id. What it returns is the result."""
Executor = Callable[[str, Any, str, UUID], Awaitable[Any]]
"""Passes a task on elsewhere: job, payload, room, task id. Whoever gets it ends it."""

PREFIX = "@internal:"
HEARTBEAT_SECONDS = 15.0
POLL_SECONDS = 5.0


@dataclass
class InternalJobs:
    """The `@internal` jobs of one server; a worker of its own claims their tasks."""

    handlers: dict[str, Handler] = field(default_factory=dict)
    schemas: dict[str, Any] = field(default_factory=dict)
    executor: Executor | None = None
    concurrency: int = 4

    async def require(self, queue: Queue, job_name: str, room_id: str) -> None:
        """Refuses an `@internal` job that neither this server nor any worker runs."""
        if not job_name.startswith(PREFIX) or job_name in self.handlers:
            return
        job = await queue.get_job(job_name, room=room_id)
        # Workers that came over HTTP have an owner, and are never handed these tasks.
        here = {
            worker.id for worker in await queue.list_workers(job.room, page_size=500) if worker.owner is None
        }
        if here.isdisjoint(job.workers):
            raise InternalJobNotConfigured(f"Internal job {job_name} has no executor")

    async def run(self, queue: Queue) -> None:
        """Registers the jobs and serves them until cancelled."""
        for job in self.handlers:
            await queue.register_job(
                *job.split(":", 2), schema=self.schemas[job], replace_schema=True, events="full"
            )
        worker = await queue.register_worker("server", jobs=list(self.handlers))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_heartbeat(queue, worker.id))
                for _ in range(self.concurrency):
                    group.create_task(self._serve(queue, worker.id))
        finally:
            with suppress(Exception):
                await queue.retire_worker(worker.id)

    async def _serve(self, queue: Queue, worker_id: UUID) -> None:
        woken = asyncio.Event()
        stop = await queue.driver.listen("wake", lambda _: woken.set())
        try:
            while True:
                woken.clear()
                try:
                    await queue.mark_waiting(worker_id)
                    leases = await queue.claim_tasks(worker_id, start=self.executor is None)
                    for lease in leases:
                        await self._run_one(queue, lease)
                except Exception:
                    log.exception("cannot claim @internal tasks")
                    leases = []
                if not leases:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await woken.wait()
        finally:
            stop()

    async def _run_one(self, queue: Queue, lease: Lease) -> None:
        task_id = (await queue.get_task(lease.task_id)).uuid
        try:
            if self.executor is not None:
                await self.executor(lease.job, lease.payload, lease.room, task_id)
                return
            result = await self.handlers[lease.job](lease.payload, lease.room, task_id)
        except Exception as error:
            log.exception("@internal task %s failed", task_id)
            message = "Failed to dispatch to internal executor" if self.executor else str(error)
            await queue.fail_task(lease, message or type(error).__name__)
        else:
            await queue.complete_task(lease, result)


def register_internal(
    app: FastAPI, jobs: Mapping[str, Any], *, executor: Executor | None = None, concurrency: int = 4
) -> InternalJobs:
    """Declares the `@internal` jobs of an application, as `category:name` or in full.

    Each comes with its handler, or with a class that has `model_json_schema` and `run`.
    They are registered and served while the application runs. With an `executor`
    tasks are handed to it instead.
    """
    internal = InternalJobs(executor=executor, concurrency=concurrency)
    for name, job in jobs.items():
        full_name = name if name.startswith(PREFIX) else PREFIX + name
        is_model = inspect.isclass(job) and hasattr(job, "model_json_schema")
        internal.handlers[full_name] = _handler_of_model(job) if is_model else job
        internal.schemas[full_name] = job.model_json_schema() if is_model else {}
    app.state.pgjobs_internal = internal
    return internal


async def get_internal(request: Request) -> InternalJobs:
    internal: InternalJobs | None = getattr(request.app.state, "pgjobs_internal", None)
    return internal or InternalJobs()


InternalDep = Annotated[InternalJobs, Depends(get_internal)]


def _handler_of_model(model: Any) -> Handler:
    async def handle(payload: Any, _room: str, _task_id: UUID) -> Any:
        outcome = await asyncio.to_thread(model(**payload).run)
        return await outcome if inspect.isawaitable(outcome) else outcome

    return handle


async def _heartbeat(queue: Queue, worker_id: UUID) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        try:
            await queue.heartbeat_worker(worker_id)
        except Exception:
            log.exception("cannot send a heartbeat")
