"""Cancelling: at once when nobody works on it, by request when somebody does, by force when need be."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import Forbidden, InvalidTransition, LeaseLost, TaskNotFound
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, STAGES, claim, claim_all, claimed, running


@pytest.mark.parametrize("force", [None, False, True])
@pytest.mark.parametrize("stage", ["pending", "scheduled", "retrying"])
async def test_a_pending_task_is_cancelled_at_once(queue, clock, job, stage, force):
    task = await STAGES[stage](queue, job)
    shown = await queue.cancel_task(task.id, reason="not needed", force=force, actor="operator")
    assert (shown.status, shown.phase, shown.reason, shown.is_ended) == (
        "cancelled",
        None,
        "not needed",
        True,
    )
    assert (shown.error, shown.cancel_requested_at) == (None, None)
    await clock.advance(days=1)
    await queue.sweep()
    assert await claim_all(queue, job) == []
    assert (await queue.get_task(task.id)).status == "cancelled"


@pytest.mark.parametrize("force", [None, False])
@pytest.mark.parametrize("stage", ["claimed", "running"])
async def test_the_worker_of_a_leased_task_is_asked_to_stop(queue, job, stage, force):
    task = await STAGES[stage](queue, job)
    shown = await queue.cancel_task(task.id, reason="not needed", force=force)
    assert (shown.status, shown.reason, shown.is_ended) == (stage, "not needed", False)
    assert shown.cancel_requested_at is not None
    assert shown.until == task.held.until


@pytest.mark.parametrize("verb", ["start", "progress", "renew"])
async def test_a_worker_sees_the_request(queue, job, verb):
    task = await claimed(queue, job)
    assert not (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0].cancel_requested
    await queue.cancel_task(task.id)
    answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert (answer.cancel_requested, answer.problem) == (True, None)


async def test_a_heartbeat_shows_which_tasks_the_worker_should_stop(queue, clock, job):
    ada, bob = [await queue.register_worker(jobs=[job], actor=name) for name in ("ada", "bob")]
    tasks = [await queue.submit_task(job) for _ in range(3)]
    for worker in (ada, ada, bob):
        await queue.claim_tasks(worker.id)
    assert (await queue.heartbeat_and_show(ada.id)).cancel_requested == []
    for task in tasks:
        await queue.cancel_task(task.task_id)
    await clock.advance(seconds=1)
    shown = await queue.heartbeat_and_show(ada.id, actor="ada")
    assert shown.id == ada.id
    assert shown.last_heartbeat_at >= ada.last_heartbeat_at + timedelta(seconds=1)
    assert set(shown.cancel_requested) == {(await queue.get_task(t.task_id)).uuid for t in tasks[:2]}
    with pytest.raises(Forbidden):
        await queue.heartbeat_and_show(bob.id, actor="ada")


async def test_a_request_marks_only_its_own_task_in_a_batch(queue, job):
    mine, other = await running(queue, job), await running(queue, job)
    await queue.cancel_task(mine.id)
    renewed = await queue.renew_tasks([other.held, mine.held], MINUTE)
    assert [(item.task_id, item.cancel_requested) for item in renewed] == [(other.id, False), (mine.id, True)]


@pytest.mark.parametrize("stage", ["claimed", "running"])
@pytest.mark.parametrize("verb", ["fail", "release"])
async def test_a_worker_that_gives_up_after_the_request_ends_the_task(queue, job, stage, verb):
    task = await STAGES[stage](queue, job)
    await queue.cancel_task(task.id, reason="not needed")
    answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert (answer.status, answer.problem) == ("cancelled", None)
    after = await queue.get_task(task.id)
    assert (after.status, after.reason, after.error, after.attempt) == ("cancelled", "not needed", None, 1)
    assert await claim_all(queue, job) == []


async def test_a_worker_that_had_finished_already_may_complete(queue, job):
    task = await running(queue, job)
    await queue.cancel_task(task.id)
    assert (await queue.complete_task(task.held, "done")).status == "completed"
    after = await queue.get_task(task.id)
    assert (after.status, after.result) == ("completed", "done")


async def test_a_request_outlives_the_lease(queue, clock, job):
    task = await running(queue, job)
    await queue.cancel_task(task.id, reason="not needed")
    await clock.advance(seconds=61)
    await queue.sweep()
    after = await queue.get_task(task.id)
    assert (after.status, after.reason) == ("cancelled", "not needed")


async def test_a_request_outlives_the_worker(queue, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id)
    await queue.cancel_task(submitted)
    await queue.retire_worker(worker.id)
    assert (await queue.get_task(submitted)).status == "cancelled"


async def test_asking_twice_keeps_the_first_time_and_the_last_reason(queue, clock, job):
    task = await running(queue, job)
    first = await queue.cancel_task(task.id, reason="not needed")
    await clock.advance(seconds=5)
    second = await queue.cancel_task(task.id, reason="really not")
    assert (second.cancel_requested_at, second.reason) == (first.cancel_requested_at, "really not")
    assert (await queue.cancel_task(task.id)).reason == "really not"


@pytest.mark.parametrize("stage", ["claimed", "running"])
async def test_force_ends_a_leased_task_now(queue, job, stage):
    task = await STAGES[stage](queue, job)
    shown = await queue.cancel_task(task.id, force=True, reason="stuck")
    assert (shown.status, shown.reason, shown.attempt, shown.until) == ("cancelled", "stuck", 1, None)
    assert shown.is_ended
    assert await claim_all(queue, job) == []


async def test_force_after_a_request_keeps_its_reason(queue, job):
    task = await running(queue, job)
    await queue.cancel_task(task.id, reason="not needed")
    assert (await queue.cancel_task(task.id, force=True)).reason == "not needed"


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_the_holder_of_a_task_cancelled_by_force_is_fenced_off(queue, job, verb, nothing_changes):
    task = await running(queue, job)
    await queue.cancel_task(task.id, force=True)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("stage", ["completed", "failed", "cancelled", "ignored"])
async def test_what_has_ended_or_is_put_aside_cannot_be_cancelled(queue, job, stage, force, nothing_changes):
    task = await STAGES[stage](queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidTransition, match=stage) as refused:
            await queue.cancel_task(task.id, force=force)
    assert stage in (refused.value.detail or "")
    assert refused.value.hint


async def test_an_unknown_task_cannot_be_cancelled(queue, job, nothing_changes):
    async with nothing_changes():
        for force in (False, True):
            with pytest.raises(TaskNotFound):
                await queue.cancel_task(999_999, force=force)


async def test_a_reason_is_bounded_and_loses_credentials(queue, job):
    task = await STAGES["pending"](queue, job)
    shown = await queue.cancel_task(task.id, reason="https://ada:secret@example.org " + "x" * 10_000)
    assert shown.reason.startswith("https://example.org xxx")
    assert len(shown.reason) <= 500


async def test_a_cancelled_attempt_is_kept(queue, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id, start=True))[0]
    await queue.cancel_task(submitted, reason="not needed")
    await queue.fail_task(held, "stopped")
    attempts = await queue.list_attempts(submitted)
    assert [(a.attempt, a.status, a.reason, a.worker_id) for a in attempts] == [
        (1, "cancelled", "not needed", worker.id)
    ]


async def test_a_cancelled_task_starts_over_without_the_old_request(queue, job):
    task = await running(queue, job)
    await queue.cancel_task(task.id)
    await queue.release_task(task.held)
    await queue.retry_task(task.id)
    held = await claim(queue, job)
    assert (held.task_id, held.attempt) == (task.id, 1)
    assert not (await queue.renew_task(held, timedelta(minutes=2))).cancel_requested
    assert (await queue.complete_task(held)).status == "completed"
