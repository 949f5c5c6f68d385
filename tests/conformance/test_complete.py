"""Completing: written once, answered as often as asked."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from pgjobs.errors import InvalidTransition, LeaseLost, TaskNotFound
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, STAGES, claim, claimed, completed, running

RESULTS = [{"ok": True}, [], {}, "", 0, False, "text", 1.5, [None], {"text": "žluť 馬 🐎"}, 10**25]


@pytest.mark.parametrize("stage", ["claimed", "running"])
async def test_a_completed_task_tells_how_it_went(queue, clock, job, worker, stage):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id, start=stage == "running"))[0]
    await clock.advance(seconds=7)
    answer = await queue.complete_task(held, {"ok": True})
    task = await queue.get_task(submitted)
    assert (answer.task_id, answer.status) == (submitted, "completed")
    assert (task.status, task.phase, task.result, task.attempt) == ("completed", None, {"ok": True}, 1)
    assert (task.worker_id, task.error, task.until, task.is_ended) == (worker.id, None, None, True)
    assert task.ended_at - task.claimed_at >= timedelta(seconds=7)
    assert task.claimed_at <= task.started_at <= task.ended_at


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: repr(result)[:20])
async def test_a_result_comes_back_as_it_was_given(queue, job, result):
    task = await running(queue, job)
    await queue.complete_task(task.held, result)
    kept = (await queue.get_task(task.id)).result
    assert kept == result
    assert type(kept) is type(result)


async def test_a_task_may_complete_without_a_result(queue, job):
    task = await running(queue, job)
    await queue.complete_task(task.held)
    assert (await queue.get_task(task.id)).result is None


async def test_completing_again_gets_the_same_answer(queue, clock, job, nothing_changes):
    task = await running(queue, job)
    first = await queue.complete_task(task.held, {"n": 1})
    await clock.advance(seconds=100)
    async with nothing_changes():
        assert await queue.complete_task(task.held, {"n": 2}) == first
        assert await queue.complete_task(task.held) == first
    assert (await queue.get_task(task.id)).result == {"n": 1}


async def test_completing_again_is_answered_after_the_worker_is_gone(queue, job, worker):
    await queue.submit_task(job)
    held = (await queue.claim_tasks(worker.id))[0]
    first = await queue.complete_task(held)
    await queue.retire_worker(worker.id)
    assert await queue.complete_task(held) == first


async def test_completing_after_failing_is_refused(queue, job, nothing_changes):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken", retryable=False)
    async with nothing_changes():
        with pytest.raises(LeaseLost):
            await queue.complete_task(task.held)


@pytest.mark.parametrize("verb", [verb for verb in ACKNOWLEDGEMENTS if verb != "complete"])
async def test_a_completed_task_acknowledges_nothing_else(queue, job, verb, nothing_changes):
    task = await completed(queue, job)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate


@pytest.mark.parametrize("verb", ["cancel_task", "retry_task", "ignore_task", "unignore_task"])
async def test_operators_cannot_undo_a_completed_task(queue, job, verb, nothing_changes):
    task = await completed(queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidTransition, match="completed"):
            await getattr(queue, verb)(task.id)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_nothing_passes_with_a_token_that_was_never_issued(queue, job, stage, verb, nothing_changes):
    task = await STAGES[stage](queue, job)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, (task.id, uuid4())))[0]
    assert (answer.task_id, answer.problem) == (task.id, LeaseLost.sqlstate)


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_nothing_passes_with_the_token_of_another_lease(queue, job, verb, nothing_changes):
    mine, theirs = await claimed(queue, job), await claimed(queue, job)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, (mine.id, theirs.held.token)))[0]
    assert answer.problem == LeaseLost.sqlstate


@pytest.mark.parametrize("task_id", [0, 999_999])
@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_unknown_tasks_are_told_from_lost_leases(queue, job, verb, task_id, nothing_changes):
    task = await claimed(queue, job)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, (task_id, task.held.token)))[0]
    assert (answer.task_id, answer.problem) == (task_id, TaskNotFound.sqlstate)


async def test_an_unknown_task_raises_when_it_is_the_only_one(queue, job):
    with pytest.raises(TaskNotFound, match="999999"):
        await queue.complete_task((999_999, uuid4()))


async def test_a_second_attempt_can_complete(queue, clock, job):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken")
    await clock.advance(seconds=11)
    await queue.complete_task(await claim(queue, job), "second time lucky")
    after = await queue.get_task(task.id)
    assert (after.status, after.attempt, after.result, after.error) == (
        "completed",
        2,
        "second time lucky",
        None,
    )
    attempts = await queue.list_attempts(task.id)
    assert [(attempt.attempt, attempt.status) for attempt in attempts] == [(1, "failed"), (2, "completed")]


async def test_a_completed_task_is_not_claimed_again(queue, clock, job):
    task = await completed(queue, job)
    await clock.advance(days=1)
    await queue.sweep()
    assert await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global") == []
    assert (await queue.get_task(task.id)).status == "completed"
