"""Retention: ended tasks are kept for a while, pending ones for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, TaskNotFound
from tests.conformance.stages import STAGES, STATUS_OF, claim, completed, failed

DAY = timedelta(days=1)
KEPT_DAYS = {"completed": 30, "failed": 60, "cancelled": 60}


async def _is_there(queue, task_id):
    try:
        return (await queue.get_task(task_id)).id == task_id
    except TaskNotFound:
        return False


@pytest.mark.parametrize("status", KEPT_DAYS)
@pytest.mark.parametrize("by", ["sweep", "prune_tasks"])
async def test_ended_tasks_go_after_their_time(queue, clock, job, status, by):
    task = await STAGES[status](queue, job)
    await clock.advance(days=KEPT_DAYS[status] - 1)
    await getattr(queue, by)()
    assert await _is_there(queue, task.id)
    await clock.advance(days=2)
    await getattr(queue, by)()
    assert not await _is_there(queue, task.id)
    assert await queue.list_tasks() == []


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in KEPT_DAYS])
async def test_tasks_that_have_not_ended_are_never_removed(queue, clock, job, stage):
    task = await STAGES[stage](queue, job)
    await clock.advance(days=1000)
    assert await queue.prune_tasks(older_than=timedelta(0)) == []
    assert (await queue.get_task(task.id)).status == STATUS_OF[stage]


async def test_pruning_tells_what_it_removed(queue, clock, job):
    tasks = [await STAGES[status](queue, job) for status in KEPT_DAYS]
    ended = [(await queue.get_task(task.id)).ended_at for task in tasks]
    await clock.advance(days=100)
    pruned = await queue.prune_tasks()
    assert [(item.task_id, item.status, item.ended_at) for item in pruned] == [
        (task.id, status, at) for task, status, at in zip(tasks, KEPT_DAYS, ended, strict=True)
    ]
    assert await queue.prune_tasks() == []


async def test_a_dry_run_tells_the_same_and_removes_nothing(queue, clock, job, nothing_changes):
    for status in KEPT_DAYS:
        await STAGES[status](queue, job)
    await clock.advance(days=100)
    async with nothing_changes():
        told = await queue.prune_tasks(dry_run=True)
    assert len(told) == 3
    assert await queue.prune_tasks() == told


@pytest.mark.parametrize("status", KEPT_DAYS)
async def test_a_job_may_keep_its_tasks_for_a_time_of_its_own(queue, clock, job, status):
    await queue.register_job(*job.split(":"), retain_completed=2 * DAY, retain_failed=5 * DAY)
    task = await STAGES[status](queue, job)
    kept = 2 if status == "completed" else 5
    await clock.advance(days=kept - 1)
    assert await queue.prune_tasks() == []
    await clock.advance(days=2)
    assert [item.task_id for item in await queue.prune_tasks()] == [task.id]


@pytest.mark.parametrize("status", KEPT_DAYS)
async def test_a_job_may_keep_its_tasks_for_ever(queue, clock, job, status):
    await queue.register_job(*job.split(":"), retain_completed=timedelta(0), retain_failed=timedelta(0))
    task = await STAGES[status](queue, job)
    await clock.advance(days=5000)
    await queue.sweep()
    assert await queue.prune_tasks() == []
    assert await _is_there(queue, task.id)


async def test_an_operator_may_prune_sooner(queue, clock, job):
    old = await completed(queue, job)
    await clock.advance(hours=5)
    fresh = await completed(queue, job)
    assert [item.task_id for item in await queue.prune_tasks(older_than=timedelta(hours=4))] == [old.id]
    assert await _is_there(queue, fresh.id)


@pytest.mark.parametrize("status", KEPT_DAYS)
async def test_an_operator_may_prune_one_status(queue, clock, job, status):
    tasks = {status: (await STAGES[status](queue, job)).id for status in KEPT_DAYS}
    await clock.advance(days=100)
    assert [item.task_id for item in await queue.prune_tasks(of_status=status)] == [tasks[status]]
    assert len(await queue.list_tasks()) == 2


async def test_an_operator_may_prune_one_job(queue, clock, job):
    await queue.register_job("@global", "tests", "Other")
    await completed(queue, "@global:tests:Other")
    mine = await completed(queue, job)
    await clock.advance(days=100)
    assert [item.task_id for item in await queue.prune_tasks(of_job=job)] == [mine.id]
    assert len(await queue.list_tasks()) == 1


async def test_pruning_goes_in_bounded_batches_oldest_first(queue, clock, job):
    ids = [(await completed(queue, job)).id for _ in range(5)]
    await clock.advance(days=100)
    batches = [[item.task_id for item in await queue.prune_tasks(batch=2)] for _ in range(4)]
    assert batches == [ids[:2], ids[2:4], ids[4:], []]


async def test_a_pruned_task_leaves_nothing_to_ask_for(queue, clock, job):
    task = await failed(queue, job)
    shown = await queue.get_task(task.id)
    await clock.advance(days=100)
    await queue.sweep()
    for call in (
        queue.get_task(task.id),
        queue.get_task(task_uuid=shown.uuid),
        queue.list_attempts(task.id),
        queue.retry_task(task.id),
        queue.complete_task(task.held),
    ):
        with pytest.raises(TaskNotFound):
            await call


async def test_a_task_that_was_retried_is_not_counted_by_its_first_end(queue, clock, job):
    task = await failed(queue, job)
    await clock.advance(days=59)
    await queue.retry_task(task.id)
    await queue.fail_task(await claim(queue, job), "again", retryable=False)
    await clock.advance(days=2)
    assert await queue.prune_tasks() == []
    await clock.advance(days=60)
    assert [item.task_id for item in await queue.prune_tasks()] == [task.id]


async def test_the_tasks_of_a_retired_job_are_removed_in_time(queue, clock, job):
    task = await completed(queue, job)
    await queue.retire_job(job)
    await clock.advance(days=31)
    assert [item.task_id for item in await queue.prune_tasks()] == [task.id]


@pytest.mark.parametrize(
    "wish",
    [
        {"of_status": "pending"},
        {"of_status": "ignored"},
        {"of_status": ""},
        {"older_than": timedelta(seconds=-1)},
        {"batch": 0},
        {"batch": -5},
        {"batch": 100_001},
    ],
    ids=str,
)
async def test_a_pruning_that_cannot_be_is_refused(queue, clock, job, wish, nothing_changes):
    await completed(queue, job)
    await clock.advance(days=100)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.prune_tasks(**wish)


async def test_the_tasks_of_an_unknown_job_cannot_be_pruned(queue):
    with pytest.raises(JobNotFound):
        await queue.prune_tasks(of_job="@global:tests:Nothing")
