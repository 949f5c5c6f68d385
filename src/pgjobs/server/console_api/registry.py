"""Jobs, workers and providers for the console: how they stand, and what operators do to them."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from pgjobs.server.api.schemas import Page
from pgjobs.server.auth.credentials import OperatorDep, Reading, ReadQueueDep
from pgjobs.server.console_api.schemas import (
    Because,
    Forgotten,
    JobSeen,
    LimitWanted,
    ProviderSeen,
    WorkerSeen,
)
from pgjobs.server.dependencies import LimitDep, OffsetDep, QueueDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute

router = APIRouter(route_class=ProblemRoute, tags=["console"])

_ACTING = problems("unauthorized", "forbidden", "job-not-found", "job-unavailable", "payload-too-large")


@router.get("/jobs", dependencies=[Reading], responses=problems("unauthorized"))
async def list_jobs(
    queue: ReadQueueDep,
    include_archived: Annotated[bool, Query(description="Also those that were put away.")] = False,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[JobSeen]:
    """Jobs of all rooms with what waits, runs and ended in the last hour; newest first."""
    jobs = await queue.list_jobs(include_archived=include_archived, page_size=limit, page_offset=offset)
    counted = await queue.count_jobs(include_archived=include_archived)
    status = await queue.jobs_status([job.id for job in jobs], with_times=False)
    known = {row.job_id: row for row in status}
    items = await to_thread(lambda: [JobSeen.of(job, known[job.id]) for job in jobs if job.id in known])
    return Page.of(items, counted, limit, offset)


@router.post("/jobs/{job_id}/pause", status_code=204, responses=_ACTING)
async def pause_job(job_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Let claims pass a job by until it is resumed: for superusers."""
    await queue.pause_job(str(job_id), actor=operator.id, reason=body.reason)


@router.post("/jobs/{job_id}/resume", status_code=204, responses=_ACTING)
async def resume_job(job_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Let a paused job go on: for superusers."""
    await queue.resume_job(str(job_id), actor=operator.id, reason=body.reason)


@router.post("/jobs/{job_id}/limit", status_code=204, responses=_ACTING)
async def limit_job(job_id: UUID, body: LimitWanted, queue: QueueDep, operator: OperatorDep) -> None:
    """Limit how many tasks of a job run at once, wherever: for superusers."""
    await queue.limit_job(str(job_id), body.max_running, actor=operator.id, reason=body.reason)


@router.get("/workers/status", dependencies=[Reading], responses=problems("unauthorized"))
async def show_workers(queue: ReadQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0) -> Page[WorkerSeen]:
    """Workers with the first of their jobs and tasks, the silent ones first."""
    workers = await queue.show_workers(page_size=limit, page_offset=offset)
    counted = await queue.count_workers()
    items = await to_thread(lambda: [WorkerSeen.of(worker) for worker in workers])
    return Page.of(items, counted, limit, offset)


@router.get("/providers/status", dependencies=[Reading], responses=problems("unauthorized"))
async def show_providers(
    queue: ReadQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[ProviderSeen]:
    """Providers of all rooms, whether they are heard of, and what of theirs is kept; newest first."""
    providers = await queue.list_providers(page_size=limit, page_offset=offset)
    counted = await queue.count_providers()
    status = await queue.providers_status()
    known = {row.provider: row for row in status}
    items = await to_thread(
        lambda: [ProviderSeen.of(one, known[one.full_name]) for one in providers if one.full_name in known]
    )
    return Page.of(items, counted, limit, offset)


@router.post(
    "/providers/{provider_id}/invalidate",
    responses=problems("unauthorized", "forbidden", "provider-not-found"),
)
async def invalidate_provider(provider_id: UUID, queue: QueueDep, operator: OperatorDep) -> Forgotten:
    """Forget what a provider has answered, so that readers ask again: for superusers."""
    forgotten = await queue.invalidate_provider(str(provider_id), actor=operator.id, is_superuser=True)
    return Forgotten(forgotten=forgotten)
