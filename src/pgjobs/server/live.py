"""Live events of an application: while it runs, and when it is told to stop."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from fastapi import FastAPI

from pgjobs.live.feed import feed_of
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.events import open_streams
from pgjobs.server.bridge import attach, bridge_of
from pgjobs.server.dependencies import get_tsio
from pgjobs.server.settings import ApiSettings

PING_SECONDS = 10


def serve_sockets(app: FastAPI, settings: ApiSettings) -> None:
    """Gives an application a Socket.IO server of its own, under /socket.io."""
    import socketio

    sio = socketio.AsyncServer(async_mode="asgi", ping_interval=PING_SECONDS, ping_timeout=PING_SECONDS)
    app.mount("/socket.io", socketio.ASGIApp(sio))
    app.state.pgjobs_tsio = sio
    app.state.pgjobs_socket_settings = settings


@asynccontextmanager
async def live(app: FastAPI, queue_of: Callable[[FastAPI], Awaitable[ServerQueue]]) -> AsyncIterator[None]:
    """Forwards events to the application's Socket.IO server, if it has one, while it runs."""
    tsio = await _tsio_of(app)
    feed = None
    if tsio is not None:
        queue = await queue_of(app)
        feed = feed_of(queue)
        if (settings := getattr(app.state, "pgjobs_socket_settings", None)) is not None:
            # These follow the feed while somebody is connected; a host's server may have clients already.
            app.state.pgjobs_sockets = attach(tsio, queue, settings=settings)
        else:
            bridge = bridge_of(tsio, queue)
            bridge.are_rooms_closed |= (
                getattr(app.state, "pgjobs_settings", None) or ApiSettings()
            ).is_closed
            await bridge.start()
    with _told_to_stop(lambda: close_streams(app)):
        try:
            yield
        finally:
            close_streams(app)
            if tsio is not None:
                await bridge_of(tsio, queue).close()
            if feed is not None:
                await feed.close()


def close_streams(app: Any) -> None:
    """The server is about to go: streams end, and workers that lose their connection are not to blame."""
    if (sockets := getattr(app.state, "pgjobs_sockets", None)) is not None:
        sockets.close()
    for stream in list(open_streams(app)):
        stream.close()


async def _tsio_of(app: FastAPI) -> Any:
    override = app.dependency_overrides.get(get_tsio)
    if override is None:
        return getattr(app.state, "pgjobs_tsio", None)
    tsio = override()
    return await tsio if inspect.isawaitable(tsio) else tsio


@contextmanager
def _told_to_stop(tell: Callable[[], None]) -> Iterator[None]:
    """Hears of SIGINT and SIGTERM before the server does: it closes connections first and tells us last."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {}

    def heard(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(tell)
        if callable(earlier := before[number]):
            earlier(number, frame)

    for number in map(int, (signal.SIGINT, signal.SIGTERM)):
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
