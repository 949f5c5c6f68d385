"""Schedules: jobs that run by themselves, each run once, by the database's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobUnavailable
from pgjobs.queue.records import ScheduleRun
from tests.conformance.stages import claim, claim_all

pytestmark = pytest.mark.postgres_only

MINUTE = timedelta(minutes=1)
TEN = 10 * MINUTE


async def test_nothing_runs_before_its_time(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await clock.advance(TEN - timedelta(seconds=1))
    fired = await queue.fire_schedules()
    assert (fired.fired, fired.skipped) == (0, 0)
    assert timedelta(0) < fired.due_in <= timedelta(seconds=1)
    assert await queue.list_tasks() == []


async def test_a_schedule_of_a_long_name_runs(queue, clock):
    room = "r" * 200
    await queue.register_job(room, "tests", "Own")
    registered = await queue.register_schedule("n" * 200, f"{room}:tests:Own", every=timedelta(minutes=1))
    await clock.advance(minutes=1)
    await queue.fire_schedules()
    await queue.run_schedule(str(registered.schedule_id))
    tasks = await queue.list_tasks()
    assert [task.submitter for task in tasks] == [f"schedule {room}"[:200]] * 2


async def test_a_due_schedule_submits_its_task_once(queue, clock, job):
    await queue.register_schedule(
        "often",
        job,
        every=TEN,
        payload={"a": 1},
        priority=2,
        max_attempts=7,
        owner="ada",
        project="p",
        tags=["x"],
    )
    due = (await queue.get_schedule("@global:often")).next_run_at
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 1
    again = await queue.fire_schedules()
    assert again.fired == 0
    assert timedelta(minutes=9) < again.due_in <= TEN
    [task] = await queue.list_tasks()
    assert (task.priority, task.max_attempts, task.owner, task.project) == (2, 7, "ada", "p")
    assert (task.status, task.submitter, task.due_at) == ("pending", "schedule @global:often", due)
    assert (await queue.get_task(task.id)).payload == {"a": 1}
    schedule = await queue.get_schedule("@global:often")
    assert (schedule.last_run_at, schedule.next_run_at) == (due, due + TEN)
    [run] = schedule.recent
    assert run == ScheduleRun(due, task.uuid, "pending", None, is_manual=False)


async def test_a_sweep_runs_what_is_due(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await clock.advance(TEN)
    swept = {step.swept: step for step in await queue.sweep()}
    assert (swept["schedules"].changed, swept["schedules"].error) == (1, None)
    assert len(await claim_all(queue, job)) == 1


async def test_only_the_asked_for_step_runs_schedules(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await clock.advance(TEN)
    await queue.sweep("leases")
    assert await queue.list_tasks() == []
    await queue.sweep("schedules")
    assert len(await queue.list_tasks()) == 1


async def test_a_batch_runs_the_longest_due_first(queue, clock, job):
    for minutes in (3, 1, 2):
        await queue.register_schedule(f"at {minutes}", job, every=minutes * MINUTE)
    await clock.advance(4 * MINUTE)
    fired = await queue.fire_schedules(batch=2)
    assert (fired.fired, fired.due_in) == (2, timedelta(0))
    assert [task.submitter for task in await queue.list_tasks()] == [
        "schedule @global:at 2",
        "schedule @global:at 1",
    ]
    assert (await queue.fire_schedules(batch=2)).fired == 1


async def test_runs_missed_are_made_up_for_once(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    first = (await queue.get_schedule("@global:often")).next_run_at
    await clock.advance(timedelta(hours=2, minutes=5))
    assert (await queue.fire_schedules()).fired == 1
    assert (await queue.fire_schedules()).fired == 0
    schedule = await queue.get_schedule("@global:often")
    assert schedule.last_run_at == first
    assert schedule.next_run_at == first + 12 * TEN


async def test_each_missed_run_is_made_up_for_on_request(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, missed="each")
    await clock.advance(35 * MINUTE)
    assert [(await queue.fire_schedules()).fired for _ in range(4)] == [1, 1, 1, 0]
    tasks = await queue.list_tasks()
    assert [tasks[n].due_at - tasks[n + 1].due_at for n in range(2)] == [TEN, TEN]


async def test_a_missed_run_is_passed_by_on_request(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, missed="skip")
    await clock.advance(TEN + timedelta(seconds=30))
    assert (await queue.fire_schedules()).fired == 1
    await clock.advance(TEN + 2 * MINUTE)
    fired = await queue.fire_schedules()
    assert (fired.fired, fired.skipped) == (0, 1)
    schedule = await queue.get_schedule("@global:often")
    assert [run.status for run in schedule.recent] == ["skipped", "pending"]
    assert schedule.recent[0].reason.startswith("Missed: no process started it for ")
    assert schedule.next_run_at - schedule.last_run_at == 2 * TEN


async def test_a_run_waits_for_no_other_unless_asked_to(queue, clock, job):
    await queue.register_schedule("meets", job, every=TEN)
    await queue.register_schedule("alone", job, every=TEN, overlap=False)
    for _ in range(2):
        await clock.advance(TEN)
        await queue.fire_schedules()
    assert [run.status for run in (await queue.get_schedule("@global:meets")).recent] == [
        "pending",
        "pending",
    ]
    alone = await queue.get_schedule("@global:alone")
    assert [run.status for run in alone.recent] == ["skipped", "pending"]
    assert alone.recent[0].reason == "A run before it has not ended"
    await queue.complete_tasks(await claim_all(queue, job))
    await clock.advance(TEN)
    await queue.fire_schedules()
    assert [run.status for run in (await queue.get_schedule("@global:alone")).recent] == [
        "pending", "skipped", "completed",
    ]  # fmt: skip


async def test_a_run_that_was_asked_for_counts_too_where_runs_must_not_meet(queue, clock, job):
    await queue.register_schedule("alone", job, every=TEN, overlap=False)
    await queue.run_schedule("@global:alone")
    await queue.run_schedule("@global:alone")
    await queue.complete_task(await claim(queue, job))
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).skipped == 1
    await queue.complete_task(await claim(queue, job))
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 1


async def test_runs_show_how_their_tasks_stand(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, max_attempts=1)
    statuses = []
    for _ in range(4):
        await clock.advance(TEN)
        await queue.fire_schedules()
    lease = await claim(queue, job)
    await queue.start_task(lease)
    await queue.complete_task(lease)
    lease = await claim(queue, job)
    await queue.start_task(lease)
    await queue.fail_task(lease, "broken")
    await claim(queue, job)
    statuses = [run.status for run in (await queue.get_schedule("@global:often")).recent]
    assert statuses == ["pending", "claimed", "failed", "completed"]


async def test_a_run_whose_task_was_removed_says_so(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await clock.advance(TEN)
    await queue.fire_schedules()
    await queue.complete_task(await claim(queue, job))
    await clock.advance(timedelta(days=31))
    await queue.pause_schedule("@global:often")
    await queue.prune_tasks()
    assert [run.status for run in (await queue.get_schedule("@global:often")).recent] == ["gone"]


async def test_the_last_ten_runs_are_shown_and_fifty_kept(queue, clock, job):
    await queue.register_schedule("often", job, every=timedelta(seconds=1), missed="each")
    await clock.advance(timedelta(seconds=70))
    for _ in range(70):
        await queue.fire_schedules()
    assert len(await queue.list_tasks(page_size=100)) == 70
    recent = (await queue.get_schedule("@global:often")).recent
    assert len(recent) == 10
    assert recent == sorted(recent, key=lambda run: run.due_at, reverse=True)


async def test_a_run_under_way_keeps_others_from_running_however_many_were_passed_by(queue, clock, job):
    await queue.register_schedule("often", job, every=timedelta(seconds=1), overlap=False)
    for _ in range(60):
        await clock.advance(timedelta(seconds=1))
        await queue.fire_schedules()
    [task] = await queue.list_tasks()
    assert {run.status for run in (await queue.get_schedule("@global:often")).recent} == {"skipped"}
    await queue.cancel_task(task.id)
    await clock.advance(timedelta(seconds=1))
    assert (await queue.fire_schedules()).fired == 1


async def test_a_day_has_as_many_seconds_whatever_clocks_do(queue, clock, job):
    await queue.register_schedule("daily", job, every=timedelta(days=1))
    first = (await queue.get_schedule("@global:daily")).next_run_at
    await clock.advance(timedelta(days=1))
    await queue.fire_schedules()
    assert (await queue.get_schedule("@global:daily")).next_run_at - first == timedelta(days=1)


async def test_resuming_what_is_not_paused_is_not_recorded(queue, clock, job, read_events):
    await queue.register_schedule("often", job, every=TEN)
    await queue.resume_schedule("@global:often")
    assert [event.kind for event in await read_events()] == ["job_registered", "schedule_registered"]


async def test_a_job_that_only_its_schedule_kept_goes_with_it(queue):
    await queue.register_job("lab", "tests", "Own")
    worker = await queue.register_worker("brief", jobs=["lab:tests:Own"])
    await queue.register_schedule("often", "lab:tests:Own", every=TEN)
    await queue.retire_worker(worker.id)
    assert (await queue.get_job("lab:tests:Own")).deleted_at is None
    await queue.retire_schedule("lab:often")
    assert (await queue.get_job("lab:tests:Own")).deleted_at is not None


async def test_a_paused_schedule_does_not_run(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    paused = await queue.pause_schedule("@global:often", actor="ops", reason="prices are being changed")
    assert (paused.state, paused.next_run_at) == ("paused", None)
    assert paused.paused_at is not None
    await clock.advance(timedelta(hours=1))
    fired = await queue.fire_schedules()
    assert (fired.fired, fired.due_in) == (0, None)
    resumed = await queue.resume_schedule("@global:often")
    assert resumed.state == "active"
    assert resumed.next_run_at - paused.paused_at > timedelta(hours=1)
    assert (await queue.fire_schedules()).fired == 0
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 1


async def test_pausing_twice_and_resuming_twice_are_as_good_as_once(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    first = await queue.pause_schedule("@global:often")
    await clock.advance(MINUTE)
    assert await queue.pause_schedule("@global:often") == first
    resumed = await queue.resume_schedule("@global:often")
    await clock.advance(MINUTE)
    assert await queue.resume_schedule("@global:often") == resumed


async def test_a_run_can_be_asked_for_out_of_turn(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, payload={"a": 1})
    before = await queue.get_schedule("@global:often")
    run = await queue.run_schedule("@global:often", actor="ops")
    task = await queue.get_task(run.task_id)
    assert (task.uuid, task.payload, task.submitter) == (run.task_uuid, {"a": 1}, "schedule @global:often")
    after = await queue.get_schedule("@global:often")
    assert after.next_run_at == before.next_run_at
    assert [(one.is_manual, one.task_uuid) for one in after.recent] == [(True, run.task_uuid)]
    await queue.pause_schedule("@global:often")
    await queue.run_schedule("@global:often")
    assert len(await queue.list_tasks()) == 2


async def test_what_happens_to_schedules_is_recorded(queue, clock, job, read_events):
    await queue.register_schedule("often", job, every=TEN, overlap=False, actor="ada")
    await queue.register_schedule("often", job, every=TEN, overlap=False, priority=1, actor="ada")
    for _ in range(2):
        await clock.advance(TEN)
        await queue.fire_schedules()
    await queue.run_schedule("@global:often", actor="ops", reason="just once")
    await queue.pause_schedule(
        "@global:often", actor="ops", reason="see https://ada:secret@example.org/?key=1"
    )
    await queue.resume_schedule("@global:often", actor="ops")
    await queue.retire_schedule("@global:often", actor="ops")
    events = [event for event in await read_events() if event.kind.startswith("schedule_")]
    assert [(event.kind.removeprefix("schedule_"), event.actor) for event in events] == [
        ("registered", "ada"), ("changed", "ada"), ("fired", None), ("skipped", None), ("run", "ops"),
        ("paused", "ops"), ("resumed", "ops"), ("retired", "ops"),
    ]  # fmt: skip
    assert {event.fields["schedule"] for event in events} == {"@global:often"}
    assert [event.task_id is not None for event in events] == [
        False,
        False,
        True,
        False,
        True,
        False,
        False,
        False,
    ]
    assert events[3].message == "A run before it has not ended"
    assert "secret" not in events[5].message


async def test_a_schedule_of_an_archived_job_is_passed_by_until_it_comes_back(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await queue.register_job("@global", "tests", "Other")
    await queue.register_schedule("other", "@global:tests:Other", every=TEN)
    await queue.archive_job(job)
    await clock.advance(TEN)
    fired = await queue.fire_schedules()
    assert (fired.fired, fired.skipped) == (1, 1)
    schedule = await queue.get_schedule("@global:often")
    assert schedule.state == "job archived"
    assert "archived" in schedule.recent[0].reason
    with pytest.raises(JobUnavailable):
        await queue.run_schedule("@global:often")
    await queue.unarchive_job(job)
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 2


async def test_a_schedule_says_that_its_job_is_paused(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN)
    await queue.pause_job(job)
    assert (await queue.get_schedule("@global:often")).state == "job paused"
    await clock.advance(TEN)
    assert (await queue.fire_schedules()).fired == 1


async def test_a_schedule_may_run_from_another_room_than_its_jobs(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, room="lab")
    await clock.advance(TEN)
    await queue.fire_schedules()
    assert [task.room for task in await queue.list_tasks()] == ["lab"]


async def test_schedules_in_trouble_are_found(queue, clock, job):
    await queue.register_schedule("late", job, every=TEN)
    await clock.advance(TEN + 3 * MINUTE)
    assert (await queue.get_schedule("@global:late")).state == "overdue"
    findings = {found.subject: found for found in await queue.findings()}
    assert findings["schedule @global:late"].severity == "error"
    assert "no process is starting it" in findings["schedule @global:late"].message
    await queue.fire_schedules()
    await queue.archive_job(job)
    [found] = [found for found in await queue.findings() if found.subject == "schedule @global:late"]
    assert (found.severity, found.message) == ("warning", f"Its runs are skipped: {job} is archived")


async def test_a_schedule_that_keeps_failing_is_found(queue, clock, job):
    await queue.register_schedule("often", job, every=TEN, max_attempts=1)
    for _ in range(3):
        assert [found for found in await queue.findings() if found.subject.startswith("schedule")] == []
        await clock.advance(TEN)
        await queue.fire_schedules()
        await queue.fail_task(await claim(queue, job), "broken")
    [found] = [found for found in await queue.findings() if found.subject.startswith("schedule")]
    assert found.message == "Its last three runs failed"


@pytest.mark.parametrize("batch", [0, 10001])
async def test_a_batch_has_bounds(queue, batch):
    with pytest.raises(InvalidArgument):
        await queue.fire_schedules(batch)


async def test_cron_runs_at_the_minute(queue, clock, job):
    await queue.register_schedule("hourly", job, cron="@hourly")
    for _ in range(3):
        due = (await queue.get_schedule("@global:hourly")).next_run_at
        assert (due.minute, due.second, due.microsecond) == (0, 0, 0)
        now = datetime.now(UTC)
        await clock.advance(timedelta(hours=1))
        fired = await queue.fire_schedules()
        assert fired.fired == 1, now
