"""Tasks: submit, claim, get, update, list."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from starlette.requests import Request

from pgjobs.drivers.tracing import context_of, headers_of
from pgjobs.queue.records import ClaimAnswer, ShownStatus
from pgjobs.server.api.schemas import ClaimIn, ClaimOut, Page, TaskIn, TaskOut, TaskUpdate
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading, ReadQueueDep
from pgjobs.server.claiming import claim_within
from pgjobs.server.dependencies import (
    JobNameDep,
    LimitDep,
    OffsetDep,
    RoomDep,
    SettingsDep,
    WaitersDep,
    WritableRoomDep,
)
from pgjobs.server.internal import InternalDep
from pgjobs.server.openapi import headers, problems
from pgjobs.server.prefer import WaitDep
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep
from pgjobs.server.validation import check_payload

router = APIRouter(route_class=ProblemRoute, tags=["tasks"])

StatusFilter = Annotated[ShownStatus | None, Query(alias="status", description="Only tasks of this status.")]
IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=200, description="The same key gets the same task."),
]
LeaseToken = Annotated[
    UUID | None,
    Header(description="The lease, as the claim named it: refused once the task has passed on."),
]
TraceHeader = Annotated[str | None, Header(include_in_schema=False)]
_CLAIMED = headers(
    Preference_Applied="`wait=N`, when the answer was waited for.",
    Lease_Token="The lease of the task: updates that carry it are refused once the task has passed on.",  # noqa: S106
    traceparent="The trace its submit is in, if any, for the span of its run.",
    tracestate="What goes with it.",
)
_WAITED = headers(Preference_Applied="`wait=N`, when the answer was waited for.")


@router.get(
    "/rooms/{room_id}/tasks",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id"),
)
async def list_tasks(
    room_id: RoomDep,
    queue: LookQueueDep,
    status: StatusFilter = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[TaskOut]:
    """Tasks submitted from the room, newest first."""
    tasks = await queue.show_tasks(room_id, status=status, page_size=limit, page_offset=offset)
    counted = await queue.count_tasks(room_id, status=status)
    return Page.of([TaskOut.of(task) for task in tasks], counted, limit, offset)


@router.get(
    "/rooms/{room_id}/jobs/{job_name:path}/tasks",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id", "job-not-found"),
)
async def list_tasks_of_job(
    room_id: RoomDep,
    job_name: JobNameDep,
    queue: LookQueueDep,
    status: StatusFilter = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[TaskOut]:
    """Tasks of one job submitted from the room, newest first."""
    tasks = await queue.show_tasks(room_id, job=job_name, status=status, page_size=limit, page_offset=offset)
    counted = await queue.count_tasks(room_id, job=job_name, status=status)
    return Page.of([TaskOut.of(task) for task in tasks], counted, limit, offset)


@router.post(
    "/rooms/{room_id}/tasks/{job_name:path}",
    status_code=202,
    responses={
        202: {
            "description": "It waits for a worker.",
            "headers": headers(Location="Where the task is.", Retry_After="When to poll again, in seconds."),
        },
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
        ),
    },
)
async def submit_task(
    actor: ActorDep,
    room_id: WritableRoomDep,
    job_name: JobNameDep,
    body: TaskIn,
    response: Response,
    queue: ActQueueDep,
    settings: SettingsDep,
    internal: InternalDep,
    idempotency_key: IdempotencyKey = None,
    traceparent: TraceHeader = None,
    tracestate: TraceHeader = None,
) -> TaskOut:
    """Submit a task."""
    await internal.require(queue, job_name, room_id)
    await check_payload(queue, job_name, room_id, body.payload, settings)
    task = await queue.submit_and_show(
        job_name,
        room_id,
        body.payload,
        idempotency_key=idempotency_key,
        require_workers=settings.require_workers,
        cross_room=settings.cross_room_jobs,
        actor=actor.id,
        trace_context=context_of(traceparent, tracestate),
        key=body.key,
        after=body.after,
        on_failure=body.on_failure,
    )
    response.headers["Location"] = f"/v1/joblib/tasks/{task.uuid}"
    response.headers["Retry-After"] = "1"
    return TaskOut.of(task)


@router.post(
    "/tasks/claim",
    responses={
        200: {"description": "A task, or none.", "headers": _CLAIMED},
        **problems("unauthorized", "forbidden", "worker-not-found", "payload-too-large"),
    },
)
async def claim_task(
    request: Request,
    body: ClaimIn,
    response: Response,
    queue: ActQueueDep,
    actor: ActorDep,
    settings: SettingsDep,
    waiters: WaitersDep,
    wait: WaitDep,
) -> ClaimOut:
    """Claim the oldest due task of the jobs the worker serves; with `Prefer: wait=N`, wait for one."""
    wait = min(wait, settings.long_poll_max_wait_seconds)

    async def claim() -> ClaimAnswer | None:
        return await queue.claim_and_show(body.worker_id, actor=actor.id, durable=settings.durable_claims)

    task = await claim()
    if task is None and wait:
        task = await claim_within(wait, body.worker_id, claim, queue, waiters, request.is_disconnected)
        response.headers["Preference-Applied"] = f"wait={wait}"
    if task is not None:
        response.headers["Lease-Token"] = str(task.token)
        response.headers.update(headers_of(task.trace_context))
    return ClaimOut(task=task and TaskOut.of(task))


@router.get(
    "/tasks/{task_id}",
    dependencies=[Reading],
    responses={
        200: {"description": "The task.", "headers": _WAITED},
        **problems("unauthorized", "task-not-found"),
    },
)
async def get_task(
    task_id: UUID,
    response: Response,
    queue: ReadQueueDep,
    settings: SettingsDep,
    waiters: WaitersDep,
    wait: WaitDep,
) -> TaskOut:
    """One task; with `Prefer: wait=N`, once it has ended or the time is over."""
    wait = min(wait, settings.long_poll_max_wait_seconds)
    task = await queue.show_task(task_id)
    if wait and task.ended_at is None:
        await waiters.task_ended(task.id, wait)
        response.headers["Preference-Applied"] = f"wait={wait}"
        task = await queue.show_task(task_id)
    return TaskOut.of(task)


@router.patch(
    "/tasks/{task_id}",
    responses=problems(
        "unauthorized",
        "forbidden",
        "task-not-found",
        "invalid-task-transition",
        "lease-lost",
        "payload-too-large",
        "payload-invalid",
    ),
)
async def update_task(
    task_id: UUID, body: TaskUpdate, queue: ActQueueDep, actor: ActorDep, lease_token: LeaseToken = None
) -> TaskOut:
    """Change a task's status: for its worker's owner or a superuser; its submitter may cancel it."""
    task = await queue.update_task(
        task_id,
        body.status,
        error=body.error,
        result=body.result,
        token=body.token or lease_token,
        actor=actor.id,
        is_superuser=actor.is_superuser,
    )
    return TaskOut.of(task)
