"""Workflows: tasks that are submitted together, with edges."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response

from pgjobs.drivers.tracing import context_of
from pgjobs.queue.flow import SubmittedWorkflow
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.flow_schemas import (
    Graph,
    WorkflowIn,
    WorkflowOut,
    Workflows,
    WorkflowSubmitted,
    WorkflowTaskOut,
    WorkflowTasks,
)
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, OperatorDep, Reading, ReadQueueDep
from pgjobs.server.console_api.schemas import Because, CancelWanted
from pgjobs.server.dependencies import QueueDep, RoomDep, SettingsDep, WritableRoomDep
from pgjobs.server.internal import InternalDep
from pgjobs.server.openapi import headers, problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep
from pgjobs.server.validation import check_payload

router = APIRouter(route_class=ProblemRoute, tags=["workflows"])

_ONE = problems("unauthorized", "workflow-not-found")
_ACTING = problems("unauthorized", "forbidden", "workflow-not-found", "payload-too-large")
Named = Annotated[str | None, Query(max_length=200, description="Only workflows of this name.")]
_CURSOR = r"^[0-9a-f]{1,14}(-[0-9a-f]{1,14})*$"
Cursor = Annotated[
    str | None, Query(max_length=20_000, pattern=_CURSOR, description="The `next` of the last page.")
]
PageSize = Annotated[int, Query(ge=1, le=500, description="Items on the page.")]
TraceHeader = Annotated[str | None, Header(include_in_schema=False)]


@router.post(
    "/rooms/{room_id}/workflows",
    status_code=201,
    responses={
        201: {"description": "Its tasks wait.", "headers": headers(Location="Where it is.")},
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "job-not-found",
            "task-not-found",
            "no-workers-available",
            "job-unavailable",
            "payload-too-large",
            "payload-invalid",
            "room-locked",
            "internal-job-not-configured",
            "quota-exceeded",
        ),
    },
)
async def submit_workflow(
    actor: ActorDep,
    room_id: WritableRoomDep,
    body: WorkflowIn,
    response: Response,
    queue: ActQueueDep,
    settings: SettingsDep,
    internal: InternalDep,
    traceparent: TraceHeader = None,
    tracestate: TraceHeader = None,
) -> WorkflowSubmitted:
    """Submit tasks that belong together, in one transaction."""
    for job in {entry.job for entry in body.tasks}:
        await internal.require(queue, job, room_id)
    if settings.validate_payloads:
        for entry in body.tasks:
            await check_payload(queue, entry.job, room_id, entry.payload, settings)
    submitted = await queue.submit_workflow(
        body.name,
        [entry.entry() for entry in body.tasks],
        room=room_id,
        submitter=actor.id,
        owner=actor.id,
        trace_context=context_of(traceparent, tracestate),
        require_workers=settings.require_workers,
        cross_room=settings.cross_room_jobs,
    )
    response.headers["Location"] = f"/v1/joblib/workflows/{submitted.uuid}"
    flow = WorkflowOut.of(await queue.get_workflow(workflow_uuid=submitted.uuid))
    return WorkflowSubmitted(**flow.model_dump(), task_ids=await _ids(queue, submitted))


async def _ids(queue: ServerQueue, submitted: SubmittedWorkflow) -> dict[str, UUID]:
    found: dict[str, UUID] = {}
    after = None
    while len(found) < len(submitted.tasks):
        page = await queue.list_workflow_tasks(submitted.id, after=after, page_size=500)
        if not page:
            break
        found.update((task.name, task.task_uuid) for task in page)
        after = page[-1].task_id
    return found


@router.get(
    "/rooms/{room_id}/workflows",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id"),
)
async def list_workflows_of_room(
    room_id: RoomDep, queue: LookQueueDep, name: Named = None, cursor: Cursor = None, limit: PageSize = 50
) -> Workflows:
    """Workflows submitted from the room, newest first."""
    return await _page(queue, room_id, name, cursor, limit)


@router.get("/workflows", dependencies=[Reading], responses=problems("unauthorized"))
async def list_workflows(
    queue: LookQueueDep, name: Named = None, cursor: Cursor = None, limit: PageSize = 50
) -> Workflows:
    """Workflows of all rooms, newest first."""
    return await _page(queue, None, name, cursor, limit)


async def _page(
    queue: ServerQueue, room: str | None, name: str | None, cursor: str | None, limit: int
) -> Workflows:
    found = await queue.list_workflows(room, name=name or None, cursor=cursor or None, page_size=limit)
    following = None
    if len(found) == limit:
        following = (await queue.next_cursor([flow.id for flow in found], cursor or None)).next
    return Workflows(items=[WorkflowOut.of(flow) for flow in found], next=following)


@router.get("/workflows/{workflow_id}", dependencies=[Reading], responses=_ONE)
async def get_workflow(workflow_id: UUID, queue: ReadQueueDep) -> WorkflowOut:
    """One workflow."""
    return WorkflowOut.of(await queue.get_workflow(workflow_uuid=workflow_id))


@router.get("/workflows/{workflow_id}/tasks", dependencies=[Reading], responses=_ONE)
async def list_workflow_tasks(
    workflow_id: UUID,
    queue: LookQueueDep,
    after: Annotated[int, Query(ge=0, lt=2**63, description="The number of the last task seen.")] = 0,
    limit: PageSize = 500,
) -> WorkflowTasks:
    """The tasks of a workflow, in order of submission."""
    found = await queue.list_workflow_tasks(workflow_uuid=workflow_id, after=after, page_size=limit)
    following = found[-1].task_id if len(found) == limit else None
    return WorkflowTasks(items=[WorkflowTaskOut.of(task) for task in found], next=following)


@router.get("/workflows/{workflow_id}/graph", dependencies=[Reading], responses=_ONE)
async def get_workflow_graph(
    workflow_id: UUID,
    queue: LookQueueDep,
    most: Annotated[int, Query(ge=1, le=5000, description="Tasks shown; others are left off.")] = 1000,
) -> Graph:
    """A workflow as a graph, for whoever draws it."""
    document = await queue.get_workflow_graph(workflow_uuid=workflow_id, most=most)
    return await to_thread(Graph.of_document, document)


@router.post("/workflows/{workflow_id}/cancel", responses=_ACTING)
async def cancel_workflow(
    workflow_id: UUID, body: CancelWanted, queue: ActQueueDep, actor: ActorDep
) -> WorkflowOut:
    """Cancel what has not ended, for superusers and whoever submitted it; with `force` now."""
    flow = await queue.cancel_workflow(
        workflow_uuid=workflow_id,
        reason=body.reason,
        force=body.force,
        actor=actor.id,
        is_superuser=actor.is_superuser,
    )
    return WorkflowOut.of(flow)


@router.post("/workflows/{workflow_id}/retry", responses=_ACTING)
async def retry_workflow(
    workflow_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep
) -> WorkflowOut:
    """Retry what failed, and bring back what was cancelled because of it. For superusers."""
    flow = await queue.retry_workflow(workflow_uuid=workflow_id, actor=operator.id, reason=body.reason)
    return WorkflowOut.of(flow)
