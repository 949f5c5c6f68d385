"""What tests of durable work share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease
from tests.postgres.stage import JOB, Stage

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


async def submit(
    queue: Queue, *after: int, quantity: int = 1, on_failure: Literal["cancel", "run", "hold"] | None = None
) -> list[int]:
    """Numbers of new tasks that run after these."""
    submitted = await queue.submit_tasks(
        JOB, [{}] * quantity, after=list(after) if after else None, on_failure=on_failure
    )
    return [item.task_id for item in submitted]


async def claim_later(stage: Stage, queue: Queue) -> list[int]:
    """What two claims find, each once no transaction is open that an end could hide in."""
    found = []
    for _ in range(2):
        await stage.settle()
        found += [lease.task_id for lease in await claim(queue)]
    return found
