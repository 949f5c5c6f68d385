"""Two connections, one limited job: never more at once than it allows, whoever comes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from pgjobs.errors import InvalidArgument
from pgjobs.queue.server import ServerQueue as Queue
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


async def test_a_turn_that_brought_nothing_is_given_back(stage, queue, first, second, limited):
    """Else two claims could have a turn each, and wait for the other's."""
    await take(first.queue, 3)
    empty = await stage.waits(second, take(second.queue), behind=first)
    await first.commit()
    assert await empty == []
    advisory = "select count(*) from pg_locks where locktype = 'advisory' and pid = $1"
    assert await stage.watcher.fetchval(advisory, second.pid) == 0


async def test_a_claim_waits_for_one_turn_only(stage, queue, first, second, limited):
    await queue.register_job(*OTHER.split(":"), max_running=3)
    for priority in (1, 9):
        await queue.submit_tasks(JOB, [{}] * 10, priority=priority)
        await queue.submit_tasks(OTHER, [{}] * 10, priority=priority)
    assert {lease.job for lease in await take(first.queue, 2)} <= {JOB, OTHER}
    jobs = [(await queue.get_job(address)).id for address in (JOB, OTHER)]
    for job in jobs:
        await take(first.queue, in_room=None, job_ids=[job])
    began = await second.connection.fetchval("select clock_timestamp()")
    assert await stage.soon(take(second.queue, 10)) == []
    took = await second.connection.fetchval("select clock_timestamp() - $1", began)
    # A turn is waited for half a second; six lanes, looked at twice, would be six of those.
    assert took < timedelta(seconds=2)


async def test_a_limit_is_kept_only_where_others_are_seen(stage, queue, limited):
    actor = await stage.enter()
    await actor.rollback()
    async with actor.connection.transaction(isolation="repeatable_read"):
        with pytest.raises(InvalidArgument, match="READ COMMITTED"):
            await take(actor.queue)
    await queue.limit_job(JOB)
    async with actor.connection.transaction(isolation="repeatable_read"):
        assert len(await take(actor.queue)) == 1


async def test_only_those_who_wait_for_the_freed_slot_are_woken(stage, queue, limited):
    await queue.register_job(*OTHER.split(":"), max_running=1)
    await queue.submit_tasks(OTHER, [{}] * 2)
    [mine] = await take(queue, in_room=None, job_ids=[(await queue.get_job(JOB)).id])
    marks = "select count(*) from pgjobs.waiting_marks"
    for address in (JOB, OTHER):
        worker = await queue.register_worker(address, jobs=[address])
        await queue.mark_waiting(worker.id)
    assert await stage.watcher.fetchval(marks) == 2
    await queue.sweep("leases")
    assert await stage.watcher.fetchval(marks) == 2
    await queue.fail_task(mine, "try again", retryable=True)
    assert await stage.watcher.fetchval(marks) == 1


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
