"""Start and progress: what happens while somebody works."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import LeaseLost
from tests.conformance.stages import MINUTE, STAGES, claim, claimed, running

ENDED = ["completed", "failed", "retrying"]


async def test_a_started_task_runs(queue, clock, job):
    task = await claimed(queue, job)
    await clock.advance(seconds=5)
    started = await queue.start_task(task.held)
    assert (started.status, started.cancel_requested) == ("running", False)
    after = await queue.get_task(task.id)
    assert after.status == "running"
    assert after.started_at - after.claimed_at >= timedelta(seconds=5)
    assert (after.attempt, after.until) == (1, task.held.until)


async def test_starting_twice_changes_nothing(queue, clock, job):
    task = await running(queue, job)
    before = await queue.get_task(task.id)
    await clock.advance(seconds=5)
    assert (await queue.start_task(task.held)).status == "running"
    assert await queue.get_task(task.id) == before


@pytest.mark.parametrize(
    "progress", [{"done": 0.5}, 42, "half", [1, 2], True, 0, {"text": "žluť 馬"}], ids=repr
)
async def test_progress_is_kept(queue, job, progress):
    task = await running(queue, job)
    reported = (await queue.report_progress([task.held], [progress]))[0]
    assert (reported.task_id, reported.problem, reported.cancel_requested) == (task.id, None, False)
    assert (await queue.get_task(task.id)).progress == progress


async def test_later_progress_replaces_earlier(queue, job):
    task = await running(queue, job)
    await queue.report_progress([task.held], [{"done": 1, "of": 3}])
    await queue.report_progress([task.held], [{"done": 2}])
    assert (await queue.get_task(task.id)).progress == {"done": 2}


async def test_progress_of_a_claimed_task_starts_it(queue, job):
    task = await claimed(queue, job)
    await queue.report_progress([task.held], [{"done": 0}])
    after = await queue.get_task(task.id)
    assert after.status == "running"
    assert after.started_at is not None


async def test_progress_keeps_the_start(queue, clock, job):
    task = await running(queue, job)
    before = await queue.get_task(task.id)
    await clock.advance(seconds=5)
    await queue.report_progress([task.held], [{"done": 1}])
    assert (await queue.get_task(task.id)).started_at == before.started_at


@pytest.mark.postgres_only
async def test_progress_survives_a_retry(queue, clock, job):
    task = await running(queue, job)
    await queue.report_progress([task.held], [{"done": 1}])
    await queue.fail_task(task.held, "broken")
    assert (await queue.get_task(task.id)).progress == {"done": 1}
    await clock.advance(seconds=11)
    again = await claim(queue, job)
    assert (await queue.get_task(task.id)).progress == {"done": 1}
    await queue.report_progress([again], [{"done": 2}])
    assert (await queue.get_task(task.id)).progress == {"done": 2}


@pytest.mark.parametrize("stage", ENDED)
async def test_what_has_ended_cannot_be_started_again(queue, job, stage, nothing_changes):
    task = await STAGES[stage](queue, job)
    async with nothing_changes():
        with pytest.raises(LeaseLost):
            await queue.start_task(task.held)


@pytest.mark.parametrize("stage", ENDED)
async def test_what_has_ended_reports_no_progress(queue, job, stage, nothing_changes):
    task = await STAGES[stage](queue, job)
    async with nothing_changes():
        reported = (await queue.report_progress([task.held], [{"done": 1}]))[0]
    assert reported.problem == LeaseLost.sqlstate


async def test_every_attempt_starts_anew(queue, clock, job):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken")
    await clock.advance(seconds=11)
    second = await claim(queue, job)
    after = await queue.get_task(task.id)
    assert (after.status, after.started_at, after.attempt) == ("claimed", None, 2)
    await queue.start_task(second)
    assert (await queue.get_task(task.id)).status == "running"


async def test_a_batch_is_started_and_reported_as_one(queue, job):
    await queue.submit_tasks(job, [{}] * 5)
    held = [await claim(queue, job) for _ in range(5)]
    assert {item.status for item in await queue.start_tasks(held)} == {"running"}
    await queue.report_progress(held, [{"place": place} for place in range(5)])
    shown = {task.id: task.progress for task in await queue.list_tasks(status="running")}
    assert shown == {lease.task_id: {"place": place} for place, lease in enumerate(held)}


async def test_work_can_be_renewed_before_it_is_started(queue, job):
    task = await claimed(queue, job)
    await queue.renew_task(task.held, 5 * MINUTE)
    assert (await queue.get_task(task.id)).status == "claimed"
