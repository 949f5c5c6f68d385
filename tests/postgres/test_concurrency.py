"""Many claimers over many tasks: each task once, none lost."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from datetime import timedelta

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Task

JOBS = [f"@global:tests:Job {number}" for number in range(4)]
CLAIMERS = 64
TASKS = int(os.environ.get("PGJOBS_SOAK_CLAIMED", "20000"))
BATCH = 1_000


async def test_sixty_four_claimers_take_very_many_tasks_each_once(database_url):
    async with await Queue.connect(database_url, min_size=CLAIMERS, max_size=CLAIMERS) as queue:
        for job in JOBS:
            await queue.register_job(*job.split(":"))
        for start in range(0, TASKS, BATCH):
            await queue.submit_tasks(
                JOBS[start // BATCH % len(JOBS)], [{}] * BATCH, priority=1 + start // BATCH % 3
            )
        claims = await asyncio.gather(*(_work(queue, f"claimer {number}") for number in range(CLAIMERS)))
        taken = Counter(task_id for tasks in claims for task_id in tasks)
        assert len(taken) == TASKS
        assert set(taken.values()) == {1}
        assert sum(1 for tasks in claims if tasks) > CLAIMERS // 2
        assert [rule for rule in await queue.check() if rule.violations] == []
        assert await queue.list_tasks(status="pending", page_size=1) == []
        assert await queue.list_tasks(status="claimed", page_size=1) == []


async def test_workers_that_come_fail_and_go_lose_nothing(database_url):
    async with await Queue.connect(database_url, min_size=16, max_size=16) as queue:
        await queue.register_job(
            *JOBS[0].split(":"), max_attempts=10_000, backoff_base=timedelta(0), jitter_share=0.0
        )
        await queue.submit_tasks(JOBS[0], [{}] * 3_000)
        await asyncio.gather(*(_struggle(queue, number) for number in range(16)))
        # What came back last may have come after everybody had looked.
        while await queue.list_tasks(status="pending", page_size=1):
            await _struggle(queue, 0)
        tasks: list[Task] = []
        while page := await queue.list_tasks(page_size=500, before=tasks[-1].id if tasks else None):
            tasks += page
        assert Counter(task.status for task in tasks) == {"completed": 3_000}
        assert [rule for rule in await queue.check() if rule.violations] == []


async def _work(queue: Queue, holder: str) -> list[int]:
    """Claims and completes until nothing is left, and tells what it got."""
    taken: list[int] = []
    while leases := await queue.claim_tasks(
        holder=holder, lease=timedelta(minutes=30), in_room="@global", quantity=100
    ):
        taken += [lease.task_id for lease in leases]
        answers = await queue.complete_tasks(leases)
        assert {answer.problem for answer in answers} == {None}
    return taken


async def _struggle(queue: Queue, number: int) -> None:
    """Completes most, fails and releases some, and now and then dies with work in hand."""
    worker = await queue.register_worker(jobs=[JOBS[0]])
    rounds = 0
    while leases := await queue.claim_tasks(worker.id, quantity=20):
        rounds += 1
        if (rounds + number) % 7 == 0:
            successor = await queue.register_worker(jobs=[JOBS[0]])
            await queue.retire_worker(worker.id)
            worker = successor
            continue
        good, bad, back = leases[:14], leases[14:17], leases[17:]
        answers = await asyncio.gather(
            queue.complete_tasks(good),
            queue.fail_tasks(bad, ["broken"] * len(bad)),
            queue.release_tasks(back),
        )
        assert {answer.problem for batch in answers for answer in batch} <= {None}
