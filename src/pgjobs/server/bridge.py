"""Socket.IO: the one emitter of a process, fed by the database and by nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from pgjobs.errors import PgJobsError
from pgjobs.live.emissions import Deduplicator, emissions_of
from pgjobs.live.feed import LONGEST_PAUSE_SECONDS, EventFeed, feed_of
from pgjobs.live.models import Emission
from pgjobs.live.sockets import Authenticate, MayRead, SocketHandlers, anybody
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Event, Retirement, TrackedTask
from pgjobs.queue.server import ServerQueue

__all__ = ["Bridge", "attach", "bridge_of", "emit"]

log = logging.getLogger("pgjobs.bridge")


async def emit(tsio: Any, emissions: Iterable[Emission] | Retirement | None, *, namespace: str = "/") -> None:
    """Sends events to this process's clients; without a Socket.IO server, to nobody.

    What `cleanup_worker` answers may be passed too: its events follow from the database by themselves.
    """
    if tsio is None or emissions is None or isinstance(emissions, Retirement):
        return
    for event, room in emissions:
        # Every process reads the feed, so a message queue between them would double each event.
        await tsio.emit(
            event.event_name(),
            event.model_dump(mode="json"),
            room=room,
            namespace=namespace,
            ignore_queue=True,
        )


class Bridge:
    """Forwards the event feed to the clients of one Socket.IO server."""

    def __init__(
        self, queue: Queue, tsio: Any, *, feed: EventFeed | None = None, namespace: str = "/"
    ) -> None:
        self.are_rooms_closed = False
        self._queue = ServerQueue.of(queue)
        self._tsio = tsio
        self._feed = feed or feed_of(queue)
        self._namespace = namespace
        self._told = Deduplicator()
        self._stop: Callable[[], None] | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """From here on, whatever is committed is sent. Starting twice is starting once."""
        async with self._starting:
            if self._stop is None and self._tsio is not None:
                self._stop = await self._feed.subscribe(self._forward)

    async def close(self) -> None:
        async with self._starting:
            if self._stop is not None:
                self._stop()
                self._stop = None

    async def _forward(self, events: Sequence[Event]) -> None:
        tasks = await self._track({event.task_id for event in events if event.task_id is not None})
        told = emissions_of(events, tasks, self._told, are_rooms_closed=self.are_rooms_closed)
        await emit(self._tsio, told, namespace=self._namespace)

    async def _track(self, task_ids: set[int]) -> dict[int, TrackedTask]:
        pause = 0.1
        while task_ids:
            try:
                return {task.id: task for task in await self._queue.track_tasks(sorted(task_ids))}
            except PgJobsError:
                raise
            except Exception as error:
                # The feed will not show these events again.
                log.warning("cannot look at tasks: %s", type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        return {}


async def members(user: Any, room_id: str) -> bool:
    """Whether somebody is a member of a room."""
    rooms = _rooms(user)
    return rooms is None or room_id in rooms


def _rooms(user: Any) -> Any:
    return getattr(user, "rooms", ())


_BRIDGES: WeakKeyDictionary[Any, Bridge] = WeakKeyDictionary()


def bridge_of(tsio: Any, queue: Queue, *, namespace: str = "/") -> Bridge:
    """The one bridge of a Socket.IO server: two would send everything twice."""
    if tsio not in _BRIDGES:
        _BRIDGES[tsio] = Bridge(queue, tsio, namespace=namespace)
    return _BRIDGES[tsio]


def attach(
    sio: Any,
    queue: Queue,
    *,
    authenticate: Authenticate | None = None,
    may_read: MayRead | None = None,
    namespace: str = "/",
    settings: Any = None,
) -> SocketHandlers:
    """Serves live events on a `socketio.AsyncServer`, which may have other uses besides.

    `authenticate` tells who connects, from their token, as an object with an `id`; left
    out, tokens are those of the HTTP API. `may_read` tells whether somebody may read
    a room; left out, anybody may, or where `settings` close rooms those whose `rooms` name
    it. The server's own connect and disconnect handlers keep working if they were
    there first.
    """
    from pgjobs.server.auth.credentials import authenticator, confined
    from pgjobs.server.settings import ApiSettings

    settings, queue = settings or ApiSettings(), ServerQueue.of(queue)
    bridge = bridge_of(sio, queue, namespace=namespace)
    bridge.are_rooms_closed = settings.is_closed
    handlers = SocketHandlers(
        sio,
        queue,
        start=bridge.start,
        stop=bridge.close,
        authenticate=authenticate or authenticator(queue, settings),
        may_read=may_read or (members if settings.is_closed else anybody),
        namespace=namespace,
        queue_of=(lambda user: confined(queue, _rooms(user))) if settings.is_closed else None,
    )
    handlers.install()
    return handlers
