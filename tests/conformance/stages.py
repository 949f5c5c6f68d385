"""Brings a task into a status, by verbs alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Staged:
    """A task in some status, with the lease that brought it there."""

    id: int
    lease: Lease | None = None

    @property
    def held(self) -> Lease:
        assert self.lease is not None
        return self.lease


async def claim(queue: Queue, job: str, **options: Any) -> Lease:
    """The next due task of a job, leased for a minute to somebody who is not registered."""
    leases = await claim_all(queue, job, quantity=1, **options)
    assert len(leases) == 1
    return leases[0]


async def claim_all(queue: Queue, job: str, **options: Any) -> list[Lease]:
    job_id = (await queue.get_job(job)).id
    wish: dict[str, Any] = {"holder": "somebody", "lease": MINUTE, "job_ids": [job_id], "quantity": 500}
    return await queue.claim_tasks(**wish | options)


async def pending(queue: Queue, job: str) -> Staged:
    return Staged((await queue.submit_task(job)).task_id)


async def scheduled(queue: Queue, job: str) -> Staged:
    return Staged((await queue.submit_task(job, delay=timedelta(hours=1))).task_id)


async def retrying(queue: Queue, job: str) -> Staged:
    task = await claimed(queue, job)
    assert (await queue.fail_task(task.held, "broken")).status == "pending"
    return task


async def claimed(queue: Queue, job: str) -> Staged:
    task = await pending(queue, job)
    lease = await claim(queue, job)
    assert lease.task_id == task.id
    return Staged(task.id, lease)


async def running(queue: Queue, job: str) -> Staged:
    task = await claimed(queue, job)
    await queue.start_task(task.held)
    return task


async def completed(queue: Queue, job: str) -> Staged:
    task = await running(queue, job)
    await queue.complete_task(task.held, {"ok": True})
    return task


async def failed(queue: Queue, job: str) -> Staged:
    task = await running(queue, job)
    assert (await queue.fail_task(task.held, "broken", retryable=False)).status == "failed"
    return task


async def cancelled(queue: Queue, job: str) -> Staged:
    task = await pending(queue, job)
    await queue.cancel_task(task.id)
    return task


async def ignored(queue: Queue, job: str) -> Staged:
    task = await pending(queue, job)
    await queue.ignore_task(task.id)
    return task


Stage = Callable[[Queue, str], Awaitable[Staged]]
STAGES: dict[str, Stage] = {
    stage.__name__: stage
    for stage in (pending, scheduled, retrying, claimed, running, completed, failed, cancelled, ignored)
}
STATUS_OF = {name: "pending" if name in ("scheduled", "retrying") else name for name in STAGES}

ACKNOWLEDGEMENTS: dict[str, Callable[[Queue, Any], Awaitable[Any]]] = {
    "start": lambda queue, held: queue.start_tasks([held]),
    "progress": lambda queue, held: queue.report_progress([held], [{"done": 0.5}]),
    "renew": lambda queue, held: queue.renew_tasks([held], MINUTE),
    "complete": lambda queue, held: queue.complete_tasks([held], [{"late": True}]),
    "fail": lambda queue, held: queue.fail_tasks([held], ["late"]),
    "release": lambda queue, held: queue.release_tasks([held]),
}
"""Every verb that needs the current token, as a batch of one."""
