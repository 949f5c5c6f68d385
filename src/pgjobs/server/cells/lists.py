"""Lists over all cells: the answers of the ordinary endpoints, merged, each item with its cell.

A request that names a cell gets its list alone, in the same shape.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Response
from starlette.requests import Request

from pgjobs.queue.cells import PATIENCE_SECONDS, Answers, Cells
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api import maintenance
from pgjobs.server.api import schedules as schedule_api
from pgjobs.server.api.cleanups import CleanupPage, WantedDep
from pgjobs.server.api.schemas import Page, WorkerListed
from pgjobs.server.auth.credentials import ActorDep, Reading, ReadRoomsDep
from pgjobs.server.cells.pages import merged_page, newest_first
from pgjobs.server.cells.routing import CELLS_HEADER, MISSING_HEADER, ServerCells, cells_of
from pgjobs.server.console_api import health, registry
from pgjobs.server.console_api.answers import OverviewOut
from pgjobs.server.dependencies import LimitDep, OffsetDep, RoomQuery
from pgjobs.server.problems import ProblemRoute

router = APIRouter(route_class=ProblemRoute)
maintained = APIRouter(prefix="/api", route_class=ProblemRoute)

Answer = TypeVar("Answer")
Keyed = list[tuple[Any, dict[str, Any]]]
_LARGEST_PAGE = 500
_SEVERITIES = ("error", "warning", "info")


class Looking:
    """The cells that one caller looks at; the answer names those that are missing."""

    def __init__(self, served: ServerCells, cells: Cells, response: Response) -> None:
        self.served = served
        self.cells = cells
        self._response = response

    async def ask(
        self, ask: Callable[[ServerQueue], Awaitable[Answer]], patience: float = PATIENCE_SECONDS
    ) -> Answers[Answer]:
        return await self.ask_each(lambda _cell, queue: ask(queue), patience)

    async def ask_each(
        self, ask: Callable[[str, ServerQueue], Awaitable[Answer]], patience: float = PATIENCE_SECONDS
    ) -> Answers[Answer]:
        found = await self.cells.ask_each(ask, patience)
        if found.missing:
            said = (f'{cell}; reason="{why}"' for cell, why in found.missing.items())
            self._response.headers[MISSING_HEADER] = ", ".join(said)
        return found


def _looking(request: Request, response: Response, rooms: tuple[str, ...] | None) -> Looking:
    served = cells_of(request)
    assert served is not None
    named = served.named_in(request)
    cells = served.cells if named is None else served.cells.only(named)
    response.headers[CELLS_HEADER] = ",".join(served.cells.queues)
    return Looking(served, cells.confined_to(rooms), response)


async def looking(request: Request, response: Response, rooms: ReadRoomsDep) -> Looking:
    """The cells as whoever reads may see them."""
    return _looking(request, response, rooms)


async def looking_actor(request: Request, response: Response, actor: ActorDep) -> Looking:
    """The same for a caller who has to say who they are."""
    return _looking(request, response, actor.rooms)


LookingDep = Annotated[Looking, Depends(looking)]
LookingActDep = Annotated[Looking, Depends(looking_actor)]


@router.get("/cells", dependencies=[Reading])
async def list_cells(looking: LookingDep) -> dict[str, Any]:
    """Every cell with its queue status, or why it cannot be asked."""
    found = await looking.ask(lambda queue: queue.overview())
    return {
        "items": [
            {
                "cell": cell,
                "is_home": cell == looking.served.cells.home,
                "missing": found.missing.get(cell),
                "overview": OverviewOut.of(found.by_cell[cell]).model_dump(mode="json")
                if cell in found.by_cell
                else None,
            }
            for cell in looking.cells.queues
        ]
    }


@router.get("/findings")
async def list_findings(looking: LookingActDep, actor: ActorDep) -> dict[str, Any]:
    """Issues of all cells, the worst first."""
    found = await looking.ask(lambda queue: health.findings(queue, actor))
    streams = {
        cell: [(_SEVERITIES.index(one.severity), one.model_dump(mode="json")) for one in answer.items]
        for cell, answer in found.by_cell.items()
    }
    return {"items": merged_page(streams, sum(map(len, streams.values())), 0)}


@router.get("/jobs", dependencies=[Reading])
async def list_jobs(
    looking: LookingDep,
    include_archived: Annotated[bool, Query()] = False,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> dict[str, Any]:
    """Jobs of all cells, newest first."""
    return await _page(
        looking,
        lambda queue, size, start: registry.list_jobs(queue, include_archived, size, start),
        lambda job: newest_first(job.created_at),
        limit,
        offset,
    )


@router.get("/workers", dependencies=[Reading])
async def list_workers(looking: LookingDep, limit: LimitDep = 50, offset: OffsetDep = 0) -> dict[str, Any]:
    """Workers of all cells, newest first."""

    async def page(queue: ServerQueue, size: int, start: int) -> Page[Any]:
        found = await queue.list_workers(page_size=size, page_offset=start)
        return Page[Any].of(found, await queue.count_workers(), size, start)

    return await _page(
        looking, page, lambda worker: newest_first(worker.registered_at), limit, offset, WorkerListed.of
    )


@router.get("/workers/status", dependencies=[Reading])
async def show_workers(
    looking: LookingDep,
    job: Annotated[str | None, Query(max_length=700)] = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> dict[str, Any]:
    """Workers of all cells with the first of their jobs and tasks, silent workers first."""
    return await _page(
        looking,
        lambda queue, size, start: registry.show_workers(queue, job, size, start),
        lambda worker: (worker.is_alive, worker.name is None, worker.name or ""),
        limit,
        offset,
    )


@router.get("/providers/status", dependencies=[Reading])
async def show_providers(looking: LookingDep, limit: LimitDep = 50, offset: OffsetDep = 0) -> dict[str, Any]:
    """Providers of all cells, newest first."""
    return await _page(
        looking, registry.show_providers, lambda one: newest_first(one.created_at), limit, offset
    )


@router.get("/schedules", dependencies=[Reading])
async def list_schedules(
    looking: LookingDep,
    room: RoomQuery = None,
    job: Annotated[str | None, Query(max_length=700)] = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> dict[str, Any]:
    """Schedules of all cells: those due next first, the paused ones last."""
    return await _page(
        looking,
        lambda queue, size, start: schedule_api.list_schedules(queue, room, job, size, start),
        lambda one: (one.next_run_at is None, one.next_run_at and one.next_run_at.timestamp(), one.full_name),
        limit,
        offset,
    )


@maintained.get("/maintenance/incomplete-cleanup")
async def list_cleanups(looking: LookingActDep, actor: ActorDep, wanted: WantedDep) -> dict[str, Any]:
    """Cleanup tasks of all cells, next due first."""

    async def page(queue: ServerQueue, size: int, start: int) -> Page[Any]:
        found: CleanupPage = await maintenance.list_cleanups(
            queue, actor, replace(wanted, page=start // size + 1, page_size=size)
        )
        return Page[Any](items=found.items, total=found.total, total_relation="eq", limit=size, offset=start)

    size, number = wanted.page_size, wanted.page
    merged = await _page(
        looking,
        page,
        lambda one: (one.next_attempt_at is None, one.next_attempt_at and one.next_attempt_at.timestamp()),
        size,
        (number - 1) * size,
        step=size,
    )
    return {"items": merged["items"], "page": number, "page_size": size, "total": merged["total"]}


@maintained.get("/maintenance/incomplete-cleanup/nodes")
async def list_cleanup_nodes(looking: LookingActDep, actor: ActorDep) -> dict[str, Any]:
    """Which node cleans up what, in each cell."""
    found = await looking.ask(lambda queue: maintenance.list_cleanup_nodes(queue, actor))
    return {
        "items": [
            node.model_dump(mode="json") | {"cell": cell}
            for cell, nodes in found.by_cell.items()
            for node in nodes.items
        ]
    }


async def _page(
    looking: Looking,
    page: Callable[[ServerQueue, int, int], Awaitable[Page[Any]]],
    key: Callable[[Any], Any],
    limit: int,
    offset: int,
    shown: Callable[[Any], Any] = lambda item: item,
    *,
    step: int | None = None,
) -> dict[str, Any]:
    """A page of the merged list: each cell is asked for as many as could be on it or before it."""

    async def first(queue: ServerQueue) -> tuple[Keyed, Page[Any]]:
        items: list[Any] = []
        while True:
            size = step or min(_LARGEST_PAGE, offset + limit - len(items))
            answer = await page(queue, size, len(items))
            items += answer.items
            if len(items) >= offset + limit or len(answer.items) < size:
                keyed = [(key(item), shown(item).model_dump(mode="json", by_alias=True)) for item in items]
                return keyed, answer

    found = await looking.ask(first)
    pages = [answer for _, answer in found.by_cell.values()]
    is_known = not found.missing and all(answer.total_relation == "eq" for answer in pages)
    return {
        "items": merged_page({cell: keyed for cell, (keyed, _) in found.by_cell.items()}, limit, offset),
        "total": sum(answer.total for answer in pages),
        "total_relation": "eq" if is_known else "gte",
        "limit": limit,
        "offset": offset,
    }
