"""Waiting for a result: woken when the task ends, answered with how it stands when time is over."""

from __future__ import annotations

import asyncio

import pytest

from pgjobs.errors import TaskNotFound
from tests.conformance.stages import ACKNOWLEDGEMENTS, STAGES, STATUS_OF, pending, running

ENDED = ["completed", "failed", "cancelled"]


@pytest.mark.parametrize("stage", ENDED)
async def test_a_task_that_has_ended_is_answered_at_once(queue, job, stage):
    task = await STAGES[stage](queue, job)
    async with asyncio.timeout(20):
        answer = await queue.wait_for(task.id)
    assert answer == await queue.get_task(task.id)
    assert answer.status == stage


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in ENDED])
async def test_a_task_that_does_not_end_in_time_is_answered_as_it_stands(queue, job, stage):
    task = await STAGES[stage](queue, job)
    answer = await queue.wait_for(task.id, timeout=0.02)
    assert answer == await queue.get_task(task.id)
    assert (answer.status, answer.is_ended) == (STATUS_OF[stage], False)


async def _complete(queue, task):
    await queue.complete_task(task.held, {"n": 1})


async def _fail(queue, task):
    await queue.fail_task(task.held, "broken", retryable=False)


async def _force(queue, task):
    await queue.cancel_task(task.id, force=True)


@pytest.mark.parametrize(
    ("end", "status"), [(_complete, "completed"), (_fail, "failed"), (_force, "cancelled")]
)
async def test_whoever_waits_is_woken_when_the_task_ends(queue, job, end, status):
    task = await running(queue, job)
    # Far longer than the test may take: only the wake-up can end the wait.
    waiting = asyncio.create_task(queue.wait_for(task.id, timeout=600, poll=600))
    assert not await _is_done_soon(waiting)
    await end(queue, task)
    async with asyncio.timeout(20):
        answer = await waiting
    assert answer.status == status
    assert answer == await queue.get_task(task.id)


async def test_many_wait_for_one_task(queue, job):
    task = await running(queue, job)
    waiting = [asyncio.create_task(queue.wait_for(task.id, timeout=600, poll=600)) for _ in range(20)]
    assert not await _is_done_soon(*waiting)
    await queue.complete_task(task.held, "done")
    async with asyncio.timeout(20):
        assert {answer.result for answer in await asyncio.gather(*waiting)} == {"done"}


async def test_the_end_of_another_task_wakes_nobody(queue, job):
    mine, other = await running(queue, job), await running(queue, job)
    waiting = asyncio.create_task(queue.wait_for(mine.id, timeout=600, poll=600))
    assert not await _is_done_soon(waiting)
    await queue.complete_task(other.held)
    assert not await _is_done_soon(waiting)
    await queue.complete_task(mine.held)
    async with asyncio.timeout(20):
        assert (await waiting).id == mine.id


@pytest.mark.parametrize("verb", ["renew", "progress", "fail", "release"])
async def test_what_does_not_end_a_task_does_not_end_the_wait(queue, job, verb):
    task = await running(queue, job)
    waiting = asyncio.create_task(queue.wait_for(task.id, timeout=600, poll=0.01))
    assert not await _is_done_soon(waiting)
    await ACKNOWLEDGEMENTS[verb](queue, task.held)
    assert not await _is_done_soon(waiting)
    await queue.cancel_task(task.id, force=True)
    async with asyncio.timeout(20):
        assert (await waiting).status == "cancelled"


async def test_a_lost_wake_up_costs_a_poll_and_nothing_else(queue, job):
    task = await pending(queue, job)
    waiting = asyncio.create_task(queue.wait_for(task.id, timeout=600, poll=0.01))
    await queue.cancel_task(task.id)
    async with asyncio.timeout(20):
        assert (await waiting).status == "cancelled"


async def test_nobody_waits_for_an_unknown_task(queue):
    with pytest.raises(TaskNotFound):
        await queue.wait_for(999_999, timeout=20)


async def _is_done_soon(*tasks):
    done, _ = await asyncio.wait(tasks, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)
