"""How many tasks to claim ahead of those that run."""

from __future__ import annotations

import time

from pgjobs.worker.runner import Runner

LARGEST_CLAIM = 500
_HORIZON = 0.25
"""Seconds of work to hold in the buffer: enough to hide a round trip, little enough to leave to others."""


class Prefetch:
    """A number that is given, or as many tasks as have recently ended in a quarter of a second."""

    def __init__(self, runner: Runner, prefetch: int | None) -> None:
        self.is_given = prefetch is not None
        self._prefetch = prefetch
        self._runner = runner
        self._rate = 0.0
        self._measured = (time.monotonic(), 0)

    def ahead(self) -> int:
        if self._prefetch is not None:
            return self._prefetch
        now, ended = time.monotonic(), self._runner.ended
        since, before = self._measured
        if now - since > 0.02:
            rate = (ended - before) / (now - since)
            self._rate = max(rate, self._rate * 0.7 + rate * 0.3)
            self._measured = (now, ended)
        return min(2 * LARGEST_CLAIM, int(self._rate * _HORIZON))

    def slow_down(self) -> None:
        """What was measured no longer holds: the tasks have become longer."""
        self._rate = 0.0
