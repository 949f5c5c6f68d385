"""What endpoints need and hosts may override."""

from __future__ import annotations

from inspect import isawaitable, signature
from typing import Annotated, Any, cast

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from pgjobs.errors import JobNotFound, NotOnSqlite, ProviderNotFound
from pgjobs.queue.queue import Queue
from pgjobs.queue.room_names import ROOM, validate_room_id
from pgjobs.queue.server import ServerQueue
from pgjobs.server.cells.routing import cells_of
from pgjobs.server.long_poll import Waiters
from pgjobs.server.settings import ApiSettings


async def get_queue(request: Request) -> Queue:
    """The one source of database access; without an override, the environment's database."""
    state = request.app.state
    if getattr(state, "pgjobs_queue", None) is None:
        state.pgjobs_queue = await ServerQueue.connect()
    queue: Queue = state.pgjobs_queue
    return queue


async def home_queue(queue: Annotated[Queue, Depends(get_queue)]) -> ServerQueue:
    """The same, whatever a host put in its place, with what endpoints ask; who is who is known here."""
    return ServerQueue.of(queue)


HomeQueueDep = Annotated[ServerQueue, Depends(home_queue)]


async def serving_queue(request: Request, response: Response, home: HomeQueueDep) -> ServerQueue:
    """The queue a request is for: where there are several cells, the one that it leads to."""
    cells = cells_of(request)
    return home if cells is None else await cells.serving(request, response)


def get_settings(request: Request = None) -> ApiSettings:  # type: ignore[assignment]
    """The settings of the HTTP API; without others, the environment's, which an application reads once."""
    if request is None:
        return ApiSettings()
    state = request.app.state
    if getattr(state, "pgjobs_settings", None) is None:
        state.pgjobs_settings = ApiSettings()
    settings: ApiSettings = state.pgjobs_settings
    return settings


async def settings_of(request: Request) -> ApiSettings:
    """`get_settings`, or what a host put in its place: a function of the request or of nothing.

    Asked here, because FastAPI would send an ordinary function to a thread, for every request.
    """
    override = request.app.dependency_overrides.get(get_settings)
    if override is None:
        return get_settings(request)
    settings = override(request) if signature(override).parameters else override()
    return cast("ApiSettings", await settings if isawaitable(settings) else settings)


def get_tsio(request: Request) -> Any:
    """The host's Socket.IO server; None switches emission off."""
    return getattr(request.app.state, "pgjobs_tsio", None)


RoomPath = Annotated[str, Path(json_schema_extra={"pattern": ROOM})]
RoomQuery = Annotated[
    str | None, Query(description="Only what is of this room.", json_schema_extra={"pattern": ROOM})
]


async def verify_writable_room(room_id: RoomPath) -> str:
    """Guards registering and submitting; hosts override it to lock rooms."""
    validate_room_id(room_id)
    return room_id


async def readable_room(room_id: RoomPath) -> str:
    validate_room_id(room_id)
    return room_id


async def named_job(job_name: Annotated[str, Path()]) -> str:
    """A job's address: over HTTP it goes neither by its number nor by its id."""
    if job_name.count(":") < 2:
        raise JobNotFound(f"Invalid job name format: {job_name[:200]}", hint="Write room:category:name.")
    return job_name


async def named_provider(provider_name: Annotated[str, Path()]) -> str:
    if provider_name.count(":") < 2:
        message = f"Invalid provider name format: {provider_name[:200]}"
        raise ProviderNotFound(message, hint="Write room:category:name.")
    return provider_name


QueueDep = Annotated[ServerQueue, Depends(serving_queue)]


async def require_console(request: Request) -> None:
    """Refuses the console's pages where nothing would answer them; they are files, which need no database."""
    queue = getattr(request.app.state, "pgjobs_queue", None)
    if queue is not None and queue.driver.dialect == "sqlite":
        raise NotOnSqlite("The console is not on SQLite")


SettingsDep = Annotated[ApiSettings, Depends(settings_of)]
RoomDep = Annotated[str, Depends(readable_room)]
WritableRoomDep = Annotated[str, Depends(verify_writable_room)]
JobNameDep = Annotated[str, Depends(named_job)]
ProviderNameDep = Annotated[str, Depends(named_provider)]
LimitDep = Annotated[int, Query(ge=0, le=500, description="Items on the page.")]
OffsetDep = Annotated[int, Query(ge=0, le=2_000_000_000, description="Items before the page.")]


async def get_waiters(request: Request, queue: QueueDep) -> Waiters:
    """The waiting room of the queue in this process."""
    state = request.app.state
    if not hasattr(state, "pgjobs_waiters"):
        state.pgjobs_waiters = {}
    if queue not in state.pgjobs_waiters:
        state.pgjobs_waiters[queue] = Waiters(queue)
    waiters: Waiters = state.pgjobs_waiters[queue]
    if getattr(state, "pgjobs_is_closing", False):
        await waiters.close()
    return waiters


WaitersDep = Annotated[Waiters, Depends(get_waiters)]
