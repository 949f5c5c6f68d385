"""Quotas: what each owner may have in a room, exactly."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from pgjobs.errors import InvalidArgument, QuotaExceeded
from pgjobs.queue.server import ServerQueue as Queue

JOB = "lab:tests:Work"
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def connection(database_url):
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def queue(database_url):
    async with await Queue.connect(database_url, max_size=20) as queue:
        await queue.register_job(*JOB.split(":"), max_attempts=3)
        await queue.register_job("@global", "tests", "Shared")
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


async def claim(queue: Queue, quantity: int = 10, **options):
    return await queue.claim_tasks(holder="me", lease=MINUTE, in_room="lab", quantity=quantity, **options)


async def test_no_more_wait_than_the_quota_says(queue):
    await queue.set_quota("lab", "ada", max_waiting=2)
    await queue.submit_tasks(JOB, [{}, {}], owner="ada")
    with pytest.raises(QuotaExceeded, match="ada in lab may have at most 2 waiting") as refused:
        await queue.submit_task(JOB, owner="ada")
    assert (refused.value.sqlstate, refused.value.retry_after) == ("PJ025", 10)
    await queue.submit_task(JOB, owner="bob")
    await queue.submit_task(JOB)


async def test_what_is_claimed_or_ended_waits_no_longer_and_what_comes_back_does(queue):
    await queue.set_quota("lab", "ada", max_waiting=1)
    await queue.submit_task(JOB, owner="ada")
    [lease] = await claim(queue)
    await queue.submit_task(JOB, owner="ada")
    await queue.release_tasks([lease])
    with pytest.raises(QuotaExceeded):
        await queue.submit_task(JOB, owner="ada")
    await queue.complete_tasks([(lease.task_id, lease.token) for lease in await claim(queue)])
    await queue.submit_task(JOB, owner="ada")


async def test_a_batch_is_taken_whole_or_not_at_all(queue):
    await queue.set_quota("lab", "ada", max_waiting=2)
    with pytest.raises(QuotaExceeded):
        await queue.submit_tasks(JOB, [{}, {}, {}], owner="ada")
    assert await queue.list_tasks() == []


async def test_what_waited_before_the_quota_counts(queue):
    await queue.submit_tasks(JOB, [{}, {}], owner="ada")
    await queue.set_quota("lab", "ada", max_waiting=2)
    with pytest.raises(QuotaExceeded):
        await queue.submit_task(JOB, owner="ada")


async def test_jobs_for_everybody_count_for_the_room_they_are_submitted_from(queue):
    await queue.set_quota("lab", "ada", max_waiting=1)
    await queue.submit_task("@global:tests:Shared", room="lab", owner="ada")
    with pytest.raises(QuotaExceeded):
        await queue.submit_task(JOB, owner="ada")
    await queue.submit_task("@global:tests:Shared", room="other", owner="ada")


async def test_a_job_registered_later_counts(queue):
    await queue.set_quota("lab", "ada", max_waiting=1)
    await queue.register_job("lab", "tests", "Later")
    await queue.submit_task("lab:tests:Later", owner="ada")
    with pytest.raises(QuotaExceeded):
        await queue.submit_task("lab:tests:Later", owner="ada")


async def test_submits_in_a_minute_are_bounded_and_it_says_when_there_is_room(queue, connection):
    await queue.set_quota("lab", "ada", per_minute=2)
    await queue.submit_task(JOB, owner="ada")
    await connection.execute("update pgjobs.test_clock set shift = '40 seconds'")
    await queue.submit_task(JOB, owner="ada")
    with pytest.raises(QuotaExceeded, match="at most 2 a minute") as refused:
        await queue.submit_task(JOB, owner="ada")
    assert 18 <= refused.value.retry_after <= 20
    await queue.complete_tasks([(lease.task_id, lease.token) for lease in await claim(queue)])
    with pytest.raises(QuotaExceeded):
        await queue.submit_task(JOB, owner="ada")
    await connection.execute("update pgjobs.test_clock set shift = '61 seconds'")
    await queue.submit_task(JOB, owner="ada")


async def test_an_idempotent_submit_that_finds_its_task_uses_nothing(queue):
    await queue.set_quota("lab", "ada", max_waiting=1, per_minute=1)
    for _ in range(3):
        await queue.submit_tasks(JOB, [{}], owner="ada", idempotency_keys=["once"])


async def test_the_quota_that_says_most_decides(queue):
    await queue.set_quota(max_waiting=1)
    await queue.set_quota("lab", max_waiting=2)
    await queue.set_quota(owner="ada", max_waiting=3)
    await queue.set_quota("lab", "ada", max_waiting=4)
    await queue.register_job("other", "tests", "Work")

    async def most(room: str, owner: str) -> int:
        for count in range(10):
            try:
                await queue.submit_task(f"{room}:tests:Work", owner=owner)
            except QuotaExceeded:
                return count
        return 10

    places = [("lab", "ada"), ("other", "ada"), ("lab", "bob"), ("other", "bob")]
    assert [await most(*place) for place in places] == [4, 3, 2, 1]
    listed = await queue.list_quotas()
    assert [(quota.room, quota.owner, quota.max_waiting) for quota in listed] == [
        ("lab", "ada", 4), ("", "ada", 3), ("lab", "", 2), ("", "", 1)
    ]  # fmt: skip


async def test_zero_lifts_a_quota_and_the_job_is_as_before(queue, connection):
    await queue.set_quota("lab", max_waiting=1, max_running=1)
    await queue.set_quota("lab", max_waiting=0, max_running=0)
    await queue.submit_tasks(JOB, [{}, {}], owner="ada")
    await queue.submit_task(JOB, owner="ada")
    assert len(await claim(queue)) == 3
    assert await queue.list_quotas() == []
    assert not await connection.fetchval("select bool_or(is_metered or is_capped) from pgjobs.jobs")


async def test_sixty_four_submitters_at_once_stay_within_the_quota(queue):
    await queue.set_quota("lab", "ada", max_waiting=10)

    async def submit() -> bool:
        try:
            await queue.submit_task(JOB, owner="ada")
        except QuotaExceeded:
            return False
        return True

    assert sum(await asyncio.gather(*(submit() for _ in range(64)))) == 10
    assert len(await queue.list_tasks(page_size=100)) == 10


async def test_no_more_run_than_the_quota_says_and_others_pass_by(queue):
    await queue.submit_tasks(JOB, [{}] * 5, owner="ada")
    await queue.submit_tasks(JOB, [{}] * 2, owner="bob")
    await queue.set_quota("lab", "ada", max_running=2)
    leases = await claim(queue)
    assert sorted(lease.owner for lease in leases) == ["ada", "ada", "bob", "bob"]
    assert await claim(queue) == []
    mine = next(lease for lease in leases if lease.owner == "ada")
    await queue.complete_tasks([mine])
    assert [lease.owner for lease in await claim(queue)] == ["ada"]


async def test_running_tasks_of_all_jobs_of_the_owner_count(queue):
    await queue.set_quota("lab", "ada", max_running=1)
    await queue.submit_task(JOB, owner="ada")
    await queue.submit_task("@global:tests:Shared", room="lab", owner="ada")
    assert len(await claim(queue)) == 1
    assert await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global") == []


async def test_a_quota_holds_beside_limits_by_key(queue):
    await queue.limit_job(JOB, max_running_per_key=2)
    await queue.set_quota("lab", "ada", max_running=3)
    await queue.submit_tasks(JOB, [{}] * 8, owner="ada", keys=[f"key {number % 4}" for number in range(8)])
    leases = await claim(queue)
    assert len(leases) == 3
    await queue.set_quota("lab", "ada", max_running=0)
    assert len(leases) + len(await claim(queue)) == 8


async def test_claimers_at_once_stay_within_the_quota(queue):
    await queue.set_quota("lab", max_running=5)
    await queue.submit_tasks(JOB, [{}] * 40, owner="ada")
    taken = await asyncio.gather(*(claim(queue, 3) for _ in range(16)))
    assert sum(len(leases) for leases in taken) == 5


@pytest.mark.parametrize("wrong", [{"max_waiting": -1}, {"per_minute": 10_000_001}])
async def test_a_quota_that_cannot_be_is_refused(queue, wrong):
    with pytest.raises(InvalidArgument, match="between 1 and 10000000"):
        await queue.set_quota("lab", **wrong)
