"""Two connections, one key: whoever comes first, no slot is counted twice and no key is forgotten."""

from __future__ import annotations

import pytest

from pgjobs.errors import InvalidArgument
from tests.postgres.stage import JOB
from tests.postgres.test_sharing import end, keys_of, submit, take


@pytest.fixture
async def one_each(queue):
    await queue.limit_job(JOB, max_running_per_key=1)


async def test_a_claim_waits_for_the_one_before_and_counts_what_it_took(
    stage, queue, first, second, one_each
):
    await submit(queue, "aa")
    assert keys_of(await take(first.queue)) == "a"
    other = await stage.waits(second, take(second.queue), behind=first)
    await first.commit()
    assert await other == []


async def test_a_claim_that_is_rolled_back_leaves_its_slot(stage, queue, first, second, one_each):
    await submit(queue, "aa")
    await take(first.queue)
    other = await stage.waits(second, take(second.queue), behind=first)
    await first.rollback()
    assert keys_of(await other) == "a"


async def test_different_keys_keep_nobody_waiting(stage, queue, first, second, one_each):
    await submit(queue, "aabb")
    assert keys_of(await take(first.queue, 1)) == "a"
    assert keys_of(await stage.soon(take(second.queue, 1))) == "b"


async def test_a_full_key_keeps_nobody_waiting(stage, queue, first, second, one_each):
    await submit(queue, "aa")
    await take(queue)
    assert await stage.soon(take(first.queue)) == []
    assert await stage.soon(take(second.queue)) == []


async def test_a_claim_is_of_no_use_to_a_transaction_that_sees_the_past(queue, first, one_each):
    await submit(queue, "a")
    await first.rollback()
    first.transaction = first.connection.transaction(isolation="repeatable_read")
    await first.transaction.start()
    with pytest.raises(InvalidArgument, match="READ COMMITTED"):
        await take(first.queue)


@pytest.mark.parametrize("claim_ends_first", [True, False])
async def test_a_task_submitted_while_its_key_is_emptied_is_found(
    stage, queue, first, second, one_each, claim_ends_first
):
    """The submit relies on the turn that the claim takes away, or the other way round."""
    await queue.limit_job(JOB, max_running_per_key=5)
    await submit(queue, "a")
    await submit(first.queue, "a")
    assert keys_of(await take(second.queue)) == "a"
    for actor in (second, first) if claim_ends_first else (first, second):
        await actor.commit()
    assert keys_of(await take(queue)) == "a"


@pytest.mark.parametrize("claim_ends_first", [True, False])
async def test_a_task_submitted_after_its_key_was_emptied_is_found(
    stage, queue, first, second, one_each, claim_ends_first
):
    await queue.limit_job(JOB, max_running_per_key=5)
    await submit(queue, "a")
    assert keys_of(await take(second.queue)) == "a"
    await stage.soon(submit(first.queue, "a"))
    for actor in (second, first) if claim_ends_first else (first, second):
        await actor.commit()
    assert keys_of(await take(queue)) == "a"


@pytest.mark.parametrize("claim_ends_first", [True, False])
async def test_a_slot_that_comes_free_while_its_key_is_found_full_is_used(
    stage, queue, first, second, one_each, claim_ends_first
):
    await submit(queue, "aa")
    held = await take(queue)
    await submit(queue, "a")
    await end(first.queue, held)
    assert await stage.soon(take(second.queue)) == []
    for actor in (second, first) if claim_ends_first else (first, second):
        await actor.commit()
    assert keys_of(await take(queue)) == "a"


@pytest.mark.parametrize("claim_ends_first", [True, False])
async def test_a_slot_that_comes_free_after_its_key_was_found_full_is_used(
    stage, queue, first, second, one_each, claim_ends_first
):
    await submit(queue, "a")
    held = await take(queue)
    await submit(queue, "a")
    assert await stage.soon(take(second.queue)) == []
    await stage.soon(end(first.queue, held))
    for actor in (second, first) if claim_ends_first else (first, second):
        await actor.commit()
    assert keys_of(await take(queue)) == "a"


async def test_a_task_submitted_while_the_last_one_ends_is_found(stage, queue, first, second, one_each):
    """Neither sees the other: the ending sees no task that waits, the submit no turn to rely on."""
    await submit(queue, "a")
    held = await take(queue)
    await submit(first.queue, "a")
    await stage.soon(end(second.queue, held))
    await first.commit()
    assert await take(queue) == []
    await second.commit()
    assert keys_of(await take(queue)) == "a"


async def test_an_open_submit_keeps_nobody_from_its_key(stage, queue, first, second, one_each):
    await submit(first.queue, "a")
    await submit(queue, "ab")
    assert sorted(keys_of(await stage.soon(take(second.queue)))) == ["a", "b"]
    await second.commit()
    await first.commit()
    assert await take(queue) == []


async def test_a_submit_of_many_keys_relies_on_some_and_brings_turns_for_the_others(queue, first):
    await queue.limit_job(JOB, max_running_per_key=1)
    keys = [f"key {number}" for number in range(100)]
    await queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys)
    await first.queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys)
    await first.commit()
    taken = [lease.payload["key"] for _ in range(10) for lease in await take(queue)]
    assert sorted(taken) == sorted(keys)
