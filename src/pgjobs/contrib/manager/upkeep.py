"""Upkeep by those who acquire: a program that has a manager and nothing else forgets old jobs too."""

from __future__ import annotations

import logging
import time

from pgjobs.errors import Forbidden
from pgjobs.queue.queue import Queue
from pgjobs.upkeep.steps import sweep_at_once

log = logging.getLogger("pgjobs.manager")

NEVER = float("inf")
BEHIND_SECONDS = 1.0
"""How soon to continue when retention has more to do than fits one pass."""


class Upkeep:
    """One bounded pass every so many seconds, by whoever comes first; with 0, none."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = 0.0 if seconds else NEVER

    async def if_due(self, queue: Queue) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        # Before, not after: threads may share a manager, and one of them is enough.
        self._due = now + self._seconds
        try:
            is_behind = await sweep_at_once(queue)
        except Forbidden:
            log.info("this login may not sweep, so others must: a worker, or pgjobs sweep")
            self._due = NEVER
        except Exception:
            log.exception("upkeep failed")
        else:
            if is_behind:
                self._due = now + min(BEHIND_SECONDS, self._seconds)
