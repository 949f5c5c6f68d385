"""Jobs, workers and providers for the console: their status, and the actions of operators."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from pgjobs.errors import JobNotFound
from pgjobs.queue.records import Counted
from pgjobs.server.api.schemas import Page
from pgjobs.server.auth.credentials import OperatorDep, Reading, ReadQueueDep
from pgjobs.server.console_api.job_schemas import JobSeen, KeySeen, LimitWanted, SharingSeen, SharingWanted
from pgjobs.server.console_api.schemas import Because, Forgotten, ProviderSeen, WorkerSeen
from pgjobs.server.console_api.worker_schemas import WorkerInFull
from pgjobs.server.dependencies import LimitDep, OffsetDep, QueueDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["console"])

_FINDING = problems("unauthorized", "forbidden", "job-not-found")
_ACTING = problems("unauthorized", "forbidden", "job-not-found", "job-unavailable", "payload-too-large")


@router.get("/jobs", dependencies=[Reading], responses=problems("unauthorized"))
async def list_jobs(
    queue: LookQueueDep,
    include_archived: Annotated[bool, Query(description="Include archived jobs.")] = False,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[JobSeen]:
    """Jobs of all rooms with counts of their tasks; newest first."""
    jobs = await queue.list_jobs(include_archived=include_archived, page_size=limit, page_offset=offset)
    counted = await queue.count_jobs(include_archived=include_archived)
    status = await queue.jobs_status([job.id for job in jobs], with_times=False)
    known = {row.job_id: row for row in status}
    items = await to_thread(lambda: [JobSeen.of(job, known[job.id]) for job in jobs if job.id in known])
    return Page.of(items, counted, limit, offset)


@router.get(
    "/jobs/{job_id:path}/details", dependencies=[Reading], responses=problems("unauthorized", "job-not-found")
)
async def inspect_job(queue: LookQueueDep, job_id: Annotated[str, Path(max_length=700)]) -> JobSeen:
    """One job, by its id or full name."""
    found = await queue.get_job(job_id)
    status = await queue.jobs_status([found.id], with_times=False)
    if not status:
        raise JobNotFound(f"Job {job_id} does not exist")
    return await to_thread(JobSeen.of, found, status[0])


@router.post("/jobs/{job_id}/pause", status_code=204, responses=_ACTING)
async def pause_job(job_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Pause a job: its tasks wait until it is resumed. For superusers."""
    await queue.pause_job(str(job_id), actor=operator.id, reason=body.reason)


@router.post("/jobs/{job_id}/resume", status_code=204, responses=_ACTING)
async def resume_job(job_id: UUID, body: Because, queue: QueueDep, operator: OperatorDep) -> None:
    """Resume a paused job. For superusers."""
    await queue.resume_job(str(job_id), actor=operator.id, reason=body.reason)


@router.post("/jobs/{job_id}/limit", status_code=204, responses=_ACTING)
async def limit_job(job_id: UUID, body: LimitWanted, queue: QueueDep, operator: OperatorDep) -> None:
    """Set or remove a job's concurrency limit. For superusers."""
    await queue.limit_job(str(job_id), body.max_running, actor=operator.id, reason=body.reason)


@router.get("/jobs/{job_id}/sharing", dependencies=[Reading], responses=_FINDING)
async def get_sharing(job_id: UUID, queue: LookQueueDep) -> SharingSeen | None:
    """How a job shares what it may run; null for one that does not."""
    sharing = await queue.get_sharing(str(job_id))
    return None if sharing is None else SharingSeen.model_validate(sharing, from_attributes=True)


@router.post("/jobs/{job_id}/sharing", status_code=204, responses=_ACTING)
async def share_job(job_id: UUID, body: SharingWanted, queue: QueueDep, operator: OperatorDep) -> None:
    """Change limits and rates by key, turns and order of a job: for superusers."""
    wanted = body.model_dump(exclude={"reason"}, exclude_none=True)
    if wanted:
        await queue.limit_job(str(job_id), actor=operator.id, reason=body.reason, **wanted)


@router.get("/jobs/{job_id}/keys", dependencies=[Reading], responses=_FINDING)
async def list_keys(
    job_id: UUID,
    queue: LookQueueDep,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: Annotated[str | None, Query(max_length=200, description="Only keys after this one.")] = None,
) -> list[KeySeen]:
    """Keys of a job in order of name: who waits, who runs, and what stops them."""
    keys = await queue.list_keys(str(job_id), after=after, page_size=limit)
    return [KeySeen.model_validate(key, from_attributes=True) for key in keys]


@router.get("/workers/status", dependencies=[Reading], responses=problems("unauthorized", "job-not-found"))
async def show_workers(
    queue: LookQueueDep,
    job: Annotated[str | None, Query(max_length=700, description="Only those that serve this job.")] = None,
    limit: LimitDep = 50,
    offset: OffsetDep = 0,
) -> Page[WorkerSeen]:
    """Workers with the first of their jobs and tasks, silent workers first."""
    workers = await queue.show_workers(page_size=limit, page_offset=offset, of_job=job)
    counted = await queue.count_workers() if job is None else Counted(offset + len(workers), "eq")
    items = await to_thread(lambda: [WorkerSeen.of(worker) for worker in workers])
    return Page.of(items, counted, limit, offset)


@router.get(
    "/workers/{worker_id}/details",
    dependencies=[Reading],
    responses=problems("unauthorized", "worker-not-found"),
)
async def inspect_worker(worker_id: UUID, queue: LookQueueDep) -> WorkerInFull:
    """One worker: the jobs it serves, the tasks it holds with their leases, and its newest errors."""
    [worker] = await queue.driver.call("inspect_worker", worker_id=worker_id)
    return await to_thread(WorkerInFull.of, worker)


@router.get("/providers/status", dependencies=[Reading], responses=problems("unauthorized"))
async def show_providers(
    queue: ReadQueueDep, limit: LimitDep = 50, offset: OffsetDep = 0
) -> Page[ProviderSeen]:
    """Providers of all rooms, whether they are alive, and their cached answers; newest first."""
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
    """Remove the cached answers of a provider, so that readers ask again. For superusers."""
    forgotten = await queue.invalidate_provider(str(provider_id), actor=operator.id, is_superuser=True)
    return Forgotten(forgotten=forgotten)
