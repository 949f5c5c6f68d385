"""What operators look at shows what is there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound
from tests.conformance.stages import STAGES, claim, pending

pytestmark = pytest.mark.postgres_only

MINUTE = timedelta(minutes=1)
# What a task in each stage counts as.
COUNTED_AS = {
    "pending": "waiting",
    "scheduled": "scheduled",
    "retrying": "scheduled",
    "claimed": "claimed",
    "running": "running",
    "ignored": "ignored",
}
ENDED_AS = {
    "completed": "completed_last_hour",
    "failed": "failed_last_hour",
    "cancelled": "cancelled_last_hour",
}


async def findings_of(queue):
    """Findings about the queue: a server for tests is not durable, and says so."""
    return [finding for finding in await queue.findings() if finding.subject != "server"]


async def test_an_empty_queue_has_nothing_to_show(queue, home):
    # By a clock that was moved, a transaction that another test has just left looks old.
    await home.settle()
    overview = await queue.overview()
    assert (overview.jobs, overview.workers, overview.waiting, overview.oldest_wait) == (0, 0, 0, None)
    assert await findings_of(queue) == []
    for look in (queue.top, queue.jobs_status, queue.running, queue.waiting, queue.failed, queue.stuck):
        assert await look() == []
    for look in (queue.scheduled_tasks, queue.errors, queue.workers_status, queue.providers_status):
        assert await look() == []


@pytest.mark.parametrize("stage", COUNTED_AS)
async def test_a_task_is_counted_where_it_is(queue, job, stage):
    await STAGES[stage](queue, job)
    overview = await queue.overview()
    counted = {name: getattr(overview, name) for name in COUNTED_AS.values()}
    assert counted == dict.fromkeys(COUNTED_AS.values(), 0) | {COUNTED_AS[stage]: 1}
    [status] = await queue.jobs_status()
    assert [getattr(status, name) for name in ("waiting", "scheduled", "claimed", "running")] == [
        getattr(overview, name) for name in ("waiting", "scheduled", "claimed", "running")
    ]


async def test_some_jobs_are_shown_alone(queue, job):
    await queue.register_job("@global", "tests", "Other")
    other = await queue.get_job("@global:tests:Other")
    await pending(queue, job)
    [status] = await queue.jobs_status([other.id])
    assert (status.job, status.waiting) == ("@global:tests:Other", 0)
    assert len(await queue.jobs_status()) == 2
    assert await queue.jobs_status([]) == []


@pytest.mark.parametrize("stage", ENDED_AS)
async def test_what_ended_is_counted_in_its_hour(queue, clock, job, stage):
    await STAGES[stage](queue, job)
    await queue.sweep()
    overview = await queue.overview()
    assert {name: getattr(overview, name) for name in ENDED_AS.values()} == dict.fromkeys(
        ENDED_AS.values(), 0
    ) | {ENDED_AS[stage]: 1}
    [status] = await queue.jobs_status()
    [without_times] = await queue.jobs_status(with_times=False)
    assert getattr(status, ENDED_AS[stage]) == getattr(without_times, ENDED_AS[stage]) == 1
    await clock.advance(minutes=62)
    assert getattr(await queue.overview(), ENDED_AS[stage]) == 0


async def test_how_long_tasks_waited_and_ran_is_measured(queue, clock, job):
    task = await pending(queue, job)
    await clock.advance(seconds=20)
    lease = await claim(queue, job)
    assert lease.task_id == task.id
    await clock.advance(seconds=3)
    await queue.complete_task(lease)
    await queue.sweep()
    overview = await queue.overview()
    assert 10 <= overview.wait_p50 <= overview.wait_p95 <= 30
    assert 2.5 <= overview.run_p50 <= overview.run_p95 <= 5
    [status] = await queue.jobs_status()
    assert (status.wait_p50, status.run_p95) == (overview.wait_p50, overview.run_p95)
    [without_times] = await queue.jobs_status(with_times=False)
    assert (without_times.wait_p50, without_times.run_p95) == (None, None)


async def test_the_oldest_wait_is_that_of_the_first_in_line(queue, clock, job):
    await pending(queue, job)
    await clock.advance(minutes=10)
    await pending(queue, job)
    assert 10 * MINUTE <= (await queue.overview()).oldest_wait < 11 * MINUTE


async def test_throughput_shows_every_step_of_the_time_asked_for(queue, clock, job):
    await STAGES["completed"](queue, job)
    await STAGES["failed"](queue, job)
    await STAGES["retrying"](queue, job)
    await queue.sweep()
    shown = await queue.throughput(since=timedelta(minutes=10))
    assert len(shown) in (10, 11)
    assert {later.at - earlier.at for earlier, later in zip(shown, shown[1:], strict=False)} == {MINUTE}
    assert (sum(s.completed for s in shown), sum(s.failed for s in shown), sum(s.retried for s in shown)) == (
        1,
        1,
        1,
    )
    [*_, hour] = await queue.throughput(job, since=timedelta(hours=2), step=timedelta(hours=1))
    assert hour.completed + hour.failed == 2


async def test_throughput_is_that_of_the_job_asked_for(queue, job):
    await queue.register_job("@global", "tests", "Quiet")
    await STAGES["completed"](queue, job)
    await queue.sweep()
    assert sum(step.completed for step in await queue.throughput("@global:tests:Quiet")) == 0
    assert sum(step.completed for step in await queue.throughput(job)) == 1
    with pytest.raises(JobNotFound):
        await queue.throughput("@global:tests:Nobody")


@pytest.mark.parametrize(
    "wish",
    [
        {"step": timedelta(seconds=30)},
        {"since": timedelta(0)},
        {"since": timedelta(days=365)},
    ],
)
async def test_throughput_in_too_many_steps_is_refused(queue, wish):
    with pytest.raises(InvalidArgument):
        await queue.throughput(**wish)


@pytest.mark.parametrize("is_swept", [False, True])
async def test_errors_that_differ_in_numbers_count_as_one(queue, clock, job, is_swept):
    for number in (1, 22, 333):
        await queue.submit_task(job)
        await queue.fail_task(await claim(queue, job), f"host db{number} did not answer", kind="network")
    await queue.submit_task(job)
    await queue.fail_task(await claim(queue, job), "no disk", retryable=False)
    if is_swept:
        await queue.sweep()
    network, disk = await queue.errors()
    assert (network.error_kind, network.last_hour, network.last_day, network.last_week) == (
        "network",
        3,
        3,
        3,
    )
    assert network.message == "host db333 did not answer"
    assert (disk.job, disk.message, disk.last_week) == (job, "no disk", 1)
    assert network.fingerprint != disk.fingerprint
    assert await queue.errors("@global:tests:Work") == [network, disk]


async def test_errors_leave_the_hour_the_day_and_the_week(queue, clock, job):
    await STAGES["failed"](queue, job)
    await queue.sweep()
    seen = []
    for wait in (timedelta(), timedelta(minutes=66), timedelta(hours=24), timedelta(days=6)):
        await clock.advance(wait)
        await queue.sweep()
        seen.append([(error.last_hour, error.last_day, error.last_week) for error in await queue.errors()])
    assert seen == [[(1, 1, 1)], [(0, 1, 1)], [(0, 0, 1)], []]


async def test_errors_are_counted_once_however_often_swept(queue, job):
    for _ in range(5):
        await STAGES["failed"](queue, job)
        await queue.sweep(batch=1)
        await queue.sweep("errors")
    assert [error.last_week for error in await queue.errors()] == [5]


async def test_running_tasks_show_who_holds_them(queue, clock, worker, job):
    await pending(queue, job)
    [lease] = await queue.claim_tasks(worker.id, lease=5 * MINUTE)
    await queue.start_task(lease)
    await queue.report_progress([lease], [{"done": 0.5}])
    await clock.advance(minutes=2)
    [shown] = await queue.running()
    assert (shown.task_id, shown.worker, shown.worker_id) == (lease.task_id, "tester", worker.id)
    assert (shown.status, shown.phase, shown.progress) == ("running", None, {"done": 0.5})
    assert 2 * MINUTE <= shown.held_for < 3 * MINUTE
    await clock.advance(minutes=4)
    assert [task.phase for task in await queue.running()] == ["overdue"]


async def test_waiting_tasks_stand_in_the_order_of_claims(queue, job):
    late = [(await pending(queue, job)).id for _ in range(12)]
    urgent = (await queue.submit_task(job, priority=1)).task_id
    shown = await queue.waiting()
    assert [(task.priority, task.place, task.task_id) for task in shown] == [
        (1, 1, urgent),
        *((5, place, task_id) for place, task_id in enumerate(late[:10], 1)),
    ]


async def test_scheduled_tasks_come_by_time(queue, job):
    retrying = await STAGES["retrying"](queue, job)
    later = (await queue.submit_task(job, delay=timedelta(hours=1))).task_id
    shown = await queue.scheduled_tasks()
    assert [(task.task_id, task.phase, task.error) for task in shown] == [
        (retrying.id, "retrying", "broken"),
        (later, "scheduled", None),
    ]
    assert timedelta() < shown[0].due_in < shown[1].due_in <= timedelta(hours=1)


async def test_failed_tasks_come_newest_first(queue, job):
    tasks = [await STAGES["failed"](queue, job) for _ in range(3)]
    shown = await queue.failed()
    assert [task.task_id for task in shown] == [task.id for task in reversed(tasks)]
    assert {(task.error, task.holder) for task in shown} == {("broken", "somebody")}
    assert shown[0].task_uuid == (await queue.get_task(shown[0].task_id)).uuid


async def test_workers_show_their_heartbeats_and_what_they_hold(queue, clock, worker, job):
    silent = await queue.register_worker("a silent one", jobs=[job])
    await clock.advance(minutes=5)
    await queue.heartbeat_worker(worker.id)
    await pending(queue, job)
    await queue.claim_tasks(worker.id)
    first, second = await queue.workers_status()
    assert (first.worker_id, first.is_alive, first.claimed) == (silent.id, False, 0)
    assert 5 * MINUTE <= first.heartbeat_age < 6 * MINUTE
    assert (second.worker_id, second.is_alive, second.jobs, second.claimed) == (worker.id, True, 1, 1)
    overview = await queue.overview()
    assert (overview.workers, overview.silent_workers) == (2, 1)


async def test_a_provider_shows_its_worker(queue, worker):
    await queue.register_provider("@global", "files", "local", worker_id=worker.id)
    [shown] = await queue.providers_status()
    assert (shown.provider, shown.worker, shown.is_alive) == ("@global:files:local", "tester", True)
    assert (shown.kept, shown.in_flight) == (0, 0)


async def test_top_shows_the_busiest_job_first(queue, worker, job):
    await queue.register_job("@global", "tests", "Quiet")
    await pending(queue, job)
    busy, idle = await queue.top()
    assert (busy.job, busy.state, busy.due, busy.live) == (job, "busy", 1, 1)
    assert (idle.state, idle.due, idle.oldest) == ("idle", 0, None)
    await queue.pause_job(job)
    assert (await queue.top())[0].state == "paused"


@pytest.mark.parametrize(
    ("stage", "minutes", "problem"),
    [
        ("claimed", 3, "its lease has lapsed"),
        ("retrying", 3, "it is due and was not moved to the queue"),
        ("pending", 3, "no worker serves its job"),
    ],
)
async def test_what_should_have_moved_is_stuck(queue, clock, job, stage, minutes, problem):
    task = await STAGES[stage](queue, job)
    assert await queue.stuck() == []
    await clock.advance(minutes=minutes)
    [shown] = await queue.stuck()
    assert (shown.task_id, shown.job, shown.problem) == (task.id, job, problem)
    assert shown.advice


async def test_a_task_of_a_silent_worker_is_stuck(queue, clock, worker, job):
    task = await pending(queue, job)
    await queue.claim_tasks(worker.id)
    await clock.advance(minutes=5)
    assert [(shown.task_id, shown.problem) for shown in await queue.stuck()] == [
        (task.id, "its worker is silent")
    ]


async def test_a_cancellation_that_is_not_heeded_is_stuck(queue, clock, worker, job):
    task = await pending(queue, job)
    await queue.claim_tasks(worker.id)
    await queue.cancel_task(task.id)
    await clock.advance(seconds=50)
    await queue.heartbeat_worker(worker.id)
    assert await queue.stuck() == []
    await clock.advance(seconds=20)
    [shown] = await queue.stuck()
    assert (shown.task_id, shown.problem) == (
        task.id,
        "its worker does not stop although its cancellation was requested",
    )


async def test_work_nobody_will_do_is_a_finding(queue, clock, job):
    await pending(queue, job)
    await clock.advance(minutes=5)
    [finding] = await findings_of(queue)
    assert (finding.severity, finding.subject) == ("warning", f"job {job}")
    assert finding.message == "1 task waits, the oldest for 5 min, and no worker serves the job"
    await queue.pause_job(job)
    [finding] = await findings_of(queue)
    assert finding.severity == "info"
    assert "resume_job" in finding.advice


async def test_work_that_a_worker_left_behind_is_a_finding(queue, clock, worker, job):
    await pending(queue, job)
    await queue.complete_tasks(await queue.claim_tasks(worker.id))
    await queue.mark_waiting(worker.id)
    await queue.sweep()
    await queue.retire_worker(worker.id)
    await queue.register_job(*job.split(":"))
    task = await pending(queue, job)
    await clock.advance(minutes=2)
    assert [shown.state for shown in await queue.top()] == ["unserved"]
    assert [(shown.task_id, shown.problem) for shown in await queue.stuck()] == [
        (task.id, "no worker serves its job")
    ]
    [finding] = await findings_of(queue)
    assert finding.message == "1 task waits, the oldest for 2 min, and no worker serves the job"


async def test_a_job_that_holders_without_a_name_claim_from_is_not_unserved(queue, job):
    await pending(queue, job)
    await pending(queue, job)
    assert [(shown.state, shown.due) for shown in await queue.top()] == [("unserved", 2)]
    await claim(queue, job)
    assert [(shown.state, shown.due) for shown in await queue.top()] == [("busy", 1)]


async def test_upkeep_that_is_not_done_is_the_worst_finding(queue, clock, worker, job):
    await STAGES["claimed"](queue, job)
    await STAGES["retrying"](queue, job)
    await clock.advance(minutes=10)
    findings = await findings_of(queue)
    assert [(finding.severity, finding.subject) for finding in findings] == [("error", "sweep")] * 3
    await queue.sweep()
    assert "sweep" not in {finding.subject for finding in await findings_of(queue)}


async def test_a_job_that_mostly_fails_is_a_finding(queue, worker, job):
    for _ in range(10):
        await STAGES["failed"](queue, job)
    await queue.sweep()
    [finding] = await findings_of(queue)
    assert (finding.severity, finding.subject) == ("warning", f"job {job}")
    assert finding.message == "10 of 10 tasks that ended in the last hour failed"
