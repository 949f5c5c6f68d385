"""Runs that did not complete, in a queue that cleans up at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from pgjobs.contrib.cleanup import CleanupRunner, Outcome, Run
from pgjobs.queue.server import ServerQueue as Queue

RUNS = "lab:backups:nightly"
HOUR = timedelta(hours=1)


async def clean_up_at_once(url: str) -> None:
    """What an operator would set: anything that ended is old enough."""
    other = await asyncpg.connect(url)
    await other.execute("update pgjobs.settings set cleanup_after = '1 microsecond'")
    await other.close()


async def incomplete_runs(
    queue: Queue, url: str, quantity: int = 1, *, job: str = RUNS, target: Any = None, node_id: str = "hub"
) -> list[UUID]:
    """Failed runs with a queued cleanup task each."""
    await clean_up_at_once(url)
    registered = await queue.register_job(*job.split(":", 2))
    await queue.set_job_target(job, target or {"type": "local_dir", "base_dir": "/nowhere"}, node_id=node_id)
    submitted = await queue.submit_tasks(job, [{}] * quantity)
    leases = await queue.claim_tasks(
        holder="somebody", lease=HOUR, job_ids=[registered.job_id], quantity=quantity, start=True
    )
    await queue.fail_tasks(leases, ["broken"] * quantity)
    while await queue.reconcile_cleanups():
        pass
    return [(await queue.get_task(task.task_id)).uuid for task in submitted]


class Failing:
    """A cleaner that cannot."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def clean(self, _run: Run) -> Outcome:
        raise self._error


async def tick(queue: Queue, **cleaners: Any) -> int:
    return await CleanupRunner(queue, cleaners or None).tick()
