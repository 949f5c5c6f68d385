"""Tasks of all cells: found, counted, and acted on in numbers."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from pgjobs.queue.server import ServerQueue
from pgjobs.server.api import maintenance
from pgjobs.server.api.cleanups import CleanupBulk, CleanupBulkDone
from pgjobs.server.api.maintenance import SuperuserDep
from pgjobs.server.api.schemas import Wire
from pgjobs.server.auth.credentials import OperatorDep, Reading
from pgjobs.server.cells.lists import LookingActDep, LookingDep, maintained
from pgjobs.server.cells.pages import cursor_of, merged_tasks, text_of
from pgjobs.server.console_api import tasks
from pgjobs.server.console_api.schemas import Bulk, TaskFilter, TasksFound
from pgjobs.server.dependencies import LimitDep
from pgjobs.server.problems import ProblemRoute, problem

router = APIRouter(route_class=ProblemRoute)

ACTING_SECONDS = 60.0
"""How long a cell may take to change what was asked."""

BeforeText = Annotated[str | None, Field(max_length=20_000)]


class PageFilter(TaskFilter):
    """Filters, and the cursor of the page."""

    before: BeforeText = None
    limit: LimitDep = 50


class CellsBulk(Bulk):
    """An action for many tasks, with the cursor of the batch."""

    before: BeforeText = None  # type: ignore[assignment]


class CellsBulkDone(Wire):
    """How many tasks changed and how many were skipped; `next` is the `before` of the next batch."""

    changed: int
    refused: int
    next: str | None


@router.get("/tasks", dependencies=[Reading])
async def find_tasks(looking: LookingDep, wanted: Annotated[PageFilter, Query()]) -> dict[str, Any]:
    """Tasks of all cells that match every filter, newest first; `next` is the `before` of the next page."""
    before, limit = cursor_of(wanted.before), max(wanted.limit, 1)
    filters = wanted.model_dump(exclude={"before", "limit"})

    async def page(cell: str, queue: ServerQueue) -> TasksFound:
        if cell in before and before[cell] is None:
            return TasksFound(items=[], next=None, looked=None, looked_to=None)
        place = before.get(cell)
        one = tasks.PageFilter(**filters, before=UUID(place) if place else None, limit=limit)
        return await tasks.find_tasks(queue, one)

    found = await looking.ask_each(page)
    page_of_all = merged_tasks(found.by_cell, before, limit, list(found.missing))
    return {
        "items": [task.model_dump(mode="json") | {"cell": cell} for cell, task in page_of_all.items],
        "next": page_of_all.following,
        "looked": page_of_all.looked,
        "looked_to": page_of_all.looked_to,
    }


@router.get("/tasks/count", dependencies=[Reading])
async def count_tasks(looking: LookingDep, wanted: Annotated[TaskFilter, Query()]) -> dict[str, Any]:
    """How many tasks of all cells match every filter."""
    found = await looking.ask(lambda queue: tasks.count_tasks(queue, wanted))
    counts = found.by_cell.values()
    is_known = not found.missing and all(count.total_relation == "eq" for count in counts)
    return {
        "total": sum(count.total for count in counts),
        "total_relation": "eq" if is_known else "gte",
    }


@router.post("/tasks/actions")
async def act_on_tasks(body: CellsBulk, looking: LookingActDep, operator: OperatorDep) -> CellsBulkDone:
    """Retry, cancel or ignore many tasks, those of a filter one cell after the other. For superusers."""
    if body.ids is not None:
        one = Bulk(verb=body.verb, ids=body.ids, reason=body.reason, dry_run=body.dry_run)
        # Nobody else knows an id, and whoever does not know it changes nothing.
        found = await looking.ask(lambda queue: tasks.act_on_tasks(one, queue, operator), ACTING_SECONDS)
        changed = sum(done.changed for done in found.by_cell.values())
        return CellsBulkDone(changed=changed, refused=len(body.ids) - changed, next=None)
    names = list(looking.cells.queues)
    carried = cursor_of(body.before)
    cell = next(iter(carried), names[0])
    if cell not in names:
        raise problem("invalid-filter", "`before` is not a cursor of this list")
    place = carried.get(cell)
    batch = Bulk(
        verb=body.verb,
        filter=body.filter,
        before=UUID(place) if place else None,
        reason=body.reason,
        dry_run=body.dry_run,
    )
    done = await tasks.act_on_tasks(batch, looking.cells.queues[cell], operator)
    following: str | None = None
    if done.next is not None:
        following = text_of({cell: str(done.next)})
    elif (after := names.index(cell) + 1) < len(names):
        following = text_of({names[after]: None})
    return CellsBulkDone(changed=done.changed, refused=done.refused, next=following)


@maintained.post("/maintenance/incomplete-cleanup/actions")
async def act_on_cleanups(body: CleanupBulk, looking: LookingActDep, actor: SuperuserDep) -> CleanupBulkDone:
    """Retry or ignore many cleanups, each in the cell that has it."""
    found = await looking.ask(lambda queue: maintenance.act_on_cleanups(body, queue, actor), ACTING_SECONDS)
    changed = sum(done.changed for done in found.by_cell.values())
    return CleanupBulkDone(changed=changed, refused=len(body.run_ids) - changed)
