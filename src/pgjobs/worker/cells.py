"""One process that works for several cells: a `Worker` for each, and none waits for another."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import asyncpg

from pgjobs.drivers.transient import TRANSIENT
from pgjobs.errors import InvalidArgument, PgJobsError
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.queue import Queue
from pgjobs.worker.worker import Worker

log = logging.getLogger("pgjobs.worker")

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_REFUSALS = (PgJobsError, asyncpg.PostgresError, *TRANSIENT)


class CellsWorker:
    """Runs the tasks of `jobs` from several databases, by name. `await worker.run()` as with `Worker`.

    Each cell has a worker of its own: its claims, heartbeats, notifications and room for
    `concurrency` tasks. So a cell that is away or full stops no other. What a handler submits
    goes to the cell its task is from. `options` are those of `Worker`.
    """

    def __init__(
        self, queues: Mapping[str, Queue], jobs: Jobs, *, processes: int | None = None, **options: Any
    ) -> None:
        if not queues:
            raise InvalidArgument("A worker needs at least one cell")
        self.stopped_by: signal.Signals | None = None
        self._queues = dict(queues)
        self._jobs = jobs
        # Cores are not multiplied by cells.
        self._processes = max(1, (processes or os.cpu_count() or 1) // len(queues))
        self._options = options
        self._stopped = asyncio.Event()
        self._refused: dict[str, Exception] = {}
        self.workers = {cell: self._worker(queue) for cell, queue in self._queues.items()}
        jobs.use_cells()

    @property
    def running(self) -> int:
        """How many tasks are in their handlers now, of all cells."""
        return sum(worker.running for worker in self.workers.values())

    @property
    def ended(self) -> int:
        """How many tasks the workers of all cells have acknowledged, released or lost."""
        return sum(worker.ended for worker in self.workers.values())

    def stop(self) -> None:
        """Begins a graceful end in every cell."""
        self._stopped.set()
        for worker in self.workers.values():
            worker.stop()

    async def run(self, *, signals: bool = False) -> None:
        """Runs until stopped; raises only if no cell at all can be served."""
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self._signalled, number)
        try:
            async with asyncio.TaskGroup() as cells:
                for cell, queue in self._queues.items():
                    cells.create_task(self._serve(cell, queue), name=f"pgjobs worker of {cell}")
        except* _NoCell as none:
            raise next(iter(self._refused.values())) from none

    async def _serve(self, cell: str, queue: Queue) -> None:
        pause = _FIRST_PAUSE
        while not self._stopped.is_set():
            try:
                await self.workers[cell].run()
            except _REFUSALS as error:
                log.warning("cell %s cannot be served: %s: %s", cell, type(error).__name__, error)
                self._refused[cell] = error
                if len(self._refused) == len(self._queues) and not self._has_served:
                    raise _NoCell from error
            else:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopped.wait()
            pause = min(pause * 2, _LONGEST_PAUSE)
            self.workers[cell] = self._worker(queue)

    def _worker(self, queue: Queue) -> Worker:
        return Worker(queue, self._jobs, processes=self._processes, **self._options)

    @property
    def _has_served(self) -> bool:
        return any(worker.id is not None for worker in self.workers.values())

    def _signalled(self, number: signal.Signals) -> None:
        self.stopped_by = self.stopped_by or number
        self._stopped.set()
        for worker in self.workers.values():
            worker.signalled(number)


class _NoCell(Exception):
    """Every cell has refused, before any was served."""
