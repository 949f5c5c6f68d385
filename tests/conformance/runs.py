"""Runs that did not complete, by verbs alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.stages import claim

RUNS = "lab:backups:nightly"
WEEK = timedelta(days=7)
NOWHERE = {"type": "local_dir", "base_dir": "/nowhere"}


async def register_runs(queue: Queue, target: Any = NOWHERE, job: str = RUNS, **options: Any) -> str:
    await queue.register_job(*job.split(":", 2))
    if target is not None:
        await queue.set_job_target(job, target, **options)
    return job


async def failed_run(queue: Queue, job: str = RUNS, **options: Any) -> UUID:
    """A run that started and failed."""
    submitted = await queue.submit_task(job, **options)
    lease = await claim(queue, job, start=True)
    assert lease.task_id == submitted.task_id
    assert (await queue.fail_task(lease, "broken")).status == "failed"
    return (await queue.get_task(lease.task_id)).uuid


async def cleanup_of(queue: Queue, clock: Any, **options: Any) -> UUID:
    """A failed run whose cleanup task is queued."""
    run = await failed_run(queue, await register_runs(queue, **options))
    await clock.advance(WEEK)
    assert await queue.reconcile_cleanups() == 1
    return run


async def statuses(queue: Queue) -> dict[UUID, str]:
    return {task.run_id: task.status for task in await queue.list_cleanups()}


async def kinds(queue: Queue, run: UUID) -> list[str]:
    return [event.kind for event in await queue.list_cleanup_events(run)]


async def fail(queue: Queue, kind: str = "network", error: str = "no route") -> None:
    (lease,) = await queue.claim_cleanups("cleaner", node_id="hub")
    await queue.fail_task(lease.held, error, kind=kind)


async def finish(queue: Queue, outcome: str = "deleted") -> None:
    (lease,) = await queue.claim_cleanups("cleaner")
    await queue.complete_task(lease.held, {"outcome": outcome})
