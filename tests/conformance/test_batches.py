"""Batches: an answer for each item, whatever becomes of the others."""

from __future__ import annotations

from uuid import uuid4

import pytest

from pgjobs.errors import InvalidArgument, LeaseLost, TaskNotFound
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, claim_all, claimed, completed

LOST, UNKNOWN = LeaseLost.sqlstate, TaskNotFound.sqlstate
BATCHES = {
    "start": lambda queue, held: queue.start_tasks(held),
    "progress": lambda queue, held: queue.report_progress(held, [{"place": n} for n in range(len(held))]),
    "renew": lambda queue, held: queue.renew_tasks(held, 2 * MINUTE),
    "complete": lambda queue, held: queue.complete_tasks(held, [{"place": n} for n in range(len(held))]),
    "fail": lambda queue, held: queue.fail_tasks(held, [f"error {n}" for n in range(len(held))]),
    "release": lambda queue, held: queue.release_tasks(held),
}


async def _leases(queue, job, quantity):
    await queue.submit_tasks(job, [{}] * quantity)
    return await claim_all(queue, job)


@pytest.mark.parametrize("verb", BATCHES)
async def test_a_batch_of_nothing_is_answered_with_nothing(queue, job, verb):
    assert await BATCHES[verb](queue, []) == []


@pytest.mark.parametrize("verb", BATCHES)
async def test_answers_come_in_the_order_asked(queue, job, verb):
    leases = await _leases(queue, job, 6)
    asked = [leases[place] for place in (3, 0, 5, 1, 4, 2)]
    answers = await BATCHES[verb](queue, asked)
    assert [answer.task_id for answer in answers] == [lease.task_id for lease in asked]
    assert {answer.problem for answer in answers} == {None}


@pytest.mark.parametrize("verb", BATCHES)
async def test_good_and_bad_items_mix(queue, clock, job, verb):
    lapsed = (await _leases(queue, job, 1))[0]
    await clock.advance(seconds=61)
    ended = await completed(queue, job)
    good = await _leases(queue, job, 2)
    held = [
        good[1],
        (999_999, uuid4()),
        lapsed,
        (good[0].task_id, uuid4()),
        good[0],
        (ended.id, uuid4()),
    ]
    answers = await BATCHES[verb](queue, held)
    assert [answer.problem for answer in answers] == [None, UNKNOWN, LOST, LOST, None, LOST]
    assert [answer.task_id for answer in answers] == [
        item[0] if isinstance(item, tuple) else item.task_id for item in held
    ]
    assert (await queue.get_task(lapsed.task_id)).phase == "overdue"


@pytest.mark.parametrize("verb", BATCHES)
async def test_tokens_paired_with_the_wrong_tasks_are_refused(queue, job, verb, nothing_changes):
    first, second = await _leases(queue, job, 2)
    async with nothing_changes():
        answers = await BATCHES[verb](queue, [(first.task_id, second.token), (second.task_id, first.token)])
    assert [answer.problem for answer in answers] == [LOST, LOST]


@pytest.mark.parametrize("verb", [verb for verb in BATCHES if verb != "release"])
async def test_the_same_item_twice_gets_the_same_answer_twice(queue, job, verb):
    first, second = await _leases(queue, job, 2)
    answers = await BATCHES[verb](queue, [first, second, first])
    assert [answer.problem for answer in answers] == [None] * 3
    assert answers[0] == answers[2]


async def test_the_same_item_released_twice_is_released_once(queue, job):
    lease = (await _leases(queue, job, 1))[0]
    answers = await queue.release_tasks([lease, lease])
    assert answers[0].status == "pending"
    assert [task.attempt for task in await queue.list_tasks()] == [0]


@pytest.mark.parametrize("verb", ["complete", "fail", "progress"])
async def test_each_task_gets_what_was_said_of_it(queue, job, verb):
    leases = await _leases(queue, job, 5)
    asked = list(reversed(leases))
    await BATCHES[verb](queue, asked)
    for place, lease in enumerate(asked):
        task = await queue.get_task(lease.task_id)
        said = {"complete": task.result, "fail": task.error, "progress": task.progress}[verb]
        assert said == (f"error {place}" if verb == "fail" else {"place": place})


@pytest.mark.parametrize("verb", ["complete", "fail", "progress"])
async def test_what_a_stranger_says_of_a_task_is_not_kept_for_its_holder(queue, job, verb):
    lease = (await _leases(queue, job, 1))[0]
    answers = await BATCHES[verb](queue, [(lease.task_id, uuid4()), lease])
    assert [answer.problem for answer in answers] == [LOST, None]
    task = await queue.get_task(lease.task_id)
    said = {"complete": task.result, "fail": task.error, "progress": task.progress}[verb]
    assert said == ("error 1" if verb == "fail" else {"place": 1})


async def test_kinds_and_retryability_go_by_item(queue, job):
    leases = await _leases(queue, job, 3)
    answers = await queue.fail_tasks(
        leases, ["a", "b", "c"], kinds=["network", None, "auth"], retryable=[True, False, True]
    )
    assert [answer.status for answer in answers] == ["pending", "failed", "pending"]
    tasks = [await queue.get_task(lease.task_id) for lease in leases]
    assert [task.error_kind for task in tasks] == ["network", None, "auth"]
    assert [task.phase for task in tasks] == ["retrying", None, "blocked"]


async def test_results_may_be_missing_for_some(queue, job):
    leases = await _leases(queue, job, 3)
    await queue.complete_tasks(leases, [1, None, 3])
    assert [(await queue.get_task(lease.task_id)).result for lease in leases] == [1, None, 3]


async def test_tasks_of_many_jobs_are_acknowledged_together(queue):
    names = [f"@global:tests:Job {number}" for number in range(5)]
    for name in names:
        await queue.register_job(*name.split(":"))
        await queue.submit_task(name)
    leases = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=10)
    assert len({lease.job for lease in leases}) == 5
    assert {answer.status for answer in await queue.complete_tasks(leases)} == {"completed"}


@pytest.mark.parametrize("quantity", [500, 2000])
async def test_large_batches_go_through_as_one(queue, job, quantity):
    await queue.submit_tasks(job, [{}] * quantity)
    leases = []
    while claimed_now := await claim_all(queue, job):
        leases += claimed_now
    answers = await queue.complete_tasks(leases, [{"n": n} for n in range(quantity)])
    assert {(answer.status, answer.problem) for answer in answers} == {("completed", None)}
    assert (await queue.get_task(leases[-1].task_id)).result == {"n": quantity - 1}


async def test_a_repeated_batch_of_completions_gets_the_same_answers(queue, job, nothing_changes):
    leases = await _leases(queue, job, 10)
    first = await queue.complete_tasks(leases[:6])
    again = await queue.complete_tasks(leases)
    assert again[:6] == first
    assert {answer.status for answer in again} == {"completed"}


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_batch_of_more_than_ten_thousand_is_refused(queue, job, verb, nothing_changes):
    task = await claimed(queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await BATCHES[verb](queue, [task.held] * 10_001)


@pytest.mark.parametrize("errors", [[], ["one"], ["one", "two", "three"]], ids=len)
async def test_every_failed_task_needs_its_own_error(queue, job, errors, nothing_changes):
    leases = await _leases(queue, job, 2)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.fail_tasks(leases, errors)


@pytest.mark.parametrize("quantity", [1, 3])
@pytest.mark.parametrize("what", ["results", "progress", "kinds", "retryable"])
async def test_lists_of_another_length_are_refused(queue, job, what, quantity, nothing_changes):
    leases = await _leases(queue, job, 2)
    calls = {
        "results": lambda: queue.complete_tasks(leases, [{}] * quantity),
        "progress": lambda: queue.report_progress(leases, [{}] * quantity),
        "kinds": lambda: queue.fail_tasks(leases, ["a", "b"], kinds=["network"] * quantity),
        "retryable": lambda: queue.fail_tasks(leases, ["a", "b"], retryable=[False] * quantity),
    }
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await calls[what]()
