"""How far a run has come, on stderr: a bar on a terminal, a line for each scenario elsewhere."""

from __future__ import annotations

import sys
import time

from benchmarks.scenario import Scenario

_WIDTH = 28


class Progress:
    """Weighs scenarios by the minutes they say they take at full size."""

    def __init__(self, scenarios: list[Scenario], is_full: bool) -> None:
        self._left = sum(scenario.minutes for scenario in scenarios)
        self._total = self._left or 1.0
        self._is_full = is_full
        self._started = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._current: Scenario | None = None
        self._began = self._started

    def begin(self, scenario: Scenario) -> None:
        self._current, self._began = scenario, time.monotonic()
        self._show("")

    def tick(self, name: str, value: float) -> None:
        self._show(f"{name} {value:,.2f}")

    def end(self, says: str) -> None:
        assert self._current is not None
        self._left -= self._current.minutes
        line = f"{self._current.name:<12} {says} ({time.monotonic() - self._began:.0f} s)"
        print(f"\r\033[K{line}" if self._is_terminal else line, file=sys.stderr, flush=True)

    def _show(self, what: str) -> None:
        if not self._is_terminal or self._current is None:
            return
        done = 1 - self._left / self._total
        bar = "█" * round(done * _WIDTH)
        passed = (time.monotonic() - self._started) / 60
        about = f" of about {self._total:.0f}" if self._is_full else ""
        text = f"{bar:░<{_WIDTH}} {passed:4.1f}{about} min  {self._current.name}  {what}"
        print(f"\r\033[K{text[:118]}", end="", file=sys.stderr, flush=True)
