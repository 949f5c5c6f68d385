"""Upkeep step by step: whatever fails is logged, and retention that falls behind catches up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from datetime import timedelta

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import SweepResult

log = logging.getLogger("pgjobs.sweeper")

BATCH = 1000
"""How much a step works on at once."""
STEPS = (
    "leases",
    "workers",
    "internal",
    "schedules",
    "scheduled",
    "waits",
    "sharing",
    "reads",
    "rollups",
    "errors",
    "retention",
    "storage",
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
    try:
        swept = await queue.sweep(
            step, batch=BATCH, worker_timeout=worker_timeout, internal_timeout=internal_timeout
        )
    except Exception:
        log.exception("sweeping %s failed", step)
        return 0
    log_failures(swept)
    return sum(each.changed for each in swept)


async def sweep_at_once(queue: Queue) -> bool:
    """One pass in one call, for those who are many; tells whether retention has more to do."""
    swept = await queue.sweep(batch=BATCH)
    log_failures(swept)
    return any(each.swept == "retention" and each.changed >= BATCH for each in swept)


def log_failures(swept: Iterable[SweepResult]) -> None:
    for each in swept:
        if each.error is not None:
            log.error("sweeping %s failed: %s", each.swept, each.error)


async def catch_up(queue: Queue, seconds: float) -> int:
    """Continues with retention while the sweeper rests, a tenth of the time: workers come first.

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
