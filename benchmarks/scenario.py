"""What a scenario is: something measured in turns, and the bars its numbers must reach."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.database import Bench


@dataclass(frozen=True)
class Bar:
    """One promise: `ours` ÷ `against`, or the value of `ours` itself, and what it must reach.

    `at_most` for costs, else at least. `ours` and `against` name what was measured.
    """

    title: str
    ours: str
    against: str | None
    must: float | None
    """None where there is only an aim."""
    aim: float
    at_most: bool = False

    def value(self, medians: dict[str, float]) -> float | None:
        """None when one of the two was not measured."""
        if self.ours not in medians or (self.against is not None and self.against not in medians):
            return None
        return medians[self.ours] / (1 if self.against is None else medians[self.against])

    def says(self, value: float | None) -> str:
        if value is None:
            return "not measured"
        if self._holds(value, self.aim):
            return "aim"
        if self.must is None:
            return "short of the aim"
        return "must" if self._holds(value, self.must) else "missed"

    def _holds(self, value: float, bound: float) -> bool:
        return value <= bound if self.at_most else value >= bound


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    name: str
    rounds: int
    seconds: float
    """How long things run that run by time."""
    tasks: int
    """How many tasks are worked through in a turn of the SQL core."""
    backlog: int
    scheduled: int
    share: float
    """Of what a peer works through in a full turn."""
    pickups: int
    repeats: int
    """How often what operators wait for is asked; the 95th percentile counts."""
    idle: float
    """Seconds for which idle workers are watched."""


@dataclass
class Samples:
    """Measurements by what was measured, and what must be known to read them."""

    values: dict[str, list[float]] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    tick: Callable[[str, float], None] = lambda _name, _value: None

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)
        self.tick(name, value)

    def skip(self, name: str, why: str) -> None:
        """Leaves a contender out, with what it had measured: half a contest says nothing."""
        self.values.pop(name, None)
        self.skipped[name] = why

    def medians(self) -> dict[str, float]:
        return {name: statistics.median(values) for name, values in self.values.items()}


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    unit: str
    measure: Callable[[Bench, Scale, Samples], Awaitable[None]]
    bars: tuple[Bar, ...] = ()
    minutes: float = 1.0
    """About how long it takes at full size, for the progress bar."""
    is_contest: bool = False
    """Whether peers take part."""
