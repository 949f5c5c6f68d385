"""The event feed over HTTP, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol
from uuid import UUID

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.requests import Request

from pgjobs.drivers.redaction import redact_document
from pgjobs.live.feed import EventFeed, feed_of
from pgjobs.queue.records import Event
from pgjobs.queue.room_names import validate_room_id
from pgjobs.queue.server import ServerQueue
from pgjobs.server.auth.credentials import Reading, ReadRoomsDep
from pgjobs.server.dependencies import QueueDep, RoomQuery
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep, streamed_from

HEARTBEAT_SECONDS = 15.0
GATHER_SECONDS = 0.05
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

router = APIRouter(route_class=ProblemRoute, tags=["events"])


@dataclass(frozen=True)
class Wanted:
    """Which events a stream shows; None means any."""

    room: str | None
    job: str | None
    task_id: int | None
    rooms: tuple[str, ...] | None = None

    def has(self, event: Event) -> bool:
        return (
            (self.rooms is None or event.room in self.rooms)
            and self.room in (None, event.room)
            and self.job in (None, event.job)
            and self.task_id in (None, event.task_id)
        )


class Stream(Protocol):
    """What an application sends until it is closed."""

    def close(self) -> None: ...

    def lines(self) -> AsyncIterator[str]: ...


class EventStream:
    """One reader of events with a cursor of its own: a slow one holds nobody up.

    The feed of the process tells when to look.
    """

    def __init__(self, queue: ServerQueue, feed: EventFeed, wanted: Wanted, cursor: str | None) -> None:
        self._queue = queue
        self._feed = feed
        self._wanted = wanted
        self._cursor = cursor
        self._wake = asyncio.Event()
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        self._wake.set()

    async def lines(self, heartbeat: float = HEARTBEAT_SECONDS) -> AsyncIterator[str]:
        stop = await self._feed.subscribe(self._notice)
        try:
            self._cursor = self._cursor or await self._queue.watch_events()
            yield f"id: {self._cursor}\nretry: 1000\n\n"
            while self._is_open:
                self._wake.clear()
                while events := await self._read():
                    yield await asyncio.to_thread(_messages, events)
                try:
                    async with asyncio.timeout(heartbeat):
                        await self._wake.wait()
                    await asyncio.sleep(GATHER_SECONDS)
                except TimeoutError:
                    yield await self._heartbeat()
        finally:
            stop()

    async def _notice(self, events: Sequence[Event]) -> None:
        if any(map(self._wanted.has, events)):
            self._wake.set()

    async def _read(self) -> list[Event]:
        wanted = self._wanted
        events = await self._queue.list_events(
            self._cursor, of_room=wanted.room, of_job=wanted.job, of_task=wanted.task_id, page_size=500
        )
        if events:
            self._cursor = events[-1].cursor
        return events

    async def _heartbeat(self) -> str:
        """Moves the cursor on past what is not shown, so that resuming has little to skip."""
        now = await self._queue.watch_events()
        if events := await self._read():
            return await asyncio.to_thread(_messages, events)
        self._cursor = now
        return f": heartbeat\nid: {now}\n\n"


@router.get(
    "/events",
    dependencies=[Reading],
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Events as they happen."},
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "job-not-found",
            "task-not-found",
            "validation-error",
        ),
    },
)
async def stream_events(
    request: Request,
    queue: LookQueueDep,
    rooms: ReadRoomsDep,
    whole: QueueDep,
    room: RoomQuery = None,
    job: Annotated[str | None, Query(description="Only events of this job, by full name.")] = None,
    task: Annotated[UUID | None, Query(description="Only events of this task.")] = None,
    last_event_id: Annotated[str | None, Header(description="Continue after this event.")] = None,
) -> StreamingResponse:
    """Events as they happen; `Last-Event-ID` resumes without a gap."""
    if room is not None:
        validate_room_id(room)
    wanted = Wanted(
        room,
        (await queue.get_job(job)).full_name if job is not None else None,
        (await queue.show_task(task)).id if task is not None else None,
        rooms,
    )
    if rooms is not None or last_event_id is not None:
        # What cannot be read is refused now: later there is no status to say it with.
        after = last_event_id or await queue.watch_events()
        await queue.list_events(after, of_room=room, page_size=1)
    # From where the lists are read: a hint that comes before its change can be seen would help nobody.
    stream = EventStream(queue, feed_of(streamed_from(request, whole)), wanted, last_event_id or None)
    return StreamingResponse(until_closed(request, stream), media_type="text/event-stream", headers=HEADERS)


async def until_closed(request: Request, stream: Stream) -> AsyncIterator[str]:
    """What a stream says, until the server is told to stop."""
    streams = open_streams(request.app)
    streams.add(stream)
    try:
        async for lines in stream.lines():
            yield lines
    finally:
        streams.discard(stream)


def open_streams(app: Any) -> set[Stream]:
    """The streams an application is sending now."""
    if getattr(app.state, "pgjobs_streams", None) is None:
        app.state.pgjobs_streams = set()
    streams: set[Stream] = app.state.pgjobs_streams
    return streams


def _messages(events: Sequence[Event]) -> str:
    return "".join(map(_message, events))


def _message(event: Event) -> str:
    shown = {
        "at": event.at.isoformat(),
        "kind": event.kind,
        "task_id": str(event.task_uuid) if event.task_uuid else None,
        "job": event.job,
        "room": event.room,
        "status": event.status,
        "worker_id": str(event.worker_id) if event.worker_id else None,
        "actor": redact_document(event.actor),
        "message": event.message,
        "fields": _public(event.fields),
    }
    return f"id: {event.cursor}\ndata: {json.dumps(shown)}\n\n"


def _public(fields: Any) -> Any:
    """What a provider is asked is between it and the one who asks."""
    return fields and redact_document({name: value for name, value in fields.items() if name != "params"})
