"""Two connections, one limited job: never more at once than it allows, whoever comes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Queue
from tests.postgres.stage import JOB

OTHER = "@global:tests:Other"
MINUTE = timedelta(minutes=1)


async def take(queue: Queue, quantity: int = 1, **options: Any) -> list[Any]:
    wish: dict[str, Any] = {"holder": "somebody", "lease": MINUTE, "in_room": "@global"}
    return await queue.claim_tasks(**wish | {"quantity": quantity} | options)


@pytest.fixture
async def limited(queue):
    await queue.limit_job(JOB, 3)
    await queue.submit_tasks(JOB, [{}] * 10)


async def test_a_claim_waits_for_the_one_before_and_counts_what_it_took(stage, queue, first, second, limited):
    assert len(await take(first.queue, 2)) == 2
    other = await stage.waits(second, take(second.queue, 2), behind=first)
    await first.commit()
    assert len(await other) == 1
    await second.commit()
    assert await take(queue) == []


async def test_a_claim_that_is_rolled_back_leaves_its_slots(stage, queue, first, second, limited):
    await take(first.queue, 2)
    other = await stage.waits(second, take(second.queue, 3), behind=first)
    await first.rollback()
    assert len(await other) == 3


async def test_a_full_job_keeps_nobody_waiting(stage, queue, first, second, limited):
    await take(queue, 3)
    assert await stage.soon(take(first.queue)) == []
    assert await stage.soon(take(second.queue)) == []


async def test_jobs_without_a_limit_keep_nobody_waiting(stage, queue, first, second, limited):
    await queue.limit_job(JOB)
    assert len(await take(first.queue, 4)) == 4
    assert len(await stage.soon(take(second.queue, 4))) == 4


async def test_claims_from_two_limited_jobs_cannot_wait_for_each_other(stage, queue, first, second, limited):
    """The first of a claim's turns is waited for, further ones are passed by."""
    await queue.register_job(*OTHER.split(":"), max_running=3)
    await queue.submit_tasks(OTHER, [{}] * 10, priority=1)
    jobs = [(await queue.get_job(address)).id for address in (JOB, OTHER)]
    mine = await take(first.queue, 2, in_room=None, job_ids=jobs[:1])
    theirs = await take(second.queue, 2, in_room=None, job_ids=jobs[1:])
    assert (len(mine), len(theirs)) == (2, 2)
    await second.commit()
    both = await stage.enter()
    # The other job's turn is free, this one's is not.
    taken = await stage.soon(take(both.queue, 10, in_room=None, job_ids=jobs))
    assert {lease.job for lease in taken} == {OTHER}
    await first.commit()
    await both.commit()


async def test_a_claim_that_is_left_open_holds_up_nobody_else_for_long(stage, queue, first, second, limited):
    await queue.register_job(*OTHER.split(":"))
    await queue.submit_task(OTHER, priority=9)
    await take(first.queue)
    assert [lease.job for lease in await stage.soon(take(second.queue))] == [OTHER]


async def test_setting_a_limit_counts_what_others_hold(stage, queue, first, second):
    await queue.submit_tasks(JOB, [{}] * 10)
    await take(queue, 4)
    await first.queue.limit_job(JOB, 5)
    assert len(await stage.soon(take(second.queue))) == 1
    await first.commit()
    await second.commit()
    # That claim began before the limit was set; the next sweep counts it.
    await queue.sweep("leases")
    assert await take(queue) == []


async def test_a_crowd_never_holds_more_than_the_limit(database_url, queue, limited):
    await queue.submit_tasks(JOB, [{}] * 90)
    most = 0
    done = 0

    async def work(mine: Queue) -> None:
        nonlocal most, done
        while done < 100:
            leases = await take(mine, 2)
            held = await mine.driver.call("list_tasks", status="claimed", page_size=50)
            most = max(most, len(held))
            if leases:
                await mine.complete_tasks(leases)
                done += len(leases)

    queues = [await Queue.connect(database_url) for _ in range(6)]
    async with asyncio.timeout(60):
        await asyncio.gather(*(work(mine) for mine in queues))
    for mine in queues:
        await mine.close()
    assert done == 100
    assert 1 <= most <= 3
