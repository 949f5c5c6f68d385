"""Where answers of providers are kept; hosts may bring their own place."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Annotated, Any, Protocol

from fastapi import Depends

from pgjobs.queue.server import ServerQueue
from pgjobs.server.dependencies import QueueDep, WaitersDep
from pgjobs.server.long_poll import Waiters

POLL_SECONDS = 0.2


class ResultBackend(Protocol):
    """Keeps bytes under keys for a while, and knows which questions were passed on."""

    async def store(self, key: str, data: bytes, ttl: int) -> None: ...

    async def get(self, key: str) -> bytes | None: ...

    async def delete(self, key: str) -> None: ...

    async def acquire_inflight(self, key: str, ttl: int) -> bool: ...

    async def release_inflight(self, key: str) -> None: ...

    async def wait_for_key(self, key: str, timeout: float) -> bytes | None: ...

    async def notify_key(self, key: str) -> None: ...


class QueueResultBackend:
    """Keeps them in the queue's own database."""

    def __init__(self, queue: ServerQueue, waiters: Waiters) -> None:
        self._queue = queue
        self._waiters = waiters

    async def store(self, key: str, data: bytes, ttl: int) -> None:
        await self._queue.store_read(key, data, timedelta(seconds=ttl))

    async def get(self, key: str) -> bytes | None:
        return (await self._queue.get_reads([key])).get(key)

    async def delete(self, key: str) -> None:
        await self._queue.forget_read(key)

    async def acquire_inflight(self, key: str, ttl: int) -> bool:
        return await self._queue.lock_read(key, timedelta(seconds=ttl))

    async def release_inflight(self, key: str) -> None:
        await self._queue.unlock_read(key)

    async def wait_for_key(self, key: str, timeout: float) -> bytes | None:
        """The data once it is there; also ends, without, when the question was answered by an error."""
        await self._waiters.read_stored([key, error_key(key)], timeout)
        return await self.get(key)

    async def notify_key(self, key: str) -> None:
        """Storing tells already."""


def error_key(key: str) -> str:
    return f"{key}:error"


async def get_result_backend(queue: QueueDep, waiters: WaitersDep) -> ResultBackend:
    """Where answers are kept; hosts may override this."""
    return QueueResultBackend(queue, waiters)


async def wait_for_answer(backend: ResultBackend, key: str, timeout: float) -> bytes | None:
    """Waits on backends that can, and asks those that cannot now and then."""
    wait: Any = getattr(backend, "wait_for_key", None)
    if wait is not None:
        data: bytes | None = await wait(key, timeout)
        return data
    deadline = time.monotonic() + timeout
    while (data := await backend.get(key)) is None and time.monotonic() < deadline:
        if await backend.get(error_key(key)) is not None:
            return None
        await asyncio.sleep(POLL_SECONDS)
    return data


async def notify(backend: ResultBackend, key: str) -> None:
    tell: Any = getattr(backend, "notify_key", None)
    if tell is not None:
        await tell(key)


BackendDep = Annotated[ResultBackend, Depends(get_result_backend)]
