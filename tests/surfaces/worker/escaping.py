"""A handler for a process of its own, which raises what it is told to."""

from __future__ import annotations

import asyncio
import builtins


def leave(number: int, escape: str) -> int:
    if number == 0:
        raise getattr(builtins, escape, asyncio.CancelledError)
    return number
