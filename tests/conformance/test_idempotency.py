"""Idempotency keys: one key of one job stands for one task."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument
from pgjobs.queue.records import Submitted
from tests.conformance.stages import MINUTE, claim


async def test_the_same_key_gives_the_first_task(queue, job):
    first = await queue.submit_task(job, {"n": 1}, idempotency_key="once")
    second = await queue.submit_task(job, {"n": 2}, idempotency_key="once")
    assert first.is_new
    assert second == Submitted(first.task_id, is_new=False, item=1)
    assert len(await queue.list_tasks()) == 1


async def test_a_repeated_key_leaves_the_first_task_as_it_was(queue, job):
    first = await queue.submit_task(job, {"n": 1}, priority=3, idempotency_key="once")
    before = await queue.get_task(first.task_id)
    await queue.submit_task(job, {"n": 2}, priority=1, delay=MINUTE, owner="eve", idempotency_key="once")
    assert await queue.get_task(first.task_id) == before


async def test_a_task_shows_its_key(queue, job):
    submitted = await queue.submit_task(job, idempotency_key="once")
    assert (await queue.get_task(submitted.task_id)).idempotency_key == "once"


async def _claimed(queue, job, task_id):
    assert (await claim(queue, job)).task_id == task_id


async def _completed(queue, job, task_id):
    await queue.complete_task(await claim(queue, job))


async def _failed(queue, job, task_id):
    await queue.fail_task(await claim(queue, job), "broken", retryable=False)


async def _retrying(queue, job, task_id):
    await queue.fail_task(await claim(queue, job), "broken")


async def _cancelled(queue, job, task_id):
    await queue.cancel_task(task_id)


async def _ignored(queue, job, task_id):
    await queue.ignore_task(task_id)


@pytest.mark.parametrize("move", [_claimed, _completed, _failed, _retrying, _cancelled, _ignored])
async def test_a_key_stands_for_its_task_whatever_became_of_it(queue, job, move):
    first = await queue.submit_task(job, idempotency_key="once")
    await move(queue, job, first.task_id)
    before = await queue.get_task(first.task_id)
    assert (await queue.submit_task(job, idempotency_key="once")) == Submitted(
        first.task_id, is_new=False, item=1
    )
    assert await queue.get_task(first.task_id) == before


async def test_a_key_belongs_to_its_job(queue, job):
    await queue.register_job("@global", "tests", "Other")
    first = await queue.submit_task(job, idempotency_key="once")
    second = await queue.submit_task("@global:tests:Other", idempotency_key="once")
    assert second.is_new
    assert second.task_id != first.task_id


async def test_a_key_counts_from_every_room(queue, job):
    first = await queue.submit_task(job, room="lab", idempotency_key="once")
    assert not (await queue.submit_task(job, room="office", idempotency_key="once")).is_new
    assert (await queue.get_task(first.task_id)).room == "lab"


async def test_tasks_without_a_key_are_always_new(queue, job):
    submitted = [await queue.submit_task(job, {"same": True}) for _ in range(3)]
    assert all(item.is_new for item in submitted)
    assert len({item.task_id for item in submitted}) == 3


@pytest.mark.parametrize(
    "keys",
    [
        ("a", "b"),
        ("once", "Once"),
        ("once", "once "),
        ("é", "e\u0301"),
        ("1", "01"),
        ("x" * 199, "x" * 200),
        ("%", "_"),
    ],
)
async def test_keys_that_differ_at_all_are_different(queue, job, keys):
    first, second = [await queue.submit_task(job, idempotency_key=key) for key in keys]
    assert second.is_new
    assert first.task_id != second.task_id


async def test_one_key_twice_in_a_batch_gives_one_task(queue, job):
    submitted = await queue.submit_tasks(
        job, [{"n": 1}, {"n": 2}, {"n": 3}], idempotency_keys=["a", "b", "a"]
    )
    assert [item.is_new for item in submitted] == [True, True, False]
    assert submitted[2].task_id == submitted[0].task_id
    assert (await queue.get_task(submitted[0].task_id)).payload == {"n": 1}
    assert len(await queue.list_tasks()) == 2


async def test_known_new_and_missing_keys_mix_in_a_batch(queue, job):
    known = await queue.submit_task(job, {"n": 0}, idempotency_key="known")
    submitted = await queue.submit_tasks(
        job, [{"n": n} for n in range(1, 6)], idempotency_keys=["new", None, "known", None, "newer"]
    )
    assert [item.is_new for item in submitted] == [True, True, False, True, True]
    assert submitted[2].task_id == known.task_id
    assert len({item.task_id for item in submitted}) == 5
    for place in (0, 1, 3, 4):
        assert (await queue.get_task(submitted[place].task_id)).payload == {"n": place + 1}


async def test_a_batch_repeated_as_a_whole_changes_nothing(queue, job):
    keys = [f"key {number}" for number in range(50)]
    first = await queue.submit_tasks(job, [{}] * 50, idempotency_keys=keys)
    second = await queue.submit_tasks(job, [{}] * 50, idempotency_keys=list(reversed(keys)))
    assert [item.task_id for item in second] == [item.task_id for item in reversed(first)]
    assert not any(item.is_new for item in second)


async def test_fifty_submitters_at_once_make_one_task(queue, job):
    submitted = await asyncio.gather(
        *(queue.submit_task(job, {"n": n}, idempotency_key="once") for n in range(50))
    )
    assert len({item.task_id for item in submitted}) == 1
    assert sum(item.is_new for item in submitted) == 1


async def test_overlapping_batches_at_once_make_each_task_once(queue, job):
    keys = [f"key {number}" for number in range(40)]
    batches = [keys[start:] + keys[:start] for start in range(0, 40, 4)]
    answers = await asyncio.gather(
        *(queue.submit_tasks(job, [{}] * 40, idempotency_keys=batch) for batch in batches)
    )
    tasks: dict[str, set[int]] = {key: set() for key in keys}
    for batch, answer in zip(batches, answers, strict=True):
        for key, item in zip(batch, answer, strict=True):
            tasks[key].add(item.task_id)
    assert all(len(ids) == 1 for ids in tasks.values())
    assert sum(item.is_new for answer in answers for item in answer) == 40


async def test_a_key_is_free_again_once_its_task_was_pruned(queue, clock, job):
    first = await queue.submit_task(job, idempotency_key="once")
    await queue.complete_task(await claim(queue, job))
    await clock.advance(days=1)
    await queue.prune_tasks(older_than=timedelta(hours=1))
    again = await queue.submit_task(job, idempotency_key="once")
    assert again.is_new
    assert again.task_id != first.task_id


@pytest.mark.parametrize("problem", [{"priority": 11}, {"delay": timedelta(seconds=-1)}, {"max_attempts": 0}])
async def test_a_refused_submission_uses_no_key(queue, job, problem):
    with pytest.raises(InvalidArgument):
        await queue.submit_task(job, idempotency_key="once", **problem)
    assert (await queue.submit_task(job, idempotency_key="once")).is_new


@pytest.mark.parametrize(
    "keys", [[""], ["x" * 201], ["a", "b"], []], ids=["empty", "long", "too many", "too few"]
)
async def test_malformed_keys_are_refused(queue, job, keys, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_tasks(job, [{}], idempotency_keys=keys)


async def test_one_bad_key_refuses_the_whole_batch(queue, job, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_tasks(job, [{}, {}], idempotency_keys=["good", "x" * 201])
    assert (await queue.submit_task(job, idempotency_key="good")).is_new
