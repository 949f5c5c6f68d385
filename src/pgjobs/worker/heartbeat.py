"""Keeps a worker and its leases alive, from a thread and a connection of its own.

A handler that blocks the event loop must not cost the worker its leases, and a
worker that cannot reach the database must stop by itself before others begin.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.errors import WorkerNotFound
from pgjobs.jobs.context import Interruption, TaskContext
from pgjobs.queue.queue import Queue

log = logging.getLogger("pgjobs.worker")


class Keeper:
    """Sends heartbeats and renews leases; interrupts tasks that were cancelled or whose lease is over."""

    def __init__(
        self,
        open_driver: Callable[[], Awaitable[Driver]],
        held: dict[int, TaskContext],
        *,
        lease: timedelta,
        heartbeat: timedelta,
        forgotten: Callable[[], None],
    ) -> None:
        self.worker_id: UUID | None = None
        self._open_driver = open_driver
        self._held = held
        self._lease = lease
        self._heartbeat = heartbeat.total_seconds()
        self._renewal = min(self._heartbeat, lease.total_seconds() / 4)
        self._forgotten = forgotten
        self._main = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._wake: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="pgjobs heartbeat", daemon=True)

    def start(self, worker_id: UUID) -> None:
        self.worker_id = worker_id
        self._thread.start()

    async def stop(self) -> None:
        self._stopping.set()
        self._wake()
        await asyncio.to_thread(self._thread.join, 5)

    def _run(self) -> None:
        asyncio.run(self._keep())

    async def _keep(self) -> None:
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(woken.set)
        driver: Driver | None = None
        beaten_at = float("-inf")
        while not self._stopping.is_set():
            pause = self._renewal * random.uniform(0.8, 1.0)  # noqa: S311
            try:
                async with asyncio.timeout(max(self._renewal, 1.0)):
                    driver = driver or await self._open_driver()
                    if time.monotonic() - beaten_at >= self._heartbeat * 0.9:
                        beaten_at = time.monotonic()
                        await self._beat(Queue(driver))
                    await self._renew(Queue(driver))
            except WorkerNotFound:
                self._main.call_soon_threadsafe(self._forgotten)
            except Exception as error:
                log.warning("heartbeat: %s: %s", type(error).__name__, error)
                beaten_at = float("-inf")
                pause = min(pause, 1.0)
            self._fence()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await woken.wait()
        if driver is not None:
            with suppress(Exception):
                async with asyncio.timeout(2):
                    await driver.close()

    async def _beat(self, queue: Queue) -> None:
        assert self.worker_id is not None
        await queue.heartbeat_worker(self.worker_id, clock=datetime.now(UTC))

    async def _renew(self, queue: Queue) -> None:
        """Renews leases that have used up a quarter of their time; fresh ones end by themselves first."""
        started = time.monotonic()
        due = started + self._lease.total_seconds() * 0.75
        tasks = [task for task in list(self._held.values()) if task.deadline < due]
        for start in range(0, len(tasks), 1000):
            batch = tasks[start : start + 1000]
            renewed = await queue.renew_tasks([(task.id, task.token) for task in batch], self._lease)
            for task, answer in zip(batch, renewed, strict=True):
                if answer.problem is not None:
                    self._interrupt(task, "lost")
                    continue
                task.deadline = started + self._lease.total_seconds()
                if answer.cancel_requested:
                    self._interrupt(task, "cancelled")

    def _fence(self) -> None:
        """Gives up tasks whose lease is over as far as this machine's clock can tell."""
        now = time.monotonic()
        for task in list(self._held.values()):
            if task.deadline < now:
                self._interrupt(task, "lost")

    def _interrupt(self, task: TaskContext, why: Interruption) -> None:
        # The flag first: a handler in a thread may see it while the event loop is blocked.
        if self._held.get(task.id) is task and task.interruption is None:
            task.interruption = why
            log.warning("task %s: %s", task.id, why)
            with suppress(RuntimeError):
                self._main.call_soon_threadsafe(task.interrupt, why)
