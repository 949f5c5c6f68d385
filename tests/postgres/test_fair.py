"""Keys that take turns, order within a key, and rates."""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta

import pytest

from pgjobs import Queue
from tests.postgres.stage import JOB
from tests.postgres.test_sharing import MINUTE, end, keys_of, submit, take

BACKLOG = int(os.environ.get("PGJOBS_TEST_BACKLOG", "2000"))
SMALL = int(os.environ.get("PGJOBS_TEST_SMALL_KEYS", "10"))


@pytest.fixture
async def fair(queue):
    await queue.limit_job(JOB, fair=True)


@pytest.fixture
async def ordered(queue):
    await queue.limit_job(JOB, ordered=True)


async def one_by_one(queue: Queue, quantity: int) -> str:
    return "".join([keys_of(await take(queue, 1)) for _ in range(quantity)])


async def test_keys_take_turns_whatever_the_backlog_of_one(queue, fair):
    await submit(queue, "aaaaaaaa")
    await submit(queue, "bbcc")
    taken = await one_by_one(queue, 6)
    assert Counter(taken) == {"a": 2, "b": 2, "c": 2}
    assert await one_by_one(queue, 6) == "aaaaaa"


async def test_a_batch_takes_turns_as_well(queue, fair):
    await submit(queue, "aaaaaaaaaabbbc")
    assert Counter(keys_of(await take(queue, 6))) == {"a": 3, "b": 2, "c": 1}


async def test_a_key_that_comes_later_is_served_in_the_next_round(queue, fair):
    await submit(queue, "aaaabbbb")
    await one_by_one(queue, 2)
    await submit(queue, "c")
    assert "c" in await one_by_one(queue, 3)


async def test_a_key_has_as_many_tasks_in_a_turn_as_its_weight(queue, fair):
    await queue.limit_job(JOB, weights={"a": 3})
    await submit(queue, "a" * 9 + "b" * 9)
    assert Counter(await one_by_one(queue, 8)) == {"a": 6, "b": 2}
    await queue.limit_job(JOB, weights={"a": 1})
    assert Counter(await one_by_one(queue, 5)) <= Counter({"a": 3, "b": 3})


async def test_weights_count_in_batches(queue, fair):
    await queue.limit_job(JOB, weights={"a": 3})
    await submit(queue, "a" * 9 + "b" * 9)
    assert Counter(keys_of(await take(queue, 8))) == {"a": 6, "b": 2}


async def test_a_key_without_room_is_passed_by(queue):
    await queue.limit_job(JOB, fair=True, max_running_per_key=1)
    await submit(queue, "aaabbb")
    held = await take(queue, 1)
    assert await one_by_one(queue, 3) in ("a", "b")
    await end(queue, held)
    assert await one_by_one(queue, 1) == keys_of(held)


async def test_small_keys_are_served_within_two_rounds_of_a_large_one(queue, fair):
    large = ["large"] * BACKLOG
    for start in range(0, BACKLOG, 5000):
        batch = large[start : start + 5000]
        await queue.submit_tasks(JOB, [{"key": key} for key in batch], keys=batch)
    small = [f"small {number}" for number in range(SMALL)] * 10
    await queue.submit_tasks(JOB, [{"key": key} for key in small], keys=small)
    served: Counter[str] = Counter()
    rounds = 0
    while sum(served.values()) - served["large"] < len(small):
        leases = await take(queue, SMALL + 1 if SMALL < 30 else 30)
        await queue.complete_tasks(leases)
        served.update(lease.payload["key"] for lease in leases)
        rounds = served["large"]
        for key in set(small):
            assert served[key] >= min(10, rounds - 2)
    assert rounds <= 12


async def test_a_claim_reads_no_more_with_more_waiting_and_with_more_keys(stage, queue, fair):
    """Rows that a claim of one looks at, in the plans of its statements."""

    async def reads() -> int:
        async with stage.watcher.transaction():
            await stage.watcher.execute("select pg_stat_clear_snapshot()")
            before = await stage.watcher.fetchval(READS)
            await stage.watcher.execute(CLAIM)
            return int(await stage.watcher.fetchval(READS) - before)

    await stage.watcher.execute("select pgjobs.limit_job($1, fair => true)", JOB)
    await submit(queue, "ab")
    few = await reads()
    keys = [f"key {number % 500}" for number in range(3000)]
    await queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys)
    assert await reads() <= few + 20


READS = """
select coalesce(sum(seq_tup_read), 0) + coalesce(sum(idx_tup_fetch), 0)
from pg_stat_xact_user_tables
where schemaname = 'pgjobs' and relname in ('ready', 'key_turns', 'tasks', 'leases', 'scheduled')
"""
CLAIM = "select * from pgjobs.claim_tasks(holder => 'me', lease => '1 hour', in_room => '@global')"


async def test_ordered_tasks_run_one_at_a_time_in_order_of_submission(queue, ordered):
    first, second, third = await submit(queue, "aaa")
    for task in (first, second, third):
        [lease] = await take(queue)
        assert lease.task_id == task
        assert await take(queue) == []
        await queue.complete_task(lease)


async def test_order_is_of_submission_whatever_the_priority(queue, ordered):
    [first] = await submit(queue, "a", priority=9)
    await submit(queue, "a", priority=1)
    assert [lease.task_id for lease in await take(queue)] == [first]


async def test_a_task_that_is_retried_keeps_its_key_waiting(stage, queue, ordered):
    first, _ = await submit(queue, "aa")
    [lease] = await take(queue)
    await queue.fail_task(lease, "broken")
    assert await take(queue) == []
    await stage.advance(hours=1)
    assert [lease.task_id for lease in await take(queue)] == [first]


async def test_a_task_that_is_retried_can_let_the_next_go(stage, queue):
    await queue.limit_job(JOB, ordered=True, on_failure="skip")
    first, second = await submit(queue, "aa")
    [lease] = await take(queue)
    await queue.fail_task(lease, "broken")
    [lease] = await take(queue)
    assert lease.task_id == second
    await stage.advance(hours=1)
    assert await take(queue, lease=timedelta(hours=5)) == []
    await queue.sweep("leases")
    assert [lease.task_id for lease in await take(queue)] == [first]


async def test_a_task_that_failed_for_good_lets_the_next_go(queue, ordered):
    _, second = await submit(queue, "aa")
    [lease] = await take(queue)
    await queue.fail_task(lease, "broken", retryable=False)
    assert [lease.task_id for lease in await take(queue)] == [second]


async def test_a_task_due_later_keeps_those_waiting_that_were_submitted_after_it(stage, queue, ordered):
    [later] = await submit(queue, "a", delay=MINUTE)
    await submit(queue, "a")
    assert await take(queue) == []
    await stage.advance(minutes=2)
    assert [lease.task_id for lease in await take(queue)] == [later]


async def test_a_task_due_later_keeps_nobody_waiting_that_was_submitted_before_it(queue, ordered):
    [now] = await submit(queue, "a")
    await submit(queue, "a", delay=MINUTE)
    assert [lease.task_id for lease in await take(queue)] == [now]


async def test_without_order_a_task_due_later_keeps_nobody_waiting(queue, fair):
    await submit(queue, "a", delay=MINUTE)
    [now] = await submit(queue, "a")
    assert [lease.task_id for lease in await take(queue)] == [now]


@pytest.mark.parametrize("step", ["cancel_task", "ignore_task"])
async def test_a_task_that_waited_first_and_is_taken_away_lets_the_next_go(queue, ordered, step):
    [later] = await submit(queue, "a", delay=MINUTE)
    [second] = await submit(queue, "a")
    assert await take(queue) == []
    await getattr(queue, step)(later)
    assert [lease.task_id for lease in await take(queue)] == [second]


async def test_a_rate_hands_out_no_more_than_its_count_in_any_window(stage, queue):
    await queue.limit_job(JOB, rate="3/min")
    await submit(queue, "aaaabbbb")
    assert len(await take(queue, 2)) == 2
    await stage.advance(seconds=30)
    assert len(await take(queue)) == 1
    await stage.advance(seconds=29)
    assert await take(queue) == []
    await stage.advance(seconds=2)
    assert len(await take(queue)) == 2
    assert await take(queue) == []


async def test_a_rate_of_a_key_leaves_the_others_alone(stage, queue):
    await queue.limit_job(JOB, rate_per_key="2/10s")
    await submit(queue, "aaaab")
    assert Counter(keys_of(await take(queue))) == {"a": 2, "b": 1}
    assert await take(queue) == []
    await stage.advance(seconds=11)
    assert keys_of(await take(queue)) == "aa"


async def test_whoever_waits_is_told_when_a_rate_has_room_again(stage, queue):
    await queue.limit_job(JOB, rate_per_key="1/min")
    await submit(queue, "aa")
    await take(queue)
    await take(queue)
    now = await stage.watcher.fetchval("select pgjobs._now()")
    mark = await queue.mark_waiting(in_room="@global")
    assert mark.next_due_at is not None
    assert timedelta(seconds=50) < mark.next_due_at - now <= MINUTE


async def test_whoever_waits_is_told_when_the_rate_of_a_job_has_room_again(stage, queue):
    await queue.limit_job(JOB, rate="1/min")
    await submit(queue, "aa")
    await take(queue)
    now = await stage.watcher.fetchval("select pgjobs._now()")
    mark = await queue.mark_waiting(in_room="@global")
    assert mark.next_due_at is not None
    assert timedelta(seconds=50) < mark.next_due_at - now <= MINUTE


async def test_a_rate_can_be_lifted(queue):
    await queue.limit_job(JOB, rate="1/h")
    await submit(queue, "aaa")
    await take(queue)
    await queue.limit_job(JOB, rate="none")
    assert len(await take(queue)) == 2


async def test_notes_of_claims_are_forgotten_when_no_window_reaches_back(stage, queue):
    await queue.limit_job(JOB, rate="100/min", rate_per_key="100/min")
    await submit(queue, "aaaa")
    await one_by_one(queue, 4)
    await stage.advance(minutes=2)
    await queue.sweep("sharing")
    assert await stage.watcher.fetchval("select count(*) from pgjobs.rate_notes") <= 2
    await submit(queue, "a" * 10)
    assert len(await take(queue)) == 10
