"""Upkeep in the background: every so often, step by step, whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from pgjobs.errors import WorkerNotFound
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Retirement
from pgjobs.upkeep.steps import catch_up, sweep_once


class SweeperSettings(Protocol):
    """How often to sweep, how long a worker may be silent and an `@internal` task may take.

    None: as long as the database says.
    """

    @property
    def sweeper_interval_seconds(self) -> float: ...

    @property
    def worker_timeout(self) -> timedelta | None: ...

    @property
    def internal_timeout(self) -> timedelta | None: ...


async def run_sweeper(queue: Queue, settings: SweeperSettings, *, tsio: object = None) -> None:  # noqa: ARG001
    """Sweeps until cancelled. Safe to run in every process.

    `tsio` may be named as hosts are used to; events follow from the database by themselves.
    """
    is_behind = False
    while True:
        rest = asyncio.sleep(settings.sweeper_interval_seconds)
        if is_behind:
            await asyncio.gather(rest, catch_up(queue, settings.sweeper_interval_seconds))
        else:
            await rest
        is_behind = await sweep_once(
            queue, worker_timeout=settings.worker_timeout, internal_timeout=settings.internal_timeout
        )


async def cleanup_worker(
    queue: Queue, worker_id: UUID, *, connection_id: UUID | None = None
) -> Retirement | None:
    """Removes a worker whose connection is lost; None if somebody did so before."""
    with suppress(WorkerNotFound):
        return await queue.retire_worker(worker_id, connection_id=connection_id)
    return None
