"""`@internal` jobs: which ones this server runs, and running them."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI
from starlette.requests import Request

from pgjobs.errors import InternalJobNotConfigured, InvalidArgument
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.server import ServerQueue
from pgjobs.server.dispatching import Executor, dispatch
from pgjobs.server.internal_jobs import Handler, InternalJob
from pgjobs.worker import Worker

log = logging.getLogger("pgjobs.internal")

PREFIX = "@internal:"
PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
GRACE = timedelta(seconds=5)


@dataclass
class InternalJobs:
    """The `@internal` jobs of one server; a worker of its own claims their tasks."""

    handlers: dict[str, Handler] = field(default_factory=dict)
    schemas: dict[str, Any] = field(default_factory=dict)
    executor: Executor | None = None
    concurrency: int = 4

    async def require(self, queue: ServerQueue, job_name: str, room_id: str) -> None:
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

    async def run(self, queue: ServerQueue) -> None:
        """Registers the jobs and serves them until cancelled, whatever happens to the database."""
        pause = PAUSE_SECONDS / 2
        while True:
            started = time.monotonic()
            try:
                await self._serve(queue)
            except Exception:
                log.exception("cannot serve @internal jobs, trying again")
            has_served = time.monotonic() - started > LONGEST_PAUSE_SECONDS
            pause = PAUSE_SECONDS if has_served else min(pause * 2, LONGEST_PAUSE_SECONDS)
            await asyncio.sleep(pause)

    async def _serve(self, queue: ServerQueue) -> None:
        jobs = Jobs(queue)
        for address, handler in self.handlers.items():
            jobs.add(InternalJob(jobs, address, handler, self.schemas[address]))
        if self.executor is not None:
            await dispatch(queue, jobs, self.executor, concurrency=self.concurrency)
        else:
            # Upkeep is the server's, beside this.
            worker = Worker(
                queue, jobs, concurrency=self.concurrency, prefetch=0, grace=GRACE, sweep=None, name="server"
            )
            await worker.run()


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
        if full_name.count(":") < 2:
            raise InvalidArgument(f"Invalid job name format: {name}", hint="Write category:name.")
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
