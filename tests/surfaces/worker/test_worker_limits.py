"""Limits across workers: as many at once as the job allows, and the next as soon as one has ended."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from pgjobs import Jobs, Queue, Worker


async def test_workers_together_keep_to_the_limit(url: str, queue: Queue, jobs: Jobs):
    running = most = 0

    @jobs.task(max_running=2)
    async def together() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1

    handles = await together.submit_many([together.payload() for _ in range(30)])
    other = await Queue.connect(url)
    async with Worker(queue, jobs), Worker(other, jobs):
        for handle in handles:
            await handle.result(timeout=30)
    await other.close()
    assert most == 2


async def test_whoever_waits_for_a_slot_is_woken_when_one_comes_free(queue: Queue, jobs: Jobs):
    ended: list[float] = []

    @jobs.task(max_running=1)
    async def alone() -> None:
        await asyncio.sleep(0.05)
        ended.append(time.monotonic())

    handles = await alone.submit_many([alone.payload() for _ in range(5)])
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        for handle in handles:
            await handle.result(timeout=20)
    assert len(ended) == 5


async def test_a_slot_that_a_stranger_frees_wakes_the_worker(queue: Queue, jobs: Jobs):
    @jobs.task(max_running=1)
    async def alone() -> None: ...

    await jobs.register()
    await alone.submit()
    [held] = await queue.claim_tasks(holder="stranger", lease=timedelta(minutes=1), in_room="@global")
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        waiting = await alone.submit()
        await asyncio.sleep(0.3)
        assert await waiting.status() == "pending"
        await queue.complete_task(held)
        await waiting.result(timeout=30)


async def test_a_slot_that_is_given_back_for_later_wakes_the_worker(queue: Queue, jobs: Jobs):
    @jobs.task(max_running=1)
    async def alone() -> None: ...

    await jobs.register()
    await alone.submit()
    [held] = await queue.claim_tasks(holder="stranger", lease=timedelta(minutes=1), in_room="@global")
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        waiting = await alone.submit()
        await asyncio.sleep(0.3)
        assert await waiting.status() == "pending"
        await queue.release_task(held, delay=timedelta(hours=1))
        await waiting.result(timeout=30)
