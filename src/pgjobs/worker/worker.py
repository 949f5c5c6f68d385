"""Worker: the parts put together, from registering to a graceful end."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any, Self
from uuid import UUID

import asyncpg

from pgjobs.drivers import Driver
from pgjobs.drivers.transient import TRANSIENT, is_away
from pgjobs.errors import DatabaseUnavailable, InvalidArgument, JobUnavailable, PgJobsError, WorkerNotFound
from pgjobs.jobs.context import TaskContext
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.queue import Queue
from pgjobs.upkeep.schedules import run_schedules
from pgjobs.upkeep.steps import catch_up, sweep_at_once
from pgjobs.worker.acknowledger import Acknowledger
from pgjobs.worker.calls import call_for
from pgjobs.worker.fetcher import Fetcher
from pgjobs.worker.heartbeat import Keeper
from pgjobs.worker.log_lines import LogLines, kept_from
from pgjobs.worker.processes import ProcessPool
from pgjobs.worker.runner import Runner
from pgjobs.worker.spans import spans

log = logging.getLogger("pgjobs.worker")

_NO_WAIT = timedelta(0)


class Worker:
    """Runs the tasks of `jobs`. `await worker.run()` until `worker.stop()` or a signal.

    After `stop`, what has not started is released and what runs has `grace` to
    finish; then it is cancelled and released too. Neither uses up an attempt. What handlers
    write with `task.log` is kept with their tasks from the level `keep_log` on; "off" keeps nothing.
    """

    def __init__(
        self,
        queue: Queue,
        jobs: Jobs,
        *,
        concurrency: int = 32,
        processes: int | None = None,
        prefetch: int | None = None,
        lease: timedelta = timedelta(seconds=30),
        heartbeat: timedelta = timedelta(seconds=20),
        poll: timedelta = timedelta(seconds=8),
        grace: timedelta = timedelta(seconds=30),
        sweep: timedelta | None = timedelta(seconds=30),
        name: str | None = None,
        durable_claims: bool = False,
        keep_log: str = "info",
    ) -> None:
        if concurrency < 1 or (prefetch is not None and prefetch < 0):
            raise InvalidArgument("concurrency must be at least 1 and prefetch not negative")
        if min(lease, heartbeat, poll) <= _NO_WAIT or grace < _NO_WAIT:
            raise InvalidArgument("lease, heartbeat and poll must be longer than zero, grace not negative")
        self.queue = queue
        self.jobs = jobs
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.id: UUID | None = None
        self.stopped_by: signal.Signals | None = None
        self._lease, self._heartbeat, self._grace, self._sweep = lease, heartbeat, grace, sweep
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="pgjobs-task")
        self._processes = ProcessPool(processes or os.cpu_count() or 1)
        self._held: dict[int, TaskContext] = {}
        level = kept_from(keep_log) if queue.driver.dialect != "sqlite" else None
        self._log_lines = LogLines(queue, level) if level is not None else None
        self._acknowledger = Acknowledger(queue, self._held, self._returned, self._log_lines)
        self._runner = Runner(concurrency, self._acknowledger, self._freed)
        self._fetcher = Fetcher(
            queue, self._runner, self._acknowledger, self._held,
            concurrency=concurrency, prefetch=prefetch, lease=lease, poll=poll,
            durable=durable_claims, log_lines=self._log_lines,
        )  # fmt: skip
        self._keeper: Keeper | None = None
        self._stopped = asyncio.Event()
        self._hurried = asyncio.Event()
        self._background: list[asyncio.Task[None]] = []

    @property
    def running(self) -> int:
        """How many tasks are in their handlers now."""
        return len(self._runner.active)

    @property
    def ended(self) -> int:
        """How many tasks it has acknowledged, released or lost."""
        return self._acknowledger.settled

    def stop(self) -> None:
        """Begins a graceful end."""
        self._stopped.set()

    def signalled(self, number: signal.Signals) -> None:
        """A signal came: the first begins a graceful end, another hurries it."""
        self.stopped_by = self.stopped_by or number
        (self._hurried if self._stopped.is_set() else self._stopped).set()

    async def run(self, *, signals: bool = False) -> None:
        """Runs until stopped; with `signals`, SIGTERM and SIGINT stop it, and a second one hurries it."""
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self.signalled, number)
        try:
            await self.start()
        except (*TRANSIENT, DatabaseUnavailable):
            if not self._stopped.is_set():
                raise
            await self._leave()
            log.info("worker %s has stopped before the database could be reached", self.name)
            return
        try:
            await self._stopped.wait()
        finally:
            await self.close()

    async def run_until_empty(self) -> int:
        """Runs everything that is due now, then ends; how many tasks it ended. For tests and batch jobs.

        Nobody renews leases meanwhile: choose one that outlasts the longest task.
        """
        await self._register()
        acknowledging = asyncio.create_task(self._acknowledger.run())
        try:
            await self._fetcher.run_until_empty()
            return self.ended
        finally:
            acknowledging.cancel()
            await self._leave()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        await self._join()
        assert self.id is not None
        self._loop = asyncio.get_running_loop()
        self._stop_listening = await self.queue.driver.listen("wake", self._fetcher.woken)
        self._keeper = Keeper(
            self._twin, self._held,
            lease=self._lease, heartbeat=self._heartbeat, forgotten=self._returned,
        )  # fmt: skip
        self._keeper.start(self.id)
        self._background = [
            asyncio.create_task(self._for_ever("claiming", self._fetch)),
            asyncio.create_task(self._for_ever("acknowledging", self._acknowledger.run)),
        ]
        if self._log_lines is not None:
            self._background.append(
                asyncio.create_task(self._for_ever("keeping log lines", self._log_lines.run))
            )
        if self._sweep is not None:
            self._background.append(asyncio.create_task(self._for_ever("sweeping", self._sweep_on)))
            if self.queue.driver.dialect != "sqlite":
                self._background.append(
                    asyncio.create_task(self._for_ever("running schedules", self._run_schedules))
                )
        log.info("worker %s serves %d jobs", self.name, len(self.jobs.registered))

    async def close(self) -> None:
        """The graceful end: no new tasks, release, wait, cancel, say goodbye."""
        self._stopped.set()
        patience = self._lease.total_seconds()
        self._stop_listening()
        self._fetcher.stop()
        # A claim in flight is waited for, or its tasks would be held by nobody until their leases end.
        await asyncio.wait(self._background[:1], timeout=patience)
        for task in self._runner.give_back():
            self._acknowledger.release(task)
        await self._finish_running()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._acknowledger.flushed()
        for background in self._background:
            background.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        if self._keeper is not None:
            await self._keeper.stop()
        await self._leave()
        log.info("worker %s has stopped", self.name)

    async def _finish_running(self) -> None:
        waits = [asyncio.create_task(wait) for wait in (self._runner.finished(), self._hurried.wait())]
        await asyncio.wait(waits, timeout=self._grace.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        for task in list(self._runner.active):
            task.interrupt("stopping")
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self._runner.finished()
        # Threads that would not listen: whatever they do from now on, others may do too.
        for task in list(self._runner.active):
            log.warning("task %s continues after its worker has stopped", task.id)
            self._acknowledger.release(task)

    async def _join(self) -> None:
        """Registers, and waits for the database as long as there is none to write to."""
        pause = 0.1
        while True:
            try:
                return await self._register_unless_stopped()
            except TRANSIENT as error:
                if self._stopped.is_set() or not is_away(error):
                    raise
                log.warning("waiting for the database: %s: %s", type(error).__name__, error)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.5, 1.5)):  # noqa: S311
                    await self._stopped.wait()
            pause = min(pause * 2, 5.0)

    async def _register_unless_stopped(self) -> None:
        """Connecting may take as long as the network likes, and who stops a worker does not wait for that."""
        registering = asyncio.create_task(self._register())
        stopping = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait((registering, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not (await asyncio.wait((registering,), timeout=1))[0]:
                raise DatabaseUnavailable("Stopped before the database could be reached")
            registering.result()
        finally:
            registering.cancel()
            stopping.cancel()

    async def _register(self) -> None:
        """Registers jobs and schedules, to be kept whether anybody serves them or not, and this worker."""
        served = {}
        middleware = [*spans(), *self.jobs.middleware]
        for job in self.jobs.registered.values():
            job_id = (await job.register(self.queue)).job_id
            served[job_id] = job
            self._runner.calls[job_id] = call_for(job, self._threads, self._processes, middleware)
        for schedule in self.jobs.schedules.values():
            try:
                await schedule.register(self.queue)
            except JobUnavailable as error:
                # One archived job is no reason to leave the others undone.
                log.warning("schedule %s is left as it was: %s", schedule.name, error)
        worker = await self.queue.register_worker(self.name, jobs=[str(job_id) for job_id in served])
        self.id = worker.id
        self._fetcher.serve(worker, served)
        if self._keeper is not None:
            self._keeper.worker_id = worker.id

    async def _leave(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._processes.close()
        with suppress(PgJobsError, asyncpg.PostgresError, *TRANSIENT):
            async with asyncio.timeout(5):
                await self._fetcher.forget_mark()
                if self.id is not None and not self._held:
                    await self.queue.retire_worker(self.id)

    async def _fetch(self) -> None:
        try:
            await self._fetcher.run()
        except WorkerNotFound:
            log.warning("worker %s was taken for dead; registering again", self.name)
            await self._register()

    async def _sweep_on(self) -> None:
        assert self._sweep is not None
        is_behind = False
        while True:
            pause = self._sweep.total_seconds() * random.uniform(0.8, 1.2)  # noqa: S311
            rest = asyncio.sleep(pause)
            await (asyncio.gather(rest, catch_up(self.queue, pause)) if is_behind else rest)
            is_behind = await sweep_at_once(self.queue)

    async def _run_schedules(self) -> None:
        await run_schedules(self.queue)

    async def _for_ever(self, what: str, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Keeps a loop going through whatever happens to the database, until the worker stops."""
        pause = 0.1
        while not self._stopped.is_set():
            started = time.monotonic()
            try:
                await loop()
                continue
            except Exception as error:
                log.warning("%s: %s: %s", what, type(error).__name__, error)
            pause = 0.1 if time.monotonic() - started > 10 else min(pause * 2, 5.0)
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311

    def _freed(self, task: TaskContext) -> None:
        self._fetcher.freed(task)

    def _returned(self) -> None:
        """Tasks went back, or the database forgot this worker: the next claim finds out."""
        self._fetcher.look_again()

    async def _twin(self) -> Driver:
        return await self.queue.driver.twin(self._loop)
