"""Releasing: giving a lease back unused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, LeaseLost
from tests.conformance.stages import ACKNOWLEDGEMENTS, MINUTE, claim, claim_all, claimed, running


@pytest.mark.parametrize("stage", [claimed, running])
async def test_a_released_task_is_pending_as_if_never_claimed(queue, job, stage):
    task = await stage(queue, job)
    assert (await queue.release_task(task.held)).status == "pending"
    after = await queue.get_task(task.id)
    assert (after.status, after.phase, after.attempt) == ("pending", "due", 0)
    assert (after.holder, after.until, after.started_at, after.error, after.progress) == (None,) * 5
    assert await queue.list_attempts(task.id) == []


async def test_a_release_uses_no_attempt(queue, job):
    submitted = (await queue.submit_task(job, max_attempts=1)).task_id
    for _ in range(5):
        lease = await claim(queue, job)
        assert lease.attempt == 1
        await queue.release_task(lease)
    assert (await queue.complete_task(await claim(queue, job))).status == "completed"
    assert (await queue.get_task(submitted)).attempt == 1


async def test_a_release_gives_back_only_its_own_attempt(queue, clock, job):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken")
    await clock.advance(seconds=11)
    second = await claim(queue, job)
    await queue.release_task(second)
    assert (await queue.get_task(task.id)).attempt == 1
    again = await claim(queue, job)
    assert (again.attempt, len({task.held.token, second.token, again.token})) == (2, 3)


async def test_a_released_task_keeps_its_place(queue, job):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{}] * 4)]
    await queue.release_task(await claim(queue, job))
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


async def test_a_released_task_keeps_its_place_among_other_jobs(queue, clock, job):
    await queue.register_job("@global", "tests", "Other")
    old = (await queue.submit_task(job)).task_id
    await clock.advance(seconds=5)
    await queue.submit_task("@global:tests:Other")
    await clock.advance(seconds=5)
    await queue.release_task(await claim(queue, job))
    (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    assert lease.task_id == old


async def test_a_released_batch_keeps_its_places(queue, job):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{}] * 6)]
    leases = await claim_all(queue, job, quantity=4)
    assert {item.status for item in await queue.release_tasks(list(reversed(leases)))} == {"pending"}
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


async def test_a_released_urgent_task_stays_urgent(queue, job):
    await queue.submit_task(job)
    urgent = (await queue.submit_task(job, priority=1)).task_id
    await queue.release_task(await claim(queue, job))
    assert (await claim(queue, job)).task_id == urgent


@pytest.mark.parametrize("delay", [timedelta(seconds=30), timedelta(days=2)], ids=str)
async def test_a_release_with_a_delay_makes_the_task_due_later(queue, clock, job, delay):
    task = await claimed(queue, job)
    assert (await queue.release_task(task.held, delay=delay)).status == "pending"
    after = await queue.get_task(task.id)
    assert (after.phase, after.attempt, after.error) == ("scheduled", 0, None)
    assert timedelta(0) <= clock.now() + delay - after.due_at < timedelta(seconds=20)
    assert await claim_all(queue, job) == []
    await clock.advance(delay + timedelta(seconds=1))
    lease = await claim(queue, job)
    assert (lease.task_id, lease.attempt) == (task.id, 1)


async def test_a_release_with_a_delay_of_nothing_makes_it_due_at_once(queue, job):
    task = await claimed(queue, job)
    await queue.release_task(task.held, delay=timedelta(0))
    assert (await claim(queue, job)).task_id == task.id


async def test_a_release_with_a_negative_delay_is_refused(queue, job, nothing_changes):
    task = await claimed(queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.release_task(task.held, delay=timedelta(seconds=-1))


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_released_lease_is_worth_nothing(queue, job, verb, nothing_changes):
    task = await running(queue, job)
    await queue.release_task(task.held)
    async with nothing_changes():
        answer = (await ACKNOWLEDGEMENTS[verb](queue, task.held))[0]
    assert answer.problem == LeaseLost.sqlstate


async def test_somebody_else_can_take_a_released_task(queue, job, worker):
    task = await running(queue, job)
    await queue.release_task(task.held)
    lease = (await queue.claim_tasks(worker.id, lease=MINUTE))[0]
    assert lease.task_id == task.id
    assert (await queue.complete_task(lease)).status == "completed"


async def test_a_release_records_no_failure(queue, job, read_events):
    task = await running(queue, job)
    await queue.release_task(task.held)
    assert [event.kind for event in await read_events(of_task=task.id)] == []
