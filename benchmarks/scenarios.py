"""Every scenario, in the order in which they are measured and shown."""

from __future__ import annotations

import importlib.util

from benchmarks import (
    before,
    claims,
    console,
    contests,
    core,
    flows,
    http_cycle,
    retention,
    sharing,
    single,
    wakeups,
)
from benchmarks.scenario import Bar, Samples, Scale, Scenario

__all__ = ["SCENARIOS", "Bar", "Samples", "Scale", "Scenario"]


def _views() -> list[Scenario]:
    """What lists and operator views cost, where `views.py` has such scenarios."""
    if importlib.util.find_spec("benchmarks.views") is None:
        return []
    return list(importlib.import_module("benchmarks.views").SCENARIOS)


SCENARIOS: list[Scenario] = [
    *contests.SCENARIOS,
    *core.SCENARIOS,
    *single.SCENARIOS,
    *claims.SCENARIOS,
    *sharing.SCENARIOS,
    *flows.SCENARIOS,
    *before.SCENARIOS,
    *wakeups.SCENARIOS,
    *http_cycle.SCENARIOS,
    *_views(),
    *console.SCENARIOS,
    *retention.SCENARIOS,
]
