"""What an application over several cells has beside the API, and its upkeep of each cell."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import JSONResponse
from starlette.requests import Request

from pgjobs.contrib import prometheus as metrics
from pgjobs.errors import DatabaseUnavailable, InvalidArgument
from pgjobs.queue.cells import Cells
from pgjobs.queue.records import Numbering
from pgjobs.queue.server import ServerQueue
from pgjobs.server.auth.credentials import Reading
from pgjobs.server.bridge import Bridge
from pgjobs.server.cells import events, lists, tasks
from pgjobs.server.cells.lists import LookingDep
from pgjobs.server.cells.routing import ServerCells
from pgjobs.server.settings import ApiSettings
from pgjobs.settings import CellAddress

log = logging.getLogger("pgjobs.cells")

_PAUSE = 5.0
Upkeep = Callable[[ServerQueue], Coroutine[Any, Any, None]]

_health = APIRouter()


def add_cells(app: FastAPI) -> None:
    """Adds what several cells answer together. Before the API itself, whose addresses these are."""
    for part in (events.router, tasks.router, lists.router):
        app.include_router(part, prefix="/v1/joblib", include_in_schema=False)
    app.include_router(lists.maintained, include_in_schema=False)
    app.include_router(_health, include_in_schema=False)


@asynccontextmanager
async def serving_cells(
    app: FastAPI, addresses: Sequence[CellAddress], settings: ApiSettings
) -> AsyncIterator[Cells]:
    """Opens every cell, whether it can be reached now or not; refuses to start if none can be."""
    async with AsyncExitStack() as stack:
        queues = {}
        for cell in addresses:
            # Each has its own address for notifications, which is where it is itself.
            queue = await ServerQueue.connect(cell.url.get_secret_value(), min_size=0, listen_url=None)
            queues[cell.name] = await stack.enter_async_context(queue)
        cells = Cells(queues)
        app.state.pgjobs_cells = ServerCells(cells, settings.room_cells)
        app.state.pgjobs_queue = queues[cells.home]
        found = await cells.ask(lambda queue: queue.driver.require_current())
        for name, why in found.missing.items():
            log.warning("cell %s cannot be asked: %s", name, why)
        if not found.by_cell:
            raise DatabaseUnavailable(f"No cell can be asked: {', '.join(found.missing)}")
        await _require_ids_apart(cells)
        yield cells


async def _require_ids_apart(cells: Cells) -> None:
    """Refuses one database under two names, and one that was copied from another: their ids are the same."""
    seen: dict[Numbering, str] = {}
    for cell, numbering in (await cells.ask(lambda queue: queue.numbering())).by_cell.items():
        if (other := seen.setdefault(numbering, cell)) != cell:
            raise InvalidArgument(
                f"Cells {other} and {cell} give their tasks the same ids: they are one database, or copies",
                hint="Begin a cell with pgjobs migrate in an empty database.",
            )


@asynccontextmanager
async def kept_up(
    cells: Cells, upkeep: Sequence[Upkeep], settings: ApiSettings, tsio: object = None
) -> AsyncIterator[None]:
    """Keeps every cell up, each by itself, and tells Socket.IO clients what happens in it."""
    others = list(cells.queues.values())[1:]
    bridges = [Bridge(queue, tsio) for queue in others] if tsio is not None else []
    for bridge in bridges:
        bridge.are_rooms_closed = settings.is_closed
    background = [
        asyncio.create_task(_for_ever(cell, keep, queue))
        for cell, queue in cells.queues.items()
        for keep in upkeep
    ] + [asyncio.create_task(bridge.start()) for bridge in bridges]
    try:
        yield
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        for bridge in bridges:
            with suppress(Exception):
                await bridge.close()


async def _for_ever(cell: str, keep: Upkeep, queue: ServerQueue) -> None:
    while True:
        try:
            await keep(queue)
        except Exception as error:
            log.warning("upkeep of cell %s: %s: %s", cell, type(error).__name__, error)
        await asyncio.sleep(_PAUSE)


@_health.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Ready as long as one cell is; says which are."""
    cells: ServerCells = request.app.state.pgjobs_cells
    found = await cells.cells.ask(lambda queue: queue.driver.require_current())
    said = {cell: "ok" if cell in found.by_cell else found.missing[cell] for cell in cells.cells.queues}
    if found.by_cell:
        return JSONResponse({"status": "ok", "cells": said})
    return JSONResponse({"status": "unavailable", "reason": "NoCell", "cells": said}, 503)


@_health.get("/metrics", dependencies=[Reading])
async def show_metrics(looking: LookingDep) -> Response:
    """The numbers of every job in every cell, for Prometheus."""
    return Response(await metrics.render_cells(looking.cells), media_type=metrics.CONTENT_TYPE)
