"""Long polls: many wait, one listens, and nobody holds a database connection meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from pgjobs.queue.server import ServerQueue

log = logging.getLogger("pgjobs.rest")

LOOK_AGAIN_SECONDS = 1.0
SECOND_LOOK_SECONDS = 0.05
GATHER_SECONDS = 0.002

Check = Callable[[Sequence[str]], Awaitable[Iterable[str]]]


class Waitlist:
    """Futures by key. A notification or a check of the database ends the wait for a key.

    Who begins to wait is checked with all others that began meanwhile, and a moment
    later once more: what was committing during the first check is seen by the second.
    From then on one check a second for all is the safety net.
    """

    def __init__(self, queue: ServerQueue, channel: str, check: Check) -> None:
        self._queue = queue
        self._channel = channel
        self._check = check
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._new: set[str] = set()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.is_closed = False

    async def wait(self, keys: Sequence[str], timeout: float) -> bool:
        """Until one of the keys is there, or the time is over; tells which."""
        if self.is_closed:
            return False
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for key in keys:
            self._waiting.setdefault(key, set()).add(future)
        self._look_at(keys)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"pgjobs waiters for {self._channel}")
        try:
            done, _ = await asyncio.wait([future], timeout=timeout)
            return bool(done)
        finally:
            for key in keys:
                self._leave(key, future)

    def awaits(self, key: str) -> bool:
        return key in self._waiting

    async def close(self) -> None:
        """Ends every wait."""
        self.is_closed = True
        self._resolve(list(self._waiting))
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        stop = await self._queue.driver.listen(self._channel, self._notified)
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_SECONDS):
                        await self._wanted.wait()
                await asyncio.sleep(GATHER_SECONDS)
                self._wanted.clear()
                keys, self._new = self._new or set(self._waiting), set()
                try:
                    self._resolve(await self._check(list(keys)))
                except Exception:
                    log.exception("cannot look for %s", self._channel)
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
        finally:
            stop()

    def _notified(self, payload: str) -> None:
        # Without a payload notifications may have been missed.
        self._resolve(payload.split(",")) if payload else self._look_at(self._waiting)

    def _look_at(self, keys: Iterable[str], *, again: bool = True) -> None:
        keys = set(keys) & self._waiting.keys()
        self._new |= keys
        self._wanted.set()
        if again and keys:
            asyncio.get_running_loop().call_later(
                SECOND_LOOK_SECONDS, lambda: self._look_at(keys, again=False)
            )

    def _resolve(self, keys: Iterable[str]) -> None:
        for key in keys:
            for future in self._waiting.get(key, ()):
                if not future.done():
                    future.set_result(None)

    def _leave(self, key: str, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(key, set())
        waiting.discard(future)
        if not waiting:
            self._waiting.pop(key, None)


class Waiters:
    """All that HTTP callers wait for on one queue."""

    def __init__(self, queue: ServerQueue) -> None:
        self._queue = queue
        self._keys: dict[str, str] = {}
        self._tasks = Waitlist(queue, "ended", self._ended)
        self._reads = Waitlist(queue, "read", self._stored)
        self._work = Waitlist(queue, "wake", self._nothing)

    async def task_ended(self, task_id: int, timeout: float) -> bool:
        return await self._tasks.wait([str(task_id)], timeout)

    async def work_due(self, mark: int, timeout: float) -> bool:
        return await self._work.wait([str(mark)], timeout)

    async def read_stored(self, keys: Sequence[str], timeout: float) -> bool:
        hashes = [hashlib.md5(key.encode(), usedforsecurity=False).hexdigest() for key in keys]
        self._keys.update(zip(hashes, keys, strict=True))
        try:
            return await self._reads.wait(hashes, timeout)
        finally:
            for key_hash in hashes:
                if not self._reads.awaits(key_hash):
                    self._keys.pop(key_hash, None)

    @property
    def is_closed(self) -> bool:
        return self._tasks.is_closed

    async def close(self) -> None:
        for waitlist in (self._tasks, self._reads, self._work):
            await waitlist.close()

    async def _ended(self, keys: Sequence[str]) -> Iterable[str]:
        return map(str, await self._queue.watch_tasks([int(key) for key in keys]))

    async def _stored(self, hashes: Sequence[str]) -> Iterable[str]:
        keys = {self._keys[key_hash]: key_hash for key_hash in hashes if key_hash in self._keys}
        return [keys[key] for key in await self._queue.get_reads(list(keys))]

    async def _nothing(self, _keys: Sequence[str]) -> Iterable[str]:
        return ()
