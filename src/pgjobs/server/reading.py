"""Lists and dashboards from a standby (`PGJOBS_READ_URL`), and who is answered by the primary all the same.

Whoever has written sees it: a change is answered with its moment, as a cookie and as a header, and whoever
sends it back is answered by the standby only once that shows the change.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Response
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgjobs.drivers.postgres.standby import ReadDriver, ReadFrom, Standby, open_standby
from pgjobs.queue.server import ServerQueue
from pgjobs.server.auth.cookies import SAFE_METHODS
from pgjobs.server.auth.credentials import ActorDep, ReadRoomsDep, confined
from pgjobs.server.dependencies import QueueDep
from pgjobs.settings import Settings

READ_HEADER = "PgJobs-Read"
"""Who answered, and how old the answer can be."""
WRITTEN_HEADER = "PgJobs-Written-At"
"""When the change was made that is answered, and sent back by whoever wants to see it."""
WRITTEN_COOKIE = "pgjobs_written_at"
_COOKIE_KEPT = "Path=/; Max-Age=60; HttpOnly; SameSite=Lax"


@asynccontextmanager
async def reading_from_standby(app: FastAPI, queue: ServerQueue) -> AsyncIterator[None]:
    """Keeps a standby at hand while the application runs, where one is named."""
    settings = Settings()
    if settings.read_url is None or queue.driver.dialect == "sqlite":
        yield
        return
    standby = await open_standby(queue.driver, settings)
    await standby.start()
    app.state.pgjobs_standby = standby
    app.state.pgjobs_reading = ServerQueue(ReadDriver(standby))
    try:
        yield
    finally:
        app.state.pgjobs_standby = app.state.pgjobs_reading = None
        await standby.close()


def reading_of(request: Request, response: Response, queue: ServerQueue) -> ServerQueue:
    """The queue for one answer to somebody who looks; where there is no standby, the queue itself."""
    standby: Standby | None = getattr(request.app.state, "pgjobs_standby", None)
    if standby is None or standby.primary is not queue.driver:
        return queue

    def answered(source: ReadFrom) -> None:
        response.headers[READ_HEADER] = str(source)

    return ServerQueue(ReadDriver(standby, written_at=written_at(request), answered=answered))


def streamed_from(request: Request, queue: ServerQueue) -> ServerQueue:
    """The queue that events are read from for those who look."""
    reading: ServerQueue | None = getattr(request.app.state, "pgjobs_reading", None)
    standby: Standby | None = getattr(request.app.state, "pgjobs_standby", None)
    return queue if reading is None or standby is None or standby.primary is not queue.driver else reading


async def looking_queue(
    request: Request, response: Response, rooms: ReadRoomsDep, queue: QueueDep
) -> ServerQueue:
    """The queue as whoever reads may see it, from a standby if there is one."""
    return confined(reading_of(request, response, queue), rooms)


async def looking_actor_queue(
    request: Request, response: Response, actor: ActorDep, queue: QueueDep
) -> ServerQueue:
    """The same for a caller who has to say who they are."""
    return confined(reading_of(request, response, queue), actor.rooms)


LookQueueDep = Annotated[ServerQueue, Depends(looking_queue)]
LookActQueueDep = Annotated[ServerQueue, Depends(looking_actor_queue)]


def written_at(request: Request) -> float | None:
    """When the caller has written last, as far as they say so; moments that are to come count as now."""
    given = request.headers.get(WRITTEN_HEADER) or request.cookies.get(WRITTEN_COOKIE)
    try:
        moment = float(given or "")
    except ValueError:
        return None
    return min(moment, time.time()) if math.isfinite(moment) else None


class TellWhenWritten:
    """Answers each change with its moment, where there is a standby that may not know of it yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] in SAFE_METHODS
            or getattr(scope["app"].state, "pgjobs_standby", None) is None
        ):
            await self._app(scope, receive, send)
            return

        async def send_with_moment(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Rounded up: whatever was committed is before it.
                moment = f"{math.ceil(time.time() * 1000) / 1000:.3f}"
                cookie = f"{WRITTEN_COOKIE}={moment}; {_COOKIE_KEPT}"
                message["headers"] = [
                    *message.get("headers", ()),
                    (WRITTEN_HEADER.lower().encode(), moment.encode()),
                    (b"set-cookie", cookie.encode()),
                ]
            await send(message)

        await self._app(scope, receive, send_with_moment)
