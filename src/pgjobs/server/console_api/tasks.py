"""Tasks for the console: lists with filters, details, and actions on one or many."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from pgjobs.server.auth.credentials import OperatorDep, Reading
from pgjobs.server.console_api.answers import Check, Reasons
from pgjobs.server.console_api.schemas import (
    Attempts,
    AttemptSeen,
    Because,
    Bulk,
    BulkDone,
    CancelWanted,
    Count,
    Events,
    EventSeen,
    TaskFilter,
    TaskInFull,
    TaskSeen,
    TasksFound,
)
from pgjobs.server.dependencies import LimitDep, QueueDep, SettingsDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["console"])

BATCH = 100
Filter = Annotated[TaskFilter, Query()]
_FINDING = problems("unauthorized", "forbidden", "invalid-room-id", "job-not-found")
_ONE = problems("unauthorized", "task-not-found")
_ACTING = problems(
    "unauthorized", "forbidden", "task-not-found", "invalid-task-transition", "payload-too-large"
)


class PageFilter(TaskFilter):
    """Filters, and where the page begins."""

    before: UUID | None = None
    limit: LimitDep = 50


@router.get("/tasks", dependencies=[Reading], responses=_FINDING)
async def find_tasks(queue: LookQueueDep, wanted: Annotated[PageFilter, Query()]) -> TasksFound:
    """Tasks of all rooms that match every filter, newest first."""
    found = await queue.find_tasks(**wanted.arguments(), before=wanted.before, page_size=wanted.limit)
    items = await to_thread(lambda: [TaskSeen(**task) for task in found.found])
    return TasksFound(items=items, next=found.next, looked=found.looked, looked_to=found.looked_to)


@router.get("/tasks/count", dependencies=[Reading], responses=_FINDING)
async def count_tasks(queue: LookQueueDep, wanted: Filter) -> Count:
    """How many tasks match every filter: exact up to 10,000."""
    counted = await queue.count_found_tasks(**wanted.arguments())
    return Count(total=counted.total, total_relation=counted.relation)


@router.post(
    "/tasks/actions",
    responses=problems("unauthorized", "forbidden", "invalid-room-id", "job-not-found", "payload-too-large"),
)
async def act_on_tasks(body: Bulk, queue: QueueDep, operator: OperatorDep) -> BulkDone:
    """Retry, cancel or ignore many tasks. For superusers. With a filter, a batch of 100 at a time."""
    ids, following = body.ids, None
    if body.filter is not None:
        found = await queue.find_tasks(**body.filter.arguments(), before=body.before, page_size=BATCH)
        ids, following = [UUID(task["id"]) for task in found.found], found.next
    done = await queue.act_on_tasks(
        body.verb, ids or [], actor=operator.id, reason=body.reason, dry_run=body.dry_run
    )
    return BulkDone(changed=done.changed, refused=done.refused, next=following)


@router.get("/tasks/{task_id}/details", dependencies=[Reading], responses=_ONE)
async def inspect_task(task_id: UUID, queue: LookQueueDep, settings: SettingsDep) -> TaskInFull:
    """One task in full; what looks like a secret is hidden."""
    return await to_thread(TaskInFull.of, await queue.inspect_task(task_id), settings.trace_url)


@router.get("/tasks/{task_id}/attempts", dependencies=[Reading], responses=_ONE)
async def list_attempts(task_id: UUID, queue: LookQueueDep) -> Attempts:
    """Every ended attempt of a task, oldest first."""
    task = await queue.get_task(task_uuid=task_id)
    attempts = await queue.list_attempts(task.id)
    return Attempts(items=await to_thread(lambda: [AttemptSeen.of(attempt) for attempt in attempts]))


@router.get("/tasks/{task_id}/events", dependencies=[Reading], responses=_ONE)
async def list_events(
    task_id: UUID,
    queue: LookQueueDep,
    before: Annotated[int | None, Query(ge=0, lt=2**63, description="Only events before this one.")] = None,
    limit: LimitDep = 200,
) -> Events:
    """The last events of a task, oldest first."""
    task = await queue.get_task(task_uuid=task_id)
    events = await queue.list_task_events(task.id, before=before, page_size=limit)
    earlier = events[0].seq if events and len(events) == limit else None
    items = await to_thread(lambda: [EventSeen.of(event) for event in events])
    return Events(items=items, previous=earlier)


@router.get("/tasks/{task_id}/why", dependencies=[Reading], responses=_ONE)
async def why(task_id: UUID, queue: LookQueueDep) -> Reasons:
    """Why a task waits: checks in order, in words, with what would change it."""
    checks = await queue.driver.call("show_why", task_uuid=task_id)
    return Reasons(items=await to_thread(lambda: [Check.of_row(check) for check in checks]))


@router.post("/tasks/{task_id}/retry", status_code=204, responses=_ACTING)
async def retry_task(task_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Retry a task: it returns to the queue now, with attempts reset. For superusers."""
    task = await queue.get_task(task_uuid=task_id)
    await queue.retry_task(task.id, actor=operator.id, reason=body.reason)


@router.post("/tasks/{task_id}/cancel", status_code=204, responses=_ACTING)
async def cancel_task(task_id: UUID, body: CancelWanted, queue: QueueDep, operator: OperatorDep) -> None:
    """Cancel a task, or request cancellation if it is running; with `force` it ends now. For superusers."""
    task = await queue.get_task(task_uuid=task_id)
    await queue.cancel_task(task.id, actor=operator.id, reason=body.reason, force=body.force)


@router.post("/tasks/{task_id}/ignore", status_code=204, responses=_ACTING)
async def ignore_task(task_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Ignore a task until it is unignored or retried. For superusers."""
    task = await queue.get_task(task_uuid=task_id)
    await queue.ignore_task(task.id, actor=operator.id, reason=body.reason)


@router.post("/tasks/{task_id}/unignore", status_code=204, responses=_ACTING)
async def unignore_task(task_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Return an ignored task to the queue. For superusers."""
    task = await queue.get_task(task_uuid=task_id)
    await queue.unignore_task(task.id, actor=operator.id, reason=body.reason)
