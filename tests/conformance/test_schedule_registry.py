"""Schedules as they are registered, listed and refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pgjobs.errors import InvalidArgument, InvalidRoom, JobNotFound, JobUnavailable, ScheduleNotFound

pytestmark = pytest.mark.postgres_only

MINUTE = timedelta(minutes=1)
TEN = 10 * MINUTE


async def names(queue: Any) -> list[str]:
    return [schedule.name for schedule in await queue.list_schedules()]


async def test_a_schedule_says_when_it_runs_next(queue, clock, job):
    registered = await queue.register_schedule("often", job, every=TEN, payload={"a": 1}, tags=["night"])
    schedule = await queue.get_schedule(str(registered.schedule_id))
    assert registered.registered == "created"
    assert (schedule.full_name, schedule.job, schedule.state) == ("@global:often", job, "active")
    assert schedule.payload == {"a": 1}
    assert schedule.tags == ["night"]
    assert schedule.next_run_at - schedule.created_at == TEN
    assert schedule.upcoming == [schedule.next_run_at + n * TEN for n in range(5)]
    assert schedule.recent == []
    assert schedule == await queue.get_schedule(str(schedule.uuid))
    assert schedule == await queue.get_schedule("@global:often")
    assert schedule.words == "Every 10 minutes"


async def test_registering_again_changes_nothing_or_everything(queue, clock, job):
    options: dict[str, Any] = {"every": TEN, "payload": {"a": 1}, "tags": ["x"], "max_attempts": 2}
    first = await queue.register_schedule("often", job, **options)
    before = await queue.get_schedule("@global:often")
    await clock.advance(MINUTE)
    assert (await queue.register_schedule("often", job, **options)).registered == "unchanged"
    assert await queue.get_schedule("@global:often") == before
    changed = await queue.register_schedule("often", job, every=TEN)
    assert (changed.schedule_id, changed.registered) == (first.schedule_id, "changed")
    after = await queue.get_schedule("@global:often")
    assert (after.payload, after.tags, after.max_attempts) == ({}, None, None)
    assert after.next_run_at == before.next_run_at
    await queue.register_schedule("often", job, every=5 * MINUTE)
    again = await queue.get_schedule("@global:often")
    assert again.next_run_at - before.created_at > 5 * MINUTE
    assert again.next_run_at < before.next_run_at


async def test_a_schedule_may_change_its_job(queue, clock, job):
    await queue.register_job("@global", "tests", "Other")
    await queue.register_schedule("often", job, every=TEN)
    await queue.register_schedule("often", "@global:tests:Other", every=TEN)
    await clock.advance(TEN)
    await queue.fire_schedules()
    assert [task.job for task in await queue.list_tasks()] == ["@global:tests:Other"]


async def test_a_paused_schedule_stays_paused_when_it_is_registered_again(queue, job):
    await queue.register_schedule("often", job, every=TEN)
    await queue.pause_schedule("@global:often")
    assert (await queue.register_schedule("often", job, every=MINUTE)).registered == "changed"
    schedule = await queue.get_schedule("@global:often")
    assert (schedule.state, schedule.next_run_at, schedule.every) == ("paused", None, MINUTE)


async def test_a_retired_schedule_is_gone_and_its_tasks_stay(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await queue.run_schedule("@global:often")
    await queue.retire_schedule("@global:often", actor="ops")
    assert await queue.list_schedules() == []
    assert len(await queue.list_tasks()) == 1
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 0


async def test_a_scheduled_job_outlives_its_last_worker(queue, clock):
    kept, gone = "@global:tests:Kept", "@global:tests:Gone"
    for address in (kept, gone):
        await queue.register_job(*address.split(":"))
    await queue.register_schedule("often", kept, every=TEN)
    worker = await queue.register_worker("one", jobs=[kept, gone])
    await queue.retire_worker(worker.id)
    assert [one.full_name for one in await queue.list_jobs()] == [kept]
    await queue.retire_job(kept)
    assert (await queue.get_schedule("@global:often")).state == "job retired"
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).skipped == 1


async def test_a_deleted_job_takes_its_schedules_along(queue, job):
    await queue.register_schedule("often", job, every=TEN)
    await queue.delete_job(job)
    assert await queue.list_schedules() == []


async def test_lists_show_what_is_due_next_first_and_the_paused_last(queue, clock, job):
    await queue.register_job("lab", "tests", "Own")
    for name, minutes in (("slow", 30), ("quick", 1), ("halted", 2)):
        await queue.register_schedule(name, job, every=minutes * MINUTE)
    await queue.register_schedule("local", "lab:tests:Own", every=TEN)
    await queue.pause_schedule("@global:halted")
    assert await names(queue) == ["quick", "local", "slow", "halted"]
    assert [schedule.name for schedule in await queue.list_schedules("lab")] == ["local"]
    assert [schedule.name for schedule in await queue.list_schedules(job=job)] == ["quick", "slow", "halted"]
    assert [schedule.name for schedule in await queue.list_schedules(page_size=2, page_offset=1)] == [
        "local",
        "slow",
    ]
    assert (await queue.count_schedules()).total == 4
    assert (await queue.count_schedules("lab")).total == 1
    assert (await queue.count_schedules(job=job)).total == 3


async def test_a_name_is_taken_once_in_each_room(queue):
    for room in ("lab", "attic"):
        await queue.register_job(room, "tests", "Own")
        assert (
            await queue.register_schedule("daily", f"{room}:tests:Own", cron="@daily")
        ).registered == "created"
    assert (await queue.get_schedule("lab:daily")).job == "lab:tests:Own"
    assert (await queue.get_schedule("attic:daily")).job == "attic:tests:Own"


REFUSED: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "no times": ({}, InvalidArgument),
    "both kinds of times": ({"cron": "@daily", "every": TEN}, InvalidArgument),
    "no cron": ({"cron": "tomorrow"}, InvalidArgument),
    "seconds": ({"cron": "*/5 * * * * *"}, InvalidArgument),
    "an hour too many": ({"cron": "0 24 * * *"}, InvalidArgument),
    "no such day": ({"cron": "0 0 30 2 *"}, InvalidArgument),
    "an empty cron": ({"cron": ""}, InvalidArgument),
    "half a second": ({"every": timedelta(seconds=0.5)}, InvalidArgument),
    "two years": ({"every": timedelta(days=730)}, InvalidArgument),
    "no time": ({"every": timedelta(0)}, InvalidArgument),
    "no zone": ({"cron": "@daily", "timezone": "Moon/Base"}, InvalidArgument),
    "a zone with a number": ({"cron": "@daily", "timezone": "Moon/Base5"}, InvalidArgument),
    "a zone in small letters": ({"cron": "@daily", "timezone": "Europe/berlin"}, InvalidArgument),
    "a zone beyond all": ({"cron": "@daily", "timezone": "Etc/GMT+20"}, InvalidArgument),
    "a long expression": ({"cron": f"{'0-59,' * 40}0 * * * *"}, InvalidArgument),
    "a quoted zone": ({"cron": "@daily", "timezone": "'; drop table x"}, InvalidArgument),
    "no rule": ({"every": TEN, "missed": "never"}, InvalidArgument),
    "no name": ({"every": TEN, "name": ""}, InvalidArgument),
    "a long name": ({"every": TEN, "name": "n" * 201}, InvalidArgument),
    "no priority": ({"every": TEN, "priority": 11}, InvalidArgument),
    "no attempts": ({"every": TEN, "max_attempts": 0}, InvalidArgument),
    "a long owner": ({"every": TEN, "owner": "o" * 201}, InvalidArgument),
    "a long project": ({"every": TEN, "project": "p" * 201}, InvalidArgument),
    "a long tag": ({"every": TEN, "tags": ["fine", "t" * 201]}, InvalidArgument),
    "many tags": ({"every": TEN, "tags": ["t"] * 21}, InvalidArgument),
    "no room": ({"every": TEN, "room": "a:b"}, InvalidRoom),
    "no job": ({"every": TEN, "job": "@global:tests:Nothing"}, JobNotFound),
    "another room's job": ({"every": TEN, "job": "lab:tests:Own", "room": "attic"}, JobNotFound),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_schedule_that_cannot_be_is_refused(queue, job, nothing_changes, case):
    await queue.register_job("lab", "tests", "Own")
    options, problem = REFUSED[case]
    async with nothing_changes():
        with pytest.raises(problem):
            await queue.register_schedule(**{"name": "often", "job": job} | options)
    assert await queue.list_schedules() == []


async def test_a_schedule_of_an_archived_job_is_refused(queue, job):
    await queue.archive_job(job)
    with pytest.raises(JobUnavailable):
        await queue.register_schedule("often", job, every=TEN)


@pytest.mark.parametrize(
    "verb", ["get_schedule", "run_schedule", "pause_schedule", "resume_schedule", "retire_schedule"]
)
@pytest.mark.parametrize(
    "schedule", ["@global:none", "4711", "00000000-0000-4000-8000-000000000000", "none", ""]
)
async def test_an_unknown_schedule_is_not_found(queue, verb, schedule):
    with pytest.raises(ScheduleNotFound):
        await getattr(queue, verb)(schedule)


async def test_times_can_be_seen_beforehand(queue, clock):
    times = await queue.preview_schedule("*/20 9 * * *", timezone="Europe/Berlin", quantity=4)
    assert len(times) == 4
    assert {time.second for time in times} == {0}
    assert [time.minute for time in times] in ([0, 20, 40, 0], [20, 40, 0, 20], [40, 0, 20, 40])
    assert [time - times[0] for time in await queue.preview_schedule(every=TEN, quantity=2)]
    for wrong in ({"cron": "x"}, {"cron": "@daily", "quantity": 0}, {"cron": "@daily", "quantity": 101}, {}):
        with pytest.raises(InvalidArgument):
            await queue.preview_schedule(**wrong)
