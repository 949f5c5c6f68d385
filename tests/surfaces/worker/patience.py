"""Short leases, and waiting for what they bring about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

QUICK: dict[str, Any] = {
    "lease": timedelta(seconds=1),
    "heartbeat": timedelta(seconds=0.2),
    "grace": timedelta(seconds=5),
}


async def until(condition: Callable[[], Awaitable[bool] | bool], timeout: float = 30) -> None:
    async with asyncio.timeout(timeout):
        while True:
            met = condition()
            if met if isinstance(met, bool) else await met:
                return
            await asyncio.sleep(0.01)


async def has_status(handle: Any, status: str) -> bool:
    return bool(await handle.status() == status)
