"""ManagerWorker: runs a handler for the jobs of a queue until it is told to stop."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pgjobs.contrib.manager.jobs import JobManager
from pgjobs.drivers.transient import TRANSIENT
from pgjobs.errors import DatabaseUnavailable, InvalidArgument, LeaseLost, PgJobsError
from pgjobs.queue.records import GenericJob, Json

log = logging.getLogger("pgjobs.manager")

Handler = Callable[[GenericJob], Awaitable[Json] | Json]


class ManagerWorker:
    """Acquires the jobs of a domain and queue, also of types that come later, and runs `handler` for each.

    Leases are renewed while handlers run. A handler whose job is to be cancelled, or belongs to
    somebody else by now, is cancelled. An exception fails the job: its attributes `retryable`,
    `backoff_seconds` and `error_code` are honoured. A handler that is no coroutine runs in a thread.
    After `stop()` nothing is acquired; what runs has `grace_seconds`, then it is given back.
    """

    def __init__(
        self,
        jm: JobManager,
        domain: str,
        queue: str,
        handler: Handler,
        *,
        worker_id: str | None = None,
        concurrency: int | None = None,
        lease_seconds: float = 60,
        poll_seconds: float = 2,
        grace_seconds: float = 30,
        job_type: str | None = None,
        owner_user_id: str | int | None = None,
    ) -> None:
        self.jm = jm
        self.domain, self.queue, self.handler = domain, queue, handler
        self.worker_id = worker_id or f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._concurrency = jm.settings.max_concurrency if concurrency is None else concurrency
        if self._concurrency < 1 or min(lease_seconds, poll_seconds) <= 0 or grace_seconds < 0:
            raise InvalidArgument("concurrency must be at least 1, lease_seconds and poll_seconds above 0")
        self._lease, self._poll, self._grace = lease_seconds, poll_seconds, grace_seconds
        self._filter: dict[str, Any] = {"job_type": job_type, "owner_user_id": owner_user_id}
        self._running: dict[asyncio.Task[None], GenericJob] = {}
        self._stopped = asyncio.Event()
        self._moved = asyncio.Event()
        self.ended = 0

    def stop(self) -> None:
        """Begins a graceful end."""
        self._stopped.set()
        self._moved.set()

    async def run(self) -> None:
        """Runs until stopped."""
        heartbeat = asyncio.create_task(self._renew())
        try:
            while not self._stopped.is_set():
                if not await self._acquire():
                    await self._pause()
        finally:
            await self._finish()
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)

    async def run_until_empty(self) -> int:
        """Runs what is due now, then ends; how many jobs it ended."""
        heartbeat = asyncio.create_task(self._renew())
        try:
            while await self._acquire() or self._running:
                if self._running:
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            return self.ended
        finally:
            await self._finish()
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)

    async def _acquire(self) -> int:
        free = self._concurrency - len(self._running)
        if free < 1:
            return 0
        try:
            jobs = await self.jm.acquire_next_jobs(
                self.domain, self.queue, self._lease, self.worker_id, limit=free, **self._filter
            )
        except (*TRANSIENT, DatabaseUnavailable) as error:
            log.warning("the database is away: %s", error)
            return 0
        for job in jobs:
            task = asyncio.create_task(self._work(job))
            self._running[task] = job
            task.add_done_callback(self._left)
        return len(jobs)

    def _left(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._moved.set()

    async def _pause(self) -> None:
        self._moved.clear()
        if not self._stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), self._poll)

    async def _work(self, job: GenericJob) -> None:
        held = {"worker_id": self.worker_id, "lease_id": job.lease_id or ""}
        try:
            try:
                result = await self._called(job)
            except asyncio.CancelledError:
                await self._give_up(job)
                return
            except Exception as error:
                log.info("job %d failed: %s", job.id, error)
                await self.jm.fail_job(
                    job.id,
                    **held,
                    error=error,
                    retryable=bool(getattr(error, "retryable", True)),
                    backoff_seconds=getattr(error, "backoff_seconds", None),
                    error_code=getattr(error, "error_code", None),
                )
            else:
                await self.jm.complete_job(job.id, **held, result=result)
            self.ended += 1
        except LeaseLost:
            log.warning("job %d was lost: whoever has it now repeats it", job.id)
        except (PgJobsError, *TRANSIENT):
            log.exception("job %d could not be acknowledged; its lease lapses", job.id)

    async def _called(self, job: GenericJob) -> Json:
        if inspect.iscoroutinefunction(self.handler):
            result: Any = await self.handler(job)
            return result
        return await asyncio.to_thread(self.handler, job)

    async def _give_up(self, job: GenericJob) -> None:
        """Of a handler that was cancelled: a job that is to be cancelled ends so, any other is given back."""
        with suppress(LeaseLost):
            await self.jm.release_job(job.id, self.worker_id, job.lease_id or "")
            self.ended += 1

    async def _renew(self) -> None:
        every = min(self.jm.settings.heartbeat(self._lease), self._lease / 2)
        while True:
            await asyncio.sleep(every)
            tasks = {job.id: task for task, job in self._running.items()}
            leases = [(job.id, job.lease_id or "") for job in self._running.values()]
            if not leases:
                continue
            try:
                outcomes = await self.jm.renew_job_leases(self.worker_id, leases, self._lease)
            except (PgJobsError, *TRANSIENT) as error:
                log.warning("leases could not be renewed: %s", error)
                continue
            for outcome in outcomes:
                if (outcome.problem is not None or outcome.cancel_requested) and outcome.id in tasks:
                    tasks[outcome.id].cancel()

    async def _finish(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=self._grace)
        left = list(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
