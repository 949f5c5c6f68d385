"""Workers: register, heartbeat, retire, list."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from pgjobs.server.api.schemas import HeartbeatOut, Page, WorkerListed, WorkerOut
from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading
from pgjobs.server.dependencies import LimitDep, OffsetDep, RoomDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["workers"])


@router.post("/workers", status_code=201, responses=problems("unauthorized"))
async def register_worker(queue: ActQueueDep, actor: ActorDep) -> WorkerOut:
    """Register a worker that belongs to the caller."""
    return WorkerOut.of(await queue.register_worker(actor=actor.id))


@router.get("/workers", dependencies=[Reading], responses=problems("unauthorized"))
async def list_workers(
    queue: LookQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[WorkerListed]:
    """All workers, newest first."""
    workers = await queue.list_workers(page_size=limit, page_offset=offset)
    counted = await queue.count_workers()
    return Page.of([WorkerListed.of(worker) for worker in workers], counted, limit, offset)


@router.get(
    "/rooms/{room_id}/workers",
    dependencies=[Reading],
    responses=problems("unauthorized", "forbidden", "invalid-room-id"),
)
async def list_workers_of_room(
    room_id: RoomDep, queue: LookQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[WorkerListed]:
    """Workers that serve a job visible from the room, newest first."""
    workers = await queue.list_workers(room_id, page_size=limit, page_offset=offset)
    counted = await queue.count_workers(room_id)
    return Page.of([WorkerListed.of(worker) for worker in workers], counted, limit, offset)


@router.patch(
    "/workers/{worker_id}",
    responses=problems("unauthorized", "forbidden", "worker-not-found"),
)
async def heartbeat_worker(worker_id: UUID, queue: ActQueueDep, actor: ActorDep) -> HeartbeatOut:
    """Send a worker's heartbeat, and learn which of its tasks it should stop."""
    return HeartbeatOut.of(await queue.heartbeat_and_show(worker_id, actor=actor.id))


@router.delete(
    "/workers/{worker_id}",
    status_code=204,
    responses=problems("unauthorized", "forbidden", "worker-not-found"),
)
async def retire_worker(worker_id: UUID, queue: ActQueueDep, actor: ActorDep) -> None:
    """Remove a worker: its tasks fail, its links and providers are removed, orphaned jobs are retired."""
    await queue.retire_worker(worker_id, actor=actor.id, is_superuser=actor.is_superuser)
