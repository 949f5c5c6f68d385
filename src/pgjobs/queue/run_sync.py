"""Coroutines without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Drives a coroutine that never really waits to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: Result = end.value
        return value
    coroutine.close()
    raise RuntimeError("this queue's driver needs an event loop")
