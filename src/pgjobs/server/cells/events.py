"""Events of all cells in one stream, resumed by a cursor that carries one for each cell."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.requests import Request
from starlette.responses import Response

from pgjobs.live.feed import feed_of
from pgjobs.queue.room_names import validate_room_id
from pgjobs.server.api import events
from pgjobs.server.auth.credentials import Reading, ReadRoomsDep, confined
from pgjobs.server.cells.lists import LookingDep
from pgjobs.server.dependencies import RoomQuery
from pgjobs.server.problems import ProblemRoute, problem

log = logging.getLogger("pgjobs.feed")

router = APIRouter(route_class=ProblemRoute)

_PAUSE = 1.0
_AHEAD = 100
"""So many messages wait for a slow reader, then cells wait too."""

Open = Callable[[str, str | None], events.EventStream]


class CellsStream:
    """The streams of all cells side by side; one that breaks is opened again where it was."""

    def __init__(self, cells: list[str], open_stream: Open, cursors: Mapping[str, str]) -> None:
        self._cells = cells
        self._open = open_stream
        self._cursors = dict(cursors)
        self._messages: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue(_AHEAD)
        self._streams: dict[str, events.EventStream] = {}
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        for stream in self._streams.values():
            stream.close()
        with suppress(asyncio.QueueFull):
            self._messages.put_nowait(None)

    async def lines(self) -> AsyncIterator[str]:
        followers = [asyncio.create_task(self._follow(cell)) for cell in self._cells]
        try:
            while self._is_open and (message := await self._messages.get()) is not None:
                yield self._with_cursors(*message)
        finally:
            for follower in followers:
                follower.cancel()
            await asyncio.gather(*followers, return_exceptions=True)

    async def _follow(self, cell: str) -> None:
        while self._is_open:
            stream = self._streams[cell] = self._open(cell, self._cursors.get(cell))
            try:
                async for lines in stream.lines():
                    await self._messages.put((cell, lines))
            except Exception as error:
                log.warning("cannot follow the events of cell %s: %s", cell, type(error).__name__)
            await asyncio.sleep(_PAUSE)

    def _with_cursors(self, cell: str, lines: str) -> str:
        told = []
        for line in lines.split("\n"):
            if line.startswith("id: "):
                self._cursors[cell] = line.removeprefix("id: ")
                told.append(f"id: {_text_of(self._cursors)}")
            else:
                told.append(line)
        return "\n".join(told)


@router.get("/events", dependencies=[Reading], response_class=StreamingResponse)
async def stream_events(
    request: Request,
    response: Response,
    looking: LookingDep,
    rooms: ReadRoomsDep,
    room: RoomQuery = None,
    job: Annotated[str | None, Query()] = None,
    task: Annotated[UUID | None, Query()] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Events as they happen, of the cell that is named or led to, or of all."""
    served = looking.served
    if room is not None:
        validate_room_id(room)
    only = served.named_in(request)
    if only is None and task is not None:
        only = await served.knowing("task", str(task)) or served.cells.home
    elif only is None and room is not None:
        only = served.of_room(room)
    if only is not None:
        whole = served.cells.queues[only]
        return await events.stream_events(
            request, confined(whole, rooms), rooms, whole, room, job, task, last_event_id
        )
    wanted = events.Wanted(None, job, None, rooms)

    def opened(cell: str, cursor: str | None) -> events.EventStream:
        queue = served.cells.queues[cell]
        return events.EventStream(confined(queue, rooms), feed_of(queue), wanted, cursor)

    stream = CellsStream(list(served.cells.queues), opened, _cursors_of(last_event_id))
    headers = events.HEADERS | dict(response.headers)
    return StreamingResponse(
        events.until_closed(request, stream), media_type="text/event-stream", headers=headers
    )


def _cursors_of(text: str | None) -> dict[str, str]:
    if not text:
        return {}
    try:
        carried = json.loads(base64.urlsafe_b64decode(text.encode()))
        return {str(cell): str(cursor) for cell, cursor in carried.items()}
    except (ValueError, AttributeError):
        raise problem("validation-error", "Last-Event-ID is not a cursor of this stream") from None


def _text_of(cursors: Mapping[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(dict(cursors)).encode()).decode()
