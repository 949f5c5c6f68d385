"""What tests of durable work share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease
from tests.postgres.stage import JOB

MINUTE = timedelta(minutes=1)


async def claim(queue: Queue, quantity: int = 100) -> list[Lease]:
    return await queue.claim_tasks(
        holder="me", lease=MINUTE, in_room="@global", quantity=quantity, start=True
    )


async def begin(queue: Queue, **options: Any) -> Lease:
    """A task that runs."""
    await queue.submit_task(JOB, **options)
    return (await claim(queue))[0]


async def end_all(queue: Queue) -> list[int]:
    """Claims and completes until nothing is due; the numbers in the order of claims."""
    ended = []
    while leases := await claim(queue):
        await queue.complete_tasks(leases)
        ended += [lease.task_id for lease in leases]
    return ended


async def standing(queue: Queue, task_id: int) -> tuple[str, str | None]:
    task = await queue.get_task(task_id)
    return task.status, task.phase
