"""Durable work over HTTP: steps, waits, calls and signals of a task."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response

from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.flow_schemas import (
    CalledOut,
    CallIn,
    CallsOut,
    FlowOut,
    SignalIn,
    SignalOut,
    StepIn,
    StepKept,
    StepOut,
    Steps,
    Suspended,
    SuspendIn,
)
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading, ReadQueueDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["tasks"])

_LEASE = Header(description="The lease, as the claim named it.")
LeaseToken = Annotated[UUID, _LEASE]
_HELD = problems("unauthorized", "forbidden", "task-not-found", "lease-lost", "payload-too-large")


async def _held(queue: ServerQueue, task_id: UUID, token: UUID) -> tuple[int, UUID]:
    """The number of a task and the token of its lease, as verbs take them."""
    return (await queue.get_task(task_uuid=task_id)).id, token


@router.get(
    "/tasks/{task_id}/flow", dependencies=[Reading], responses=problems("unauthorized", "task-not-found")
)
async def show_flow(task_id: UUID, queue: LookQueueDep) -> FlowOut:
    """Steps, signals, parents, called tasks and children of a task, and what it waits for."""
    document = await queue.show_flow(task_id)
    return await to_thread(FlowOut.model_validate, document)


@router.get(
    "/tasks/{task_id}/steps",
    dependencies=[Reading],
    responses=problems("unauthorized", "task-not-found", "lease-lost"),
)
async def list_steps(
    task_id: UUID,
    queue: ReadQueueDep,
    after: Annotated[int, Query(ge=0, lt=2**31, description="The number of the last step seen.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500, description="Items on the page.")] = 500,
    lease_token: Annotated[UUID | None, _LEASE] = None,
) -> Steps:
    """Steps in order. Whoever names the lease gets results as they were saved, others without secrets."""
    steps = await queue.show_steps(task_id, token=lease_token, after=after, page_size=limit)
    items = [StepOut.of(step) for step in steps]
    return Steps(items=items, next=items[-1].number if len(items) == limit else None)


@router.post("/tasks/{task_id}/steps", responses=_HELD)
async def save_step(task_id: UUID, body: StepIn, queue: ActQueueDep, lease_token: LeaseToken) -> StepKept:
    """Keep the result of a step: for whoever holds the lease. The first result of a name counts."""
    held = await _held(queue, task_id, lease_token)
    saved = await queue.save_step(*held, body.name, body.result)
    return StepKept(number=saved.number, is_new=saved.is_new, kept=saved.kept)


@router.post("/tasks/{task_id}/suspend", responses=_HELD)
async def suspend_task(
    task_id: UUID, body: SuspendIn, queue: ActQueueDep, lease_token: LeaseToken
) -> Suspended:
    """Give the lease back until a time or a signal. Asked again, it says how the wait ended."""
    held = await _held(queue, task_id, lease_token)
    return Suspended.of(await queue.suspend_task(*held, body.name, delay=body.delay, signal=body.signal))


@router.post(
    "/tasks/{task_id}/calls",
    responses={
        **_HELD,
        **problems("job-not-found", "task-not-found", "job-unavailable", "payload-invalid", "quota-exceeded"),
    },
)
async def call_tasks(task_id: UUID, body: CallIn, queue: ActQueueDep, lease_token: LeaseToken) -> CallsOut:
    """Submit tasks in a named step, and give the lease back until they have ended; then it has results."""
    held = await _held(queue, task_id, lease_token)
    called = await queue.call_tasks(
        *held, body.name, body.job, body.payloads, priority=body.priority, max_attempts=body.max_attempts
    )
    if any(each.is_suspended for each in called):
        return CallsOut(is_suspended=True, items=[])
    items = [
        CalledOut(
            number=each.called_id,
            job=each.called_job,
            status=each.status,
            result=each.result,
            error=each.error,
            reason=each.reason,
        )
        for each in called
    ]
    return CallsOut(is_suspended=False, items=items)


@router.post(
    "/tasks/{task_id}/signals",
    status_code=201,
    responses={
        200: {"model": SignalOut, "description": "There was one of that name, which counts."},
        **problems(
            "unauthorized", "forbidden", "task-not-found", "invalid-task-transition", "payload-too-large"
        ),
    },
)
async def send_signal(
    task_id: UUID, body: SignalIn, response: Response, queue: ActQueueDep, actor: ActorDep
) -> SignalOut:
    """Send a named fact to a task. It is kept if nobody waits for it yet; the first of a name counts."""
    task = await queue.get_task(task_uuid=task_id)
    sent = await queue.send_signal(task.id, body.name, body.payload, actor=actor.id)
    response.status_code = 201 if sent.is_new else 200
    return SignalOut(is_new=sent.is_new, sent_at=sent.sent_at)
