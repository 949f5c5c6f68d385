"""Upkeep in the background: every so often, step by step, whatever happens."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from pgjobs.errors import WorkerNotFound
from pgjobs.models import Retirement
from pgjobs.queue import Queue

log = logging.getLogger("pgjobs.sweeper")

BATCH = 1000
"""How much a step takes in hand at once."""
STEPS = (
    "leases",
    "workers",
    "internal",
    "schedules",
    "scheduled",
    "reads",
    "rollups",
    "errors",
    "retention",
    "storage",
)


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


async def sweep_once(
    queue: Queue, *, worker_timeout: timedelta | None = None, internal_timeout: timedelta | None = None
) -> bool:
    """One pass, each step in a transaction of its own; tells whether retention has more to do."""
    changed = {step: await _sweep(queue, step, worker_timeout, internal_timeout) for step in STEPS}
    return changed["retention"] >= BATCH


async def _sweep(
    queue: Queue,
    step: str,
    worker_timeout: timedelta | None = None,
    internal_timeout: timedelta | None = None,
) -> int:
    """One step; one that fails is logged."""
    changed = 0
    try:
        for swept in await queue.sweep(
            step, batch=BATCH, worker_timeout=worker_timeout, internal_timeout=internal_timeout
        ):
            changed += swept.changed
            if swept.error is not None:
                log.error("sweeping %s failed: %s", swept.swept, swept.error)
    except Exception:
        log.exception("sweeping %s failed", step)
    return changed


async def catch_up(queue: Queue, seconds: float) -> int:
    """Goes on with retention while the sweeper rests, a tenth of the time: workers come first.

    Tells how many tasks went, or events, if there were more.
    """
    over = time.monotonic() + seconds
    removed = 0
    while True:
        started = time.monotonic()
        changed = await _sweep(queue, "retention")
        removed += changed
        rest = 9 * (time.monotonic() - started)
        if changed < BATCH or time.monotonic() + rest >= over:
            return removed
        await asyncio.sleep(rest)


async def cleanup_worker(
    queue: Queue, worker_id: UUID, *, silent_for: timedelta | None = None
) -> Retirement | None:
    """Takes a worker away whose connection is lost; None if somebody did so before."""
    with suppress(WorkerNotFound):
        return await queue.retire_worker(worker_id, silent_for=silent_for)
    return None
