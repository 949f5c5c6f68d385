"""Sweeps: one pass of upkeep, step by step, bounded, and never touching what lives."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument
from tests.conformance.stages import MINUTE, STAGES, STATUS_OF, claim_all, running

STEPS = ["leases", "workers", "internal", "scheduled", "reads", "retention"]
SECRET = "@internal:tests:Secret"


async def _changed(queue, step, **options):
    swept = await queue.sweep(step, **options)
    assert [(item.swept, item.error) for item in swept] == [(step, None)]
    return swept[0].changed


async def _internal(queue, *, start=True, max_attempts=1):
    """An @internal task on a worker that lives by heartbeats."""
    await queue.register_job(*SECRET.split(":"), max_attempts=max_attempts)
    submitted = (await queue.submit_task(SECRET)).task_id
    worker = await queue.register_worker(jobs=[SECRET])
    lease = (await queue.claim_tasks(worker.id, start=start))[0]
    return submitted, worker, lease


async def test_a_sweep_takes_its_steps_in_order(queue):
    swept = await queue.sweep()
    assert [item.swept for item in swept if item.swept in STEPS] == STEPS
    assert [(item.changed, item.error) for item in swept] == [(0, None)] * len(swept)


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_can_be_taken_alone(queue, step):
    assert await _changed(queue, step) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"step": "rescue"},
        {"step": ""},
        {"batch": 0},
        {"batch": -1},
        {"batch": 100_001},
        {"worker_timeout": timedelta(0)},
        {"worker_timeout": timedelta(-1)},
    ],
)
async def test_a_sweep_that_cannot_be_is_refused(queue, options, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.sweep(**options)


@pytest.mark.parametrize("stage", STAGES)
async def test_a_sweep_leaves_alone_what_is_as_it_should_be(queue, job, stage, nothing_changes):
    await STAGES[stage](queue, job)
    async with nothing_changes():
        swept = await queue.sweep()
    assert {item.changed for item in swept if item.swept in STEPS} == {0}


@pytest.mark.parametrize("stage", [stage for stage in STAGES if STATUS_OF[stage] in ("pending", "ignored")])
async def test_waiting_tasks_are_left_alone_however_old(queue, clock, job, stage):
    task = await STAGES[stage](queue, job)
    await clock.advance(days=365)
    await queue.sweep()
    assert (await queue.get_task(task.id)).status == STATUS_OF[stage]


async def test_lapsed_leases_are_swept_in_bounded_batches(queue, clock, job):
    await queue.submit_tasks(job, [{}] * 5)
    await claim_all(queue, job)
    await clock.advance(seconds=61)
    assert [await _changed(queue, "leases", batch=2) for _ in range(4)] == [2, 2, 1, 0]
    assert {task.status for task in await queue.list_tasks()} == {"pending"}


async def test_the_step_for_leases_leaves_leases_that_hold(queue, clock, job):
    await queue.submit_tasks(job, [{}] * 2)
    short = (await claim_all(queue, job, quantity=1, lease=timedelta(seconds=30)))[0]
    long = (await claim_all(queue, job, quantity=1, lease=timedelta(minutes=30)))[0]
    await clock.advance(minutes=5)
    assert await _changed(queue, "leases") == 1
    assert (await queue.get_task(short.task_id)).status == "pending"
    assert (await queue.get_task(long.task_id)).status == "claimed"


async def test_silent_workers_are_swept_with_their_work(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id)
    await clock.advance(seconds=61)
    assert await _changed(queue, "workers") == 1
    assert await queue.list_workers() == []
    task = await queue.get_task(submitted)
    assert (task.status, task.error) == ("pending", "Worker disconnected")
    assert (await queue.get_job(job)).workers == []


async def test_a_swept_worker_retires_its_orphan_jobs(queue, clock, job, worker):
    await clock.advance(seconds=61)
    await queue.sweep()
    assert (await queue.get_job(job)).deleted_at is not None


async def test_a_job_that_went_comes_back_for_a_task_that_was_retried(queue, job, worker):
    task = await STAGES["pending"](queue, job)
    await queue.cancel_task(task.id)
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1
    await queue.retry_task(task.id)
    assert await queue.claim_tasks(holder="somebody", lease=MINUTE, in_room="@global") == []
    await queue.sweep("workers")
    [lease] = await queue.claim_tasks(holder="somebody", lease=MINUTE, in_room="@global")
    assert lease.task_id == task.id


async def test_a_job_that_went_comes_back_for_a_task_that_will_be_retried(queue, clock, job, worker):
    await queue.submit_task(job, max_attempts=2)
    [lease] = await queue.claim_tasks(holder="somebody", lease=MINUTE, in_room="@global")
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1
    assert (await queue.fail_tasks([lease], ["broken"]))[0].status == "pending"
    await queue.sweep("workers")
    await clock.advance(hours=1)
    [again] = await queue.claim_tasks(holder="somebody", lease=MINUTE, in_room="@global")
    assert again.task_id == lease.task_id


async def test_living_workers_are_left_alone(queue, clock, job, worker):
    silent = await queue.register_worker(jobs=[job])
    await clock.advance(seconds=40)
    await queue.heartbeat_worker(worker.id)
    await clock.advance(seconds=40)
    assert await _changed(queue, "workers") == 1
    assert [shown.id for shown in await queue.list_workers()] == [worker.id]
    assert silent.id not in (await queue.get_job(job)).workers


async def test_a_heartbeat_before_the_sweep_keeps_a_late_worker(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    held = (await queue.claim_tasks(worker.id))[0]
    await clock.advance(minutes=10)
    await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "claimed"
    assert (await queue.complete_task(held)).status == "completed"


async def test_a_sweep_can_be_more_or_less_patient_with_silent_workers(queue, clock, job, worker):
    await clock.advance(seconds=90)
    await queue.sweep(worker_timeout=timedelta(seconds=91))
    assert worker.id in (await queue.get_job(job)).workers
    await queue.heartbeat_worker(worker.id)
    await clock.advance(seconds=10)
    await queue.sweep()
    assert worker.id in (await queue.get_job(job)).workers
    await queue.sweep(worker_timeout=timedelta(seconds=9))
    assert worker.id not in [known.id for known in await queue.list_workers()]


async def test_long_running_external_tasks_are_left_alone(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id, start=True)
    await clock.advance(days=3)
    await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "running"


@pytest.mark.parametrize("max_attempts", [1, 5])
async def test_a_stuck_internal_task_fails_for_good(queue, clock, max_attempts):
    submitted, worker, _lease = await _internal(queue, max_attempts=max_attempts)
    await clock.advance(seconds=3601)
    await queue.heartbeat_worker(worker.id)
    assert await _changed(queue, "internal") == 1
    task = await queue.get_task(submitted)
    assert (task.status, task.error) == ("failed", "Internal worker timeout")
    assert [shown.id for shown in await queue.list_workers()] == [worker.id]


async def test_an_internal_task_that_runs_within_its_time_is_left_alone(queue, clock):
    submitted, worker, _lease = await _internal(queue)
    await clock.advance(seconds=3500)
    await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "running"


async def test_an_internal_task_is_measured_from_its_start(queue, clock):
    await queue.register_job(*SECRET.split(":"))
    submitted = (await queue.submit_task(SECRET)).task_id
    await clock.advance(hours=5)
    worker = await queue.register_worker(jobs=[SECRET])
    lease = (await queue.claim_tasks(worker.id, start=True))[0]
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "running"
    assert (await queue.complete_task(lease)).status == "completed"


async def test_an_internal_task_that_was_never_started_is_measured_from_its_submission(queue, clock):
    submitted, worker, _lease = await _internal(queue, start=False)
    await clock.advance(seconds=3601)
    await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    task = await queue.get_task(submitted)
    assert (task.status, task.error) == ("failed", "Internal worker timeout")


async def test_waiting_internal_tasks_are_left_alone(queue, clock):
    await queue.register_job(*SECRET.split(":"))
    submitted = (await queue.submit_task(SECRET)).task_id
    await clock.advance(days=1)
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "pending"


async def test_the_scheduled_step_is_bounded(queue, clock, job):
    await queue.submit_tasks(job, [{}] * 5, delay=MINUTE)
    await clock.advance(minutes=2)
    assert [await _changed(queue, "scheduled", batch=2) for _ in range(4)] == [2, 2, 1, 0]


async def test_one_sweep_does_everything_at_once(queue, clock, job, worker):
    lapsed = await running(queue, job)
    lost = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id)
    later = (await queue.submit_task(job, delay=MINUTE)).task_id
    await clock.advance(minutes=2)
    changed = {item.swept: item.changed for item in await queue.sweep()}
    assert (changed["leases"], changed["workers"], changed["scheduled"]) == (1, 1, 1)
    assert (await queue.get_task(lapsed.id)).error == "lease_expired"
    assert (await queue.get_task(lost)).error == "Worker disconnected"
    assert (await queue.get_task(later)).phase == "due"


async def test_sweeps_at_once_do_the_work_once(queue, clock, job):
    await queue.submit_tasks(job, [{}] * 50)
    await claim_all(queue, job)
    await clock.advance(seconds=61)
    sweeps = await asyncio.gather(*(queue.sweep("leases") for _ in range(8)))
    assert sum(item.changed for swept in sweeps for item in swept) == 50
    assert {item.error for swept in sweeps for item in swept} == {None}
    assert {task.attempt for task in await queue.list_tasks(status="pending")} == {1}


async def test_sweeps_at_once_clean_up_after_each_worker_once(queue, clock, job):
    for _ in range(10):
        worker = await queue.register_worker(jobs=[job])
        await queue.submit_task(job)
        await queue.claim_tasks(worker.id)
    await clock.advance(seconds=61)
    sweeps = await asyncio.gather(*(queue.sweep("workers") for _ in range(8)))
    assert sum(item.changed for swept in sweeps for item in swept) == 10
    assert {item.error for swept in sweeps for item in swept} == {None}
    tasks = await queue.list_tasks(status="pending")
    assert [(task.attempt, task.error) for task in tasks] == [(1, "Worker disconnected")] * 10
    assert await queue.list_workers() == []
