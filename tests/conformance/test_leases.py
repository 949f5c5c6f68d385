"""Leases: how long they hold, and what their loss means."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import LeaseLost
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, claim, claim_all, claimed, running

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("lease", [timedelta(milliseconds=1), timedelta(seconds=30), MINUTE, HOUR], ids=str)
async def test_a_lease_lasts_as_long_as_asked_for(queue, job, lease):
    await queue.submit_task(job)
    held = await claim(queue, job, lease=lease)
    assert held.until == held.claimed_at + lease


@pytest.mark.parametrize("lease", [2 * HOUR, timedelta(days=10_000)], ids=str)
async def test_a_lease_is_capped(queue, job, lease):
    await queue.submit_task(job)
    held = await claim(queue, job, lease=lease)
    assert held.until == held.claimed_at + HOUR


async def test_a_lease_without_an_end_lives_by_heartbeats_alone(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id))[0]
    assert held.until is None
    for _ in range(4):
        await clock.advance(seconds=40)
        await queue.heartbeat_worker(worker.id)
        await queue.sweep()
    assert (await queue.get_task(submitted)).status == "claimed"
    assert (await queue.complete_task(held)).status == "completed"


async def test_a_lease_without_an_end_ends_when_heartbeats_stop(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id))[0]
    await clock.advance(seconds=90)
    await queue.sweep()
    task = await queue.get_task(submitted)
    assert (task.status, task.attempt, task.error) == ("pending", 1, "Worker disconnected")
    with pytest.raises(LeaseLost):
        await queue.complete_task(held)


async def test_a_lease_with_an_end_also_ends_when_heartbeats_stop(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id, lease=HOUR)
    await clock.advance(seconds=90)
    await queue.sweep()
    assert (await queue.get_task(submitted)).error == "Worker disconnected"


async def test_a_lease_with_an_end_lapses_although_heartbeats_come(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id, lease=timedelta(seconds=30))
    await clock.advance(seconds=31)
    await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    assert (await queue.get_task(submitted)).error == "lease_expired"


@pytest.mark.parametrize("stage", [claimed, running])
@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_lapsed_lease_acknowledges_nothing(queue, clock, job, *, verb, stage, nothing_changes):
    task = await stage(queue, job)
    await clock.advance(seconds=61)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert (answer.task_id, answer.problem) == (task.id, LeaseLost.sqlstate)


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_the_old_holder_of_a_swept_lease_is_refused(queue, clock, job, verb, nothing_changes):
    task = await running(queue, job)
    await clock.advance(seconds=61)
    await queue.sweep()
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_the_old_holder_is_refused_while_another_works(queue, clock, job, verb, nothing_changes):
    task = await running(queue, job)
    await clock.advance(seconds=61)
    await queue.sweep()
    await clock.advance(seconds=11)
    held = await claim(queue, job)
    assert (held.task_id, held.attempt) == (task.id, 2)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate
    assert (await queue.complete_task(held, "mine")).status == "completed"
    assert (await queue.get_task(task.id)).result == "mine"


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_the_old_holder_is_refused_after_another_has_finished(queue, clock, job, verb, nothing_changes):
    task = await running(queue, job)
    await clock.advance(seconds=61)
    await queue.sweep()
    await clock.advance(seconds=11)
    await queue.complete_task(await claim(queue, job), "mine")
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate
    assert (await queue.get_task(task.id)).result == "mine"


async def test_a_lapsed_lease_is_a_failed_attempt(queue, clock, job):
    task = await running(queue, job)
    await clock.advance(seconds=61)
    assert (await queue.get_task(task.id)).phase == "overdue"
    await queue.sweep()
    after = await queue.get_task(task.id)
    assert (after.status, after.phase, after.attempt) == ("pending", "retrying", 1)
    assert (after.error, after.error_kind) == ("lease_expired", "lease_expired")
    attempts = await queue.list_attempts(task.id)
    assert [(attempt.attempt, attempt.status, attempt.error) for attempt in attempts] == [
        (1, "failed", "lease_expired")
    ]


async def test_the_last_attempt_that_lapses_fails_the_task(queue, clock, job):
    submitted = (await queue.submit_task(job, max_attempts=1)).task_id
    await claim(queue, job)
    await clock.advance(seconds=61)
    await queue.sweep()
    task = await queue.get_task(submitted)
    assert (task.status, task.error, task.attempt) == ("failed", "lease_expired", 1)


async def test_a_lapsed_lease_backs_off_like_any_failure(queue, clock, job):
    task = await claimed(queue, job)
    await clock.advance(seconds=61)
    await queue.sweep()
    ended = (await queue.list_attempts(task.id))[0].ended_at
    assert (await queue.get_task(task.id)).due_at - ended == timedelta(seconds=10)
    assert await claim_all(queue, job) == []
    await clock.advance(seconds=11)
    assert (await claim(queue, job)).task_id == task.id


async def test_a_lease_that_holds_is_left_alone_by_sweeps(queue, clock, job):
    task = await running(queue, job)
    await clock.advance(seconds=40)
    await queue.sweep()
    assert (await queue.get_task(task.id)).status == "running"
    assert (await queue.complete_task(task.held)).status == "completed"


async def test_a_renewed_lease_outlives_its_first_end(queue, clock, job):
    task = await running(queue, job)
    await clock.advance(seconds=40)
    renewed = await queue.renew_task(task.held, MINUTE)
    await clock.advance(seconds=40)
    await queue.sweep()
    assert (await queue.get_task(task.id)).until == renewed.until
    assert (await queue.complete_task(task.held)).status == "completed"


@pytest.mark.parametrize("seconds", [1, 30, 59])
async def test_a_renewal_never_shortens(queue, job, seconds):
    task = await claimed(queue, job)
    renewed = await queue.renew_task(task.held, timedelta(seconds=seconds) / 2)
    assert renewed.until == task.held.until
    assert (await queue.get_task(task.id)).until == task.held.until


@pytest.mark.parametrize("minutes", [2, 30])
async def test_a_renewal_counts_from_now(queue, clock, job, minutes):
    task = await claimed(queue, job)
    await clock.advance(seconds=30)
    before = clock.now()
    renewed = await queue.renew_task(task.held, timedelta(minutes=minutes))
    assert before <= renewed.until - timedelta(minutes=minutes) <= clock.now()
    assert not renewed.cancel_requested


async def test_a_renewal_is_capped(queue, clock, job):
    task = await claimed(queue, job)
    before = clock.now()
    renewed = await queue.renew_task(task.held, timedelta(days=7))
    assert before + HOUR <= renewed.until <= clock.now() + HOUR


async def test_a_lease_can_be_renewed_past_the_cap_step_by_step(queue, clock, job):
    task = await claimed(queue, job)
    for _ in range(4):
        await queue.renew_task(task.held, HOUR)
        await clock.advance(minutes=50)
    await queue.sweep()
    assert (await queue.complete_task(task.held)).status == "completed"


async def test_a_lease_that_lives_by_heartbeats_stays_so_when_renewed(queue, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id))[0]
    assert (await queue.renew_task(held, MINUTE)).until is None
    assert (await queue.get_task(submitted)).until is None


async def test_renewing_changes_nothing_else(queue, job):
    task = await running(queue, job)
    before = await queue.get_task(task.id)
    await queue.renew_task(task.held, 10 * MINUTE)
    after = await queue.get_task(task.id)
    assert after.until > before.until
    assert (after.status, after.attempt, after.started_at) == ("running", 1, before.started_at)


async def test_a_lapsed_lease_cannot_be_renewed_back_to_life(queue, clock, job):
    task = await running(queue, job)
    await clock.advance(seconds=61)
    with pytest.raises(LeaseLost):
        await queue.renew_task(task.held, HOUR)
    await queue.sweep()
    assert (await queue.get_task(task.id)).status == "pending"
