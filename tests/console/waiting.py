"""Waiting for something in a page, from outside: its policy allows nothing in it to evaluate texts."""

from __future__ import annotations

from typing import Any

from tests.surfaces.processes import wait_until


def wait_in(page: Any, expression: str, argument: Any = None) -> None:
    wait_until(lambda: page.evaluate(expression, argument))
