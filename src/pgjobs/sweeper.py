"""Upkeep in the background: every so often, step by step, whatever happens."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from pgjobs.errors import WorkerNotFound
from pgjobs.models import Retirement
from pgjobs.queue import Queue

log = logging.getLogger("pgjobs.sweeper")

STEPS = ("leases", "workers", "internal", "scheduled", "reads", "rollups", "errors", "retention")


class SweeperSettings(Protocol):
    """How often to sweep, and how long a worker may be silent: None, as long as the database says."""

    @property
    def sweeper_interval_seconds(self) -> float: ...

    @property
    def worker_timeout(self) -> timedelta | None: ...


async def run_sweeper(queue: Queue, settings: SweeperSettings, *, tsio: object = None) -> None:  # noqa: ARG001
    """Sweeps until cancelled. Safe to run in every process.

    `tsio` may be named as hosts are used to; events follow from the database by themselves.
    """
    while True:
        await asyncio.sleep(settings.sweeper_interval_seconds)
        await sweep_once(queue, worker_timeout=settings.worker_timeout)


async def sweep_once(queue: Queue, *, worker_timeout: timedelta | None = None) -> None:
    """One pass, each step in a transaction of its own; a step that fails is logged."""
    for step in STEPS:
        try:
            for swept in await queue.sweep(step, worker_timeout=worker_timeout):
                if swept.error is not None:
                    log.error("sweeping %s failed: %s", swept.swept, swept.error)
        except Exception:
            log.exception("sweeping %s failed", step)


async def cleanup_worker(
    queue: Queue, worker_id: UUID, *, silent_for: timedelta | None = None
) -> Retirement | None:
    """Takes a worker away whose connection is lost; None if somebody did so before."""
    with suppress(WorkerNotFound):
        return await queue.retire_worker(worker_id, silent_for=silent_for)
    return None
