"""Requests of a page, held back until a test lets them go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def holding_back(page: Any, pattern: str) -> Iterator[list[Any]]:
    """Whatever is asked for in the block goes unanswered, and on its way afterwards."""
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route(pattern, hold)
    yield held
    for route in held:
        route.continue_()
    page.unroute(pattern, hold)
