"""Two connections, one schedule: a run that is due is submitted once, whoever comes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pgjobs.errors import ScheduleNotFound
from pgjobs.queue.server import ServerQueue as Queue
from tests.postgres.stage import JOB

TEN = timedelta(minutes=10)
OFTEN = "@global:often"


@pytest.fixture
async def due(queue, stage):
    """A schedule that is due."""
    await queue.register_schedule("often", JOB, every=TEN)
    await stage.advance(minutes=10)


async def test_a_schedule_that_is_being_run_is_passed_by(stage, queue, first, second, due):
    assert (await first.queue.fire_schedules()).fired == 1
    fired = await stage.soon(second.queue.fire_schedules())
    assert (fired.fired, fired.skipped) == (0, 0)
    await first.commit()
    assert (await queue.fire_schedules()).fired == 0
    assert len(await queue.list_tasks()) == 1


async def test_a_run_that_is_rolled_back_is_made_again(stage, queue, first, due):
    await first.queue.fire_schedules()
    await first.rollback()
    assert (await queue.fire_schedules()).fired == 1
    assert len(await queue.list_tasks()) == 1


async def test_pausing_waits_for_the_run_in_flight_and_is_the_last(stage, queue, first, second, due):
    await first.queue.fire_schedules()
    pausing = await stage.waits(second, second.queue.pause_schedule(OFTEN), behind=first)
    await first.commit()
    assert (await pausing).state == "paused"
    await second.commit()
    await stage.advance(hours=1)
    assert (await queue.fire_schedules()).fired == 0
    assert [run.status for run in (await queue.get_schedule(OFTEN)).recent] == ["pending"]


async def test_a_schedule_that_is_being_paused_is_passed_by(stage, queue, first, second, due):
    await first.queue.pause_schedule(OFTEN)
    assert (await stage.soon(second.queue.fire_schedules())).fired == 0
    await first.rollback()
    assert (await queue.fire_schedules()).fired == 1


async def test_what_others_have_in_hand_is_not_asked_for_again_at_once(stage, queue, first, second, due):
    await first.queue.pause_schedule(OFTEN)
    assert (await second.queue.fire_schedules()).due_in == timedelta(seconds=1)


async def test_asking_for_a_run_keeps_none_from_running(stage, queue, first, second, due):
    await first.queue.run_schedule(OFTEN)
    assert (await stage.soon(second.queue.fire_schedules())).fired == 1


@pytest.mark.parametrize("verb", ["pause_schedule", "resume_schedule", "retire_schedule", "run_schedule"])
async def test_a_schedule_that_is_being_retired_is_gone_for_others(stage, queue, first, second, due, verb):
    await first.queue.retire_schedule(OFTEN)
    late = await stage.waits(second, getattr(second.queue, verb)(OFTEN), behind=first)
    await first.commit()
    with pytest.raises(ScheduleNotFound):
        await late


async def test_a_schedule_whose_time_zone_is_gone_is_paused_and_the_others_run(stage, queue, due):
    await queue.register_schedule("lost", JOB, cron="0 * * * *", timezone="Europe/Berlin")
    async with stage.watcher.transaction():
        await stage.watcher.execute("select set_config('search_path', 'pg_catalog, pgjobs, pg_temp', true)")
        await stage.watcher.execute("update pgjobs.schedules set timezone = 'Moon/Base' where name = 'lost'")
    await stage.advance(hours=2)
    assert (await queue.fire_schedules()).fired == 2
    lost = await queue.get_schedule("@global:lost")
    assert (lost.state, lost.next_run_at) == ("paused", None)
    await stage.settle()
    [paused] = [event for event in await queue.list_events() if event.kind == "schedule_paused"]
    assert "Moon/Base" in paused.message
    await stage.advance(minutes=10)
    assert (await queue.fire_schedules()).fired == 1


async def test_a_change_waits_for_the_run_in_flight(stage, queue, first, second, due):
    await first.queue.fire_schedules()
    changing = await stage.waits(
        second, second.queue.register_schedule("often", JOB, every=2 * TEN), behind=first
    )
    await first.commit()
    assert (await changing).registered == "changed"
    await second.commit()
    assert len(await queue.list_tasks()) == 1
    schedule = await queue.get_schedule(OFTEN)
    assert schedule.next_run_at - schedule.last_run_at >= 2 * TEN


async def test_a_second_first_registration_waits_and_finds_the_schedule(stage, queue, first, second):
    mine = await first.queue.register_schedule("often", JOB, every=TEN)
    other = await stage.waits(second, second.queue.register_schedule("often", JOB, every=TEN), behind=first)
    await first.commit()
    assert (mine.registered, (await other).registered) == ("created", "unchanged")
    assert (await other).schedule_id == mine.schedule_id


async def test_deleting_the_job_takes_the_run_in_flight_along(stage, queue, first, second, due):
    await first.queue.fire_schedules()
    deleting = await stage.waits(second, second.queue.delete_job(JOB), behind=first)
    await first.commit()
    assert await deleting == 1
    await second.commit()
    assert await queue.list_tasks() == []
    assert await queue.list_schedules() == []


async def test_many_processes_run_each_schedule_once(database_url, stage, queue):
    for number in range(40):
        await queue.register_schedule(f"number {number}", JOB, every=TEN)
    for _ in range(3):
        await stage.advance(minutes=10)
        async with await Queue.connect(database_url) as one, await Queue.connect(database_url) as other:
            fired = await asyncio.gather(*(each.fire_schedules() for each in (queue, one, other) * 3))
        assert sum(answer.fired for answer in fired) == 40
    assert len(await queue.list_tasks(page_size=500)) == 120
