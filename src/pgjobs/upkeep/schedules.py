"""Schedules of a program: declared beside its jobs, and run when they are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import ScheduleRegistration

log = logging.getLogger("pgjobs.schedule")

LONGEST_PAUSE = 300.0
"""Whoever registers a schedule tells all who wait; if the word is lost, sweeps look too."""
SHORTEST_PAUSE = 0.02
AFTER_AN_ERROR = 5.0


@dataclass(frozen=True, kw_only=True)
class DeclaredSchedule:
    """When a job of the program runs by itself; None leaves it to the database."""

    name: str
    job: str
    cron: str | None = None
    every: timedelta | None = None
    timezone: str | None = None
    payload: Any = None
    room: str | None = None
    priority: int | None = None
    max_attempts: int | None = None
    missed: str | None = None
    overlap: bool | None = None
    owner: str | None = None
    project: str | None = None
    tags: Sequence[str] | None = None

    async def register(self, queue: Queue) -> ScheduleRegistration:
        return await queue.register_schedule(**asdict(self))


async def run_schedules(queue: Queue) -> None:
    """Runs schedules when they are due, until cancelled. Safe to run in every process."""
    woken = asyncio.Event()
    stop = await queue.driver.listen("schedules", lambda _: woken.set())
    try:
        while True:
            woken.clear()
            pause = await _fire(queue)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await woken.wait()
    finally:
        stop()


async def _fire(queue: Queue) -> float:
    """Runs what is due; how long there is nothing to do then."""
    try:
        fired = await queue.fire_schedules()
    except Exception as error:
        log.warning("running schedules: %s: %s", type(error).__name__, error)
        return AFTER_AN_ERROR
    if fired.due_in is None:
        return LONGEST_PAUSE
    return min(max(fired.due_in.total_seconds(), SHORTEST_PAUSE), LONGEST_PAUSE)
