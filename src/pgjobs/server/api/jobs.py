"""Jobs: register, list, get."""

from __future__ import annotations

from fastapi import APIRouter, Response

from pgjobs.errors import InvalidCategory
from pgjobs.queue.room_names import validate_room_id
from pgjobs.server.api.schemas import JobIn, JobListed, JobOut, Page
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading, ReadQueueDep
from pgjobs.server.dependencies import (
    JobNameDep,
    LimitDep,
    OffsetDep,
    RoomDep,
    SettingsDep,
    WritableRoomDep,
)
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep
from pgjobs.server.settings import ApiSettings

router = APIRouter(route_class=ProblemRoute, tags=["jobs"])

_STATUS = {"created": 201, "reactivated": 201, "unchanged": 200}


@router.put(
    "/rooms/{room_id}/jobs",
    status_code=201,
    responses={
        200: {"model": JobOut, "description": "It was registered already, with the same schema."},
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "invalid-category",
            "worker-not-found",
            "schema-conflict",
            "payload-too-large",
            "payload-invalid",
            "room-locked",
        ),
    },
)
async def register_job(
    actor: ActorDep,
    room_id: WritableRoomDep,
    body: JobIn,
    response: Response,
    queue: ActQueueDep,
    settings: SettingsDep,
) -> JobOut:
    """Register a job and link it to a worker, a new one if none is named."""
    registration = await queue.register_job(
        room_id,
        _allowed(body.category, settings),
        body.name,
        schema=body.schema_,
        worker_id=body.worker_id,
        create_worker=body.worker_id is None,
        events="full",
        actor=actor.id,
        is_superuser=actor.is_superuser,
    )
    response.status_code = _STATUS[registration.registered]
    return JobOut.of(await queue.get_job(str(registration.job_id)), registration.linked_worker_id)


@router.get(
    "/rooms/{room_id}/jobs",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id"),
)
async def list_jobs(
    room_id: RoomDep, queue: LookQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[JobListed]:
    """Jobs visible from the room: its own, @global and @internal; newest first."""
    jobs = await queue.list_jobs(room_id, page_size=limit, page_offset=offset)
    counted = await queue.count_jobs(room_id)
    return Page.of([JobListed.of(job) for job in jobs], counted, limit, offset)


@router.get(
    "/rooms/{room_id}/jobs/{job_name:path}",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id", "job-not-found"),
)
async def get_job(room_id: RoomDep, job_name: JobNameDep, queue: ReadQueueDep) -> JobOut:
    """One job visible from the room, by its full name."""
    return JobOut.of(await queue.get_job(job_name, room=room_id))


@router.api_route(
    "/rooms//{rest:path}", methods=["GET", "PUT", "POST"], include_in_schema=False, dependencies=[Reading]
)
async def refuse_empty_room(rest: str) -> None:  # noqa: ARG001
    """A room without a name is no room, rather than no address."""
    validate_room_id("")


def _allowed(category: str, settings: ApiSettings) -> str:
    if not settings.allows_category(category):
        raise InvalidCategory(
            f"Category '{category[:200]}' is not allowed here:"
            f" PGJOBS_ALLOWED_CATEGORIES={','.join(settings.allowed_categories)} (* would allow any)"
        )
    return category
