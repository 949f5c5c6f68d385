"""The event feed of a process: one reader, however many listen to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from weakref import WeakKeyDictionary

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Event
from pgjobs.queue.server import ServerQueue

log = logging.getLogger("pgjobs.feed")

POLL_SECONDS = 1.0
SHORTEST_PAUSE_SECONDS = 0.01
DOZING_SECONDS = 0.08
PAGE_SIZE = 500
LONGEST_PAUSE_SECONDS = 5.0

Receive = Callable[[Sequence[Event]], Awaitable[None]]


class EventFeed:
    """Reads events as they are committed and hands each page to every subscriber.

    While there is something to read it looks every few milliseconds. When there is not,
    it looks less and less often and asks to be notified. So a busy feed costs writers
    nothing, and whoever wrote unnoticed and commits late is found after about as long
    again as that took. Its cursor outlives lost connections, so that nothing is missed.
    """

    def __init__(self, queue: Queue, *, poll: float = POLL_SECONDS, page_size: int = PAGE_SIZE) -> None:
        self.cursor: str | None = None
        self._queue = ServerQueue.of(queue)
        self._poll = poll
        self._page_size = page_size
        self._subscribers: set[Receive] = set()
        self._wake = asyncio.Event()
        self._started = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def subscribe(self, receive: Receive) -> Callable[[], None]:
        """Hands over what is committed from now on, until the returned function is called."""
        reading = self._task
        if reading is None or reading.done():
            self._started.clear()
            self.cursor = None
            reading = self._task = asyncio.create_task(self._run(), name="pgjobs event feed")
        started = asyncio.ensure_future(self._started.wait())
        await asyncio.wait([started, reading], return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if reading.done():
            await reading
        self._subscribers.add(receive)
        return lambda: self._leave(receive)

    def _leave(self, receive: Receive) -> None:
        self._subscribers.discard(receive)
        if not self._subscribers and self._task is not None:
            self._task.cancel()
            self._task = None

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        stop = await self._queue.driver.listen("events", lambda _: self._wake.set())
        pause = self._poll
        try:
            while True:
                self._wake.clear()
                try:
                    found = await self._read(should_ask=pause >= DOZING_SECONDS)
                    pause = SHORTEST_PAUSE_SECONDS if found else min(pause * 2, self._poll)
                except Exception as error:
                    log.warning("cannot read events: %s: %s", type(error).__name__, error)
                    pause = min(max(pause * 2, 0.1), LONGEST_PAUSE_SECONDS)
                    await asyncio.sleep(pause)
                    continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                    pause = SHORTEST_PAUSE_SECONDS
        finally:
            stop()

    async def _read(self, *, should_ask: bool) -> bool:
        if should_ask:
            now = await self._queue.watch_events()
            self.cursor = self.cursor or now
            self._started.set()
        found = False
        while page := await self._queue.list_events(self.cursor, page_size=self._page_size):
            found = True
            for receive in list(self._subscribers):
                try:
                    await receive(page)
                except Exception:
                    log.exception("a subscriber could not take events")
            self.cursor = page[-1].cursor
        return found


_FEEDS: WeakKeyDictionary[Queue, EventFeed] = WeakKeyDictionary()


def feed_of(queue: Queue) -> EventFeed:
    """The one feed of a queue in this process."""
    serving = ServerQueue.of(queue)
    if serving not in _FEEDS:
        _FEEDS[serving] = EventFeed(serving)
    return _FEEDS[serving]
