"""Schedules: jobs that run by themselves, registered, seen, run now and paused."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from pgjobs.server.api.schedule_schemas import (
    Cron,
    Preview,
    RunStarted,
    ScheduleIn,
    ScheduleInFull,
    ScheduleSeen,
    Seconds,
    Zone,
    duration,
)
from pgjobs.server.api.schemas import Page
from pgjobs.server.auth.credentials import OperatorDep, Reading, ReadQueueDep
from pgjobs.server.console_api.schemas import Because
from pgjobs.server.dependencies import LimitDep, OffsetDep, QueueDep, RoomQuery, SettingsDep
from pgjobs.server.openapi import headers, problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep
from pgjobs.server.validation import check_payload

router = APIRouter(prefix="/schedules", route_class=ProblemRoute, tags=["schedules"])

_ACTING = problems("unauthorized", "forbidden", "schedule-not-found", "payload-too-large")


@router.get(
    "",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id", "job-not-found"),
)
async def list_schedules(
    queue: LookQueueDep,
    room: RoomQuery = None,
    job: Annotated[str | None, Query(max_length=700, description="Only those of this job.")] = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[ScheduleSeen]:
    """Schedules of all rooms, of one or of a job: those due next first, the paused ones last."""
    schedules = await queue.list_schedules(room, job=job, page_size=limit, page_offset=offset)
    counted = await queue.count_schedules(room, job=job)
    items = await to_thread(lambda: [ScheduleSeen.of(schedule) for schedule in schedules])
    return Page.of(items, counted, limit, offset)


@router.put(
    "",
    status_code=201,
    responses={
        200: {"model": ScheduleInFull, "description": "It existed and was replaced."},
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "job-not-found",
            "job-unavailable",
            "schedule-not-found",
            "payload-too-large",
            "payload-invalid",
        ),
    },
)
async def register_schedule(
    body: ScheduleIn, response: Response, queue: QueueDep, operator: OperatorDep, settings: SettingsDep
) -> ScheduleInFull:
    """Create or change a schedule, for superusers. What is left out has its default, whatever it was."""
    if body.secrets_of is not None:
        [kept] = await queue.driver.call(
            "restore_schedule_payload", schedule=str(body.secrets_of), payload=body.payload
        )
        body = body.model_copy(update={"payload": kept["restored"]})
    await check_payload(queue, body.job, body.room, body.payload, settings)
    registration = await queue.register_schedule(**body.arguments(), actor=operator.id)
    response.status_code = 201 if registration.registered == "created" else 200
    made = await queue.get_schedule(str(registration.schedule_id))
    return await to_thread(ScheduleInFull.of_document, made)


@router.get("/preview", dependencies=[Reading], responses=problems("unauthorized"))
async def preview_schedule(
    queue: ReadQueueDep,
    cron: Annotated[Cron | None, Query()] = None,
    every_seconds: Annotated[Seconds | None, Query()] = None,
    timezone: Annotated[Zone, Query()] = "UTC",
    quantity: Annotated[int, Query(ge=1, le=100, description="How many times to list.")] = 5,
) -> Preview:
    """When a schedule would run, without registering it: by cron or by interval."""
    every = duration(every_seconds)
    upcoming = await queue.preview_schedule(cron, every=every, timezone=timezone, quantity=quantity)
    return Preview.of(cron, every, upcoming)


@router.get(
    "/{schedule_id}", dependencies=[Reading], responses=problems("unauthorized", "schedule-not-found")
)
async def get_schedule(schedule_id: UUID, queue: ReadQueueDep) -> ScheduleInFull:
    """One schedule with its payload, secrets hidden, and its next five runs."""
    return await to_thread(ScheduleInFull.of_document, await queue.get_schedule(str(schedule_id)))


@router.delete("/{schedule_id}", status_code=204, responses=_ACTING)
async def retire_schedule(schedule_id: UUID, queue: QueueDep, operator: OperatorDep) -> None:
    """Remove a schedule; tasks it has submitted stay: for superusers."""
    await queue.retire_schedule(str(schedule_id), actor=operator.id)


@router.post(
    "/{schedule_id}/run",
    status_code=202,
    responses={
        202: {"description": "Its task waits for a worker.", "headers": headers(Location="Where it is.")},
        **_ACTING,
        **problems("job-not-found", "schedule-not-found", "job-unavailable"),
    },
)
async def run_schedule(
    schedule_id: UUID, body: Because, response: Response, queue: QueueDep, operator: OperatorDep
) -> RunStarted:
    """Run a schedule now; its next run stays as it is: for superusers."""
    run = await queue.run_schedule(str(schedule_id), actor=operator.id, reason=body.reason)
    response.headers["Location"] = f"/v1/joblib/tasks/{run.task_uuid}"
    return RunStarted(task_id=run.task_uuid)


@router.post("/{schedule_id}/pause", status_code=204, responses=_ACTING)
async def pause_schedule(schedule_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Pause a schedule until it is resumed; missed runs are not run later: for superusers."""
    await queue.pause_schedule(str(schedule_id), actor=operator.id, reason=body.reason)


@router.post("/{schedule_id}/resume", status_code=204, responses=_ACTING)
async def resume_schedule(schedule_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Resume a paused schedule, from its next time on: for superusers."""
    await queue.resume_schedule(str(schedule_id), actor=operator.id, reason=body.reason)
