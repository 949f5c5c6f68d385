"""Maintenance over HTTP: cleanup tasks, and archiving or deleting jobs."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from pgjobs.errors import TaskNotFound
from pgjobs.server.api.cleanups import (
    CleanupBulk,
    CleanupBulkDone,
    CleanupDetail,
    CleanupNodes,
    CleanupPage,
    IgnoreIn,
    WantedDep,
)
from pgjobs.server.auth.credentials import ActorDep, current_superuser
from pgjobs.server.dependencies import QueueDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookActQueueDep

router = APIRouter(prefix="/api", route_class=ProblemRoute, tags=["maintenance"])

_CLEANUPS = "/maintenance/incomplete-cleanup"
_CHANGES: dict[str, Any] = {
    "status_code": 204,
    "responses": problems("unauthorized", "forbidden", "task-not-found", "invalid-task-transition"),
}
_JOBS: dict[str, Any] = {
    "status_code": 204,
    "responses": problems("unauthorized", "forbidden", "job-not-found", "job-unavailable"),
}


async def superuser_id(user: Annotated[Any, Depends(current_superuser)]) -> str:
    """Who changes something; maintenance is for superusers."""
    return str(user.id)


async def run_of(run_id: str) -> UUID:
    try:
        return UUID(run_id)
    except ValueError:
        raise TaskNotFound(f"Run {run_id[:100]!r} has no cleanup task") from None


SuperuserDep = Annotated[str, Depends(superuser_id)]
RunDep = Annotated[UUID, Depends(run_of)]


@router.get(_CLEANUPS, responses=problems("unauthorized", "forbidden", "invalid-filter"))
async def list_cleanups(queue: LookActQueueDep, _actor: ActorDep, wanted: WantedDep) -> CleanupPage:
    """List cleanup tasks, next due first."""
    found = await queue.find_cleanups(
        statuses=wanted.statuses,
        target_types=wanted.target_types,
        of_node=wanted.node_id,
        of_job=wanted.job_id,
        of_kind=wanted.error_kind,
        page_size=wanted.page_size,
        page_offset=(wanted.page - 1) * wanted.page_size,
    )
    return CleanupPage.of(found, wanted.page, wanted.page_size)


# Before the runs, whose ids it is none of.
@router.get(_CLEANUPS + "/nodes", responses=problems("unauthorized", "forbidden"))
async def list_cleanup_nodes(queue: LookActQueueDep, _actor: ActorDep) -> CleanupNodes:
    """Which node cleans up what, and where no process does."""
    return CleanupNodes.of(await queue.list_cleanup_nodes())


@router.post(_CLEANUPS + "/actions", responses=problems("unauthorized", "forbidden", "payload-too-large"))
async def act_on_cleanups(body: CleanupBulk, queue: QueueDep, actor: SuperuserDep) -> CleanupBulkDone:
    """Retry or ignore many cleanups, at most 500 in one request; those that do not allow it are skipped."""
    rows = await queue.driver.call(
        "act_on_cleanups",
        step=body.verb,
        run_ids=body.run_ids,
        actor=actor,
        reason=body.reason,
        dry_run=body.dry_run,
    )
    refused = sum(row["problem"] is not None for row in rows)
    return CleanupBulkDone(changed=len(rows) - refused, refused=refused)


@router.get(_CLEANUPS + "/{run_id}", responses=problems("unauthorized", "forbidden", "task-not-found"))
async def get_cleanup(_actor: ActorDep, run: RunDep, queue: LookActQueueDep) -> CleanupDetail:
    """One cleanup task and what happened to it."""
    return CleanupDetail.of(await queue.get_cleanup(run), await queue.list_cleanup_events(run))


@router.post(_CLEANUPS + "/{run_id}/retry-now", **_CHANGES)
async def retry_cleanup(actor: SuperuserDep, run: RunDep, queue: QueueDep) -> None:
    """Retry a cleanup now, with all attempts again."""
    await queue.retry_cleanup(run, actor=actor)


@router.post(_CLEANUPS + "/{run_id}/ignore", **_CHANGES)
async def ignore_cleanup(
    actor: SuperuserDep, run: RunDep, queue: QueueDep, body: IgnoreIn | None = None
) -> None:
    """Ignore a cleanup until it is retried or unignored."""
    await queue.ignore_cleanup(run, actor=actor, reason=body.reason if body else None)


@router.post(_CLEANUPS + "/{run_id}/unignore", **_CHANGES)
async def unignore_cleanup(actor: SuperuserDep, run: RunDep, queue: QueueDep) -> None:
    """Stop ignoring a cleanup."""
    await queue.unignore_cleanup(run, actor=actor)


@router.post("/jobs/{job:path}/archive", **_JOBS)
async def archive_job(job: str, queue: QueueDep, actor: SuperuserDep) -> None:
    """Archive a job, by id or address: it accepts and hands out no tasks and is hidden; its history stays."""
    await queue.archive_job(job, actor=actor)


@router.post("/jobs/{job:path}/unarchive", **_JOBS)
async def unarchive_job(job: str, queue: QueueDep, actor: SuperuserDep) -> None:
    """Restore an archived job."""
    await queue.unarchive_job(job, actor=actor)


@router.delete("/jobs/{job:path}", **_JOBS)
async def delete_job(job: str, queue: QueueDep, actor: SuperuserDep) -> None:
    """Delete a job permanently, with its tasks, their history and their cleanup tasks."""
    await queue.delete_job(job, actor=actor)
