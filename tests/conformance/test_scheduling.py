"""Tasks that are due later."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from pgjobs.errors import InvalidArgument
from tests.conformance.stages import MINUTE, claim, claim_all

DELAYS = [timedelta(seconds=30), timedelta(minutes=5), timedelta(hours=30), timedelta(days=400)]


@pytest.mark.parametrize("delay", DELAYS, ids=str)
async def test_a_delayed_task_is_invisible_until_its_time(queue, clock, job, delay):
    submitted = (await queue.submit_task(job, delay=delay)).task_id
    assert await claim_all(queue, job) == []
    await clock.advance(delay - timedelta(seconds=20))
    assert await claim_all(queue, job) == []
    await clock.advance(seconds=21)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [submitted]


@pytest.mark.parametrize("delay", DELAYS, ids=str)
async def test_a_task_available_at_a_time_is_invisible_until_then(queue, clock, job, delay):
    submitted = (await queue.submit_task(job, available_at=clock.now() + delay)).task_id
    assert await claim_all(queue, job) == []
    await clock.advance(delay + timedelta(seconds=1))
    assert [lease.task_id for lease in await claim_all(queue, job)] == [submitted]


async def test_a_scheduled_task_says_so(queue, clock, job):
    at = clock.now() + timedelta(hours=1)
    task = await queue.get_task((await queue.submit_task(job, available_at=at)).task_id)
    assert (task.status, task.phase, task.attempt, task.due_at) == ("pending", "scheduled", 0, at)


async def test_a_delay_counts_from_the_submission(queue, job):
    task = await queue.get_task((await queue.submit_task(job, delay=timedelta(hours=1))).task_id)
    assert task.due_at - task.created_at == timedelta(hours=1)


async def test_a_time_in_another_zone_is_the_same_moment(queue, job):
    tokyo = datetime(2999, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    task = await queue.get_task((await queue.submit_task(job, available_at=tokyo)).task_id)
    assert task.due_at == datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(seconds=1), timedelta(days=3650)], ids=str)
async def test_a_time_that_has_passed_means_at_once(queue, clock, job, ago):
    submitted = (await queue.submit_task(job, available_at=clock.now() - ago)).task_id
    assert (await queue.get_task(submitted)).phase == "due"
    assert (await claim(queue, job)).task_id == submitted


async def test_a_delay_of_nothing_means_at_once(queue, job):
    submitted = (await queue.submit_task(job, delay=timedelta(0))).task_id
    assert (await claim(queue, job)).task_id == submitted


async def test_a_negative_delay_is_refused(queue, job, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.submit_task(job, delay=timedelta(seconds=-1))


async def test_a_sweep_makes_scheduled_tasks_due(queue, clock, job):
    ids = [(await queue.submit_task(job, delay=timedelta(seconds=30))).task_id for _ in range(3)]
    future = (await queue.submit_task(job, delay=timedelta(hours=1))).task_id
    assert [(step.swept, step.changed) for step in await queue.sweep("scheduled")] == [("scheduled", 0)]
    await clock.advance(minutes=1)
    assert [(step.swept, step.changed) for step in await queue.sweep("scheduled")] == [("scheduled", 3)]
    assert {(await queue.get_task(task_id)).phase for task_id in ids} == {"due"}
    assert (await queue.get_task(future)).phase == "scheduled"
    assert [(step.swept, step.changed) for step in await queue.sweep("scheduled")] == [("scheduled", 0)]


async def test_a_task_that_came_due_remembers_when(queue, clock, job):
    at = clock.now() + timedelta(seconds=30)
    submitted = (await queue.submit_task(job, available_at=at)).task_id
    await clock.advance(minutes=10)
    await queue.sweep("scheduled")
    task = await queue.get_task(submitted)
    assert (task.phase, task.due_at) == ("due", at)


async def test_more_tasks_than_one_batch_come_due_all_the_same(queue, clock, job):
    await queue.submit_tasks(job, [{}] * 1200, delay=timedelta(seconds=30))
    await clock.advance(minutes=1)
    claimed = []
    while leases := await claim_all(queue, job):
        claimed += [lease.task_id for lease in leases]
    assert len(claimed) == len(set(claimed)) == 1200
    assert claimed == sorted(claimed)


async def test_a_scheduled_task_can_be_cancelled(queue, clock, job):
    submitted = (await queue.submit_task(job, delay=MINUTE)).task_id
    assert (await queue.cancel_task(submitted)).status == "cancelled"
    await clock.advance(minutes=2)
    assert await claim_all(queue, job) == []


async def test_a_scheduled_task_can_be_ignored(queue, clock, job):
    submitted = (await queue.submit_task(job, delay=MINUTE)).task_id
    assert (await queue.ignore_task(submitted)).status == "ignored"
    await clock.advance(minutes=2)
    assert await claim_all(queue, job) == []


async def test_an_operator_can_bring_a_scheduled_task_forward(queue, job):
    submitted = (await queue.submit_task(job, delay=timedelta(days=1))).task_id
    task = await queue.retry_task(submitted)
    assert (task.status, task.phase) == ("pending", "due")
    assert (await claim(queue, job)).task_id == submitted


async def test_a_scheduled_task_of_a_paused_job_waits_on(queue, clock, job):
    submitted = (await queue.submit_task(job, delay=MINUTE)).task_id
    await queue.pause_job(job)
    await clock.advance(minutes=2)
    assert await claim_all(queue, job) == []
    await queue.resume_job(job)
    assert (await claim(queue, job)).task_id == submitted


async def test_priority_decides_between_tasks_that_came_due(queue, clock, job):
    patient = (await queue.submit_task(job, delay=timedelta(seconds=10), priority=9)).task_id
    urgent = (await queue.submit_task(job, delay=timedelta(seconds=20), priority=1)).task_id
    await clock.advance(minutes=1)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [urgent, patient]


async def test_an_idle_worker_learns_when_its_next_task_is_due(queue, clock, job, worker):
    await queue.register_job("@global", "tests", "Other")
    await queue.submit_task("@global:tests:Other", delay=timedelta(minutes=1))
    assert (await queue.mark_waiting(worker.id)).next_due_at is None
    at = clock.now() + timedelta(minutes=7)
    await queue.submit_task(job, available_at=at + MINUTE)
    await queue.submit_task(job, available_at=at)
    assert (await queue.mark_waiting(worker.id)).next_due_at == at


async def test_every_mark_of_an_idle_worker_is_new(queue, worker):
    first = await queue.mark_waiting(worker.id)
    second = await queue.mark_waiting(worker.id, previous=first.mark)
    assert first.mark != second.mark


@pytest.mark.parametrize("wish", [{"in_room": "@global"}, {"in_room": "@global", "in_category": "tests"}])
async def test_a_claimer_that_is_not_registered_learns_it_too(queue, clock, job, wish):
    at = clock.now() + timedelta(minutes=7)
    await queue.submit_task(job, available_at=at)
    assert (await queue.mark_waiting(**wish)).next_due_at == at
    assert (await queue.mark_waiting(in_room="lab")).next_due_at is None


@pytest.mark.parametrize(
    "delay", [timedelta(days=365 * 8000), timedelta.max], ids=["the year 10026", "longest"]
)
async def test_a_delay_that_ends_after_the_year_9999_is_refused(queue, job, delay):
    with pytest.raises(InvalidArgument):
        await queue.submit_task(job, delay=delay)
    await queue.submit_task(job)
    (lease,) = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    with pytest.raises(InvalidArgument):
        await queue.release_task(lease, delay=delay)
    assert [task.status for task in await queue.list_tasks()] == ["claimed"]
