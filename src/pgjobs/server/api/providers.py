"""Providers: register, list, get, retire."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from pgjobs.server.api.schemas import Page, ProviderIn, ProviderOut
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading, ReadQueueDep
from pgjobs.server.dependencies import LimitDep, OffsetDep, ProviderNameDep, RoomDep, WritableRoomDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["providers"])

_STATUS = {"created": 201, "changed": 200}


@router.put(
    "/rooms/{room_id}/providers",
    status_code=201,
    responses={
        200: {"model": ProviderOut, "description": "It was registered already, and is changed."},
        **problems(
            "unauthorized",
            "forbidden",
            "invalid-room-id",
            "invalid-category",
            "worker-not-found",
            "payload-too-large",
            "payload-invalid",
            "room-locked",
        ),
    },
)
async def register_provider(
    actor: ActorDep, room_id: WritableRoomDep, body: ProviderIn, response: Response, queue: ActQueueDep
) -> ProviderOut:
    """Register a provider, or change one's own."""
    registration = await queue.register_provider(
        room_id,
        body.category,
        body.name,
        schema=body.schema_,
        content_type=body.content_type,
        worker_id=body.worker_id,
        actor=actor.id,
        is_superuser=actor.is_superuser,
    )
    response.status_code = _STATUS[registration.registered]
    return ProviderOut.of(await queue.get_provider(str(registration.provider_id)))


@router.get(
    "/rooms/{room_id}/providers",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id"),
)
async def list_providers(
    room_id: RoomDep, queue: LookQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[ProviderOut]:
    """Providers visible from the room: its own and @global; newest first."""
    providers = await queue.list_providers(room_id, page_size=limit, page_offset=offset)
    counted = await queue.count_providers(room_id)
    return Page.of([ProviderOut.of(provider) for provider in providers], counted, limit, offset)


@router.get(
    "/rooms/{room_id}/providers/{provider_name:path}/info",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id", "provider-not-found"),
)
async def get_provider(room_id: RoomDep, provider_name: ProviderNameDep, queue: ReadQueueDep) -> ProviderOut:
    """One provider visible from the room, by its full name."""
    return ProviderOut.of(await queue.get_provider(provider_name, room=room_id))


@router.delete(
    "/providers/{provider_id}",
    status_code=204,
    responses=problems("unauthorized", "forbidden", "provider-not-found"),
)
async def retire_provider(provider_id: UUID, queue: ActQueueDep, actor: ActorDep) -> None:
    """Remove a provider: for its owner or a superuser."""
    await queue.retire_provider(str(provider_id), actor=actor.id, is_superuser=actor.is_superuser)
