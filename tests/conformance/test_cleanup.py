"""Clean-up tasks: who gets one, how they stand, and what operators may do."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from pgjobs.errors import InvalidArgument, InvalidTransition, JobNotFound, JobUnavailable, TaskNotFound
from pgjobs.queue import Queue
from pgjobs.queue_maintenance import CLEANUP_JOB
from tests.conformance.runs import NOWHERE, RUNS, WEEK, cleanup_of, failed_run, register_runs
from tests.conformance.stages import claim

HOUR = timedelta(hours=1)
ELSEWHERE = {"type": "local_dir", "base_dir": "/elsewhere"}


async def statuses(queue: Queue) -> dict[UUID, str]:
    return {task.run_id: task.status for task in await queue.list_cleanups()}


async def kinds(queue: Queue, run: UUID) -> list[str]:
    return [event.kind for event in await queue.list_cleanup_events(run)]


async def fail(queue: Queue, kind: str = "network", error: str = "no route") -> None:
    (lease,) = await queue.claim_cleanups("cleaner", node_id="hub")
    await queue.fail_task(lease.held, error, kind=kind)


async def finish(queue: Queue, outcome: str = "deleted") -> None:
    (lease,) = await queue.claim_cleanups("cleaner")
    await queue.complete_task(lease.held, {"outcome": outcome})


# Targets and snapshots


async def test_a_job_says_where_its_runs_write(queue):
    job = await register_runs(queue, None)
    assert await queue.get_job_target(job) is None
    await queue.set_job_target(job, NOWHERE, node_id="agent-7")
    told = await queue.get_job_target(job)
    assert (told.node, told.job_target) == ("agent-7", NOWHERE)
    await queue.set_job_target(job, None)
    assert await queue.get_job_target(job) is None


@pytest.mark.parametrize(
    "target",
    [
        {},
        [],
        "local_dir",
        {"type": 1},
        {"type": "Local Dir"},
        {"type": "local_dir"},
        {"type": "local_dir", "base_dir": "relative/path"},
        {"type": "local_dir", "base_dir": "/srv/../etc"},
        {"type": "webdav", "base_url": "ftp://host/"},
        {"type": "webdav", "base_url": "https://user:secret@host/"},
        {"type": "webdav", "base_url": "https://host/?token=secret"},
        {"type": "webdav", "base_url": "https://host/#secret"},
        {"type": "webdav", "base_url": "https://host/", "password": "secret"},
        {"type": "webdav", "base_url": "https://host/", "secret_name": 5},
        {"type": "object_store", "endpoint": "https://key:secret@host"},
        {"type": "object_store", "access_key": "secret"},
        {"type": "big", "text": "x" * 10_000},
    ],
)
async def test_a_target_that_cannot_be_or_holds_a_secret_is_refused(queue, target):
    job = await register_runs(queue, None)
    with pytest.raises(InvalidArgument) as refused:
        await queue.set_job_target(job, target)
    assert "user:secret" not in f"{refused.value} {refused.value.detail} {refused.value.hint}"
    assert await queue.get_job_target(job) is None


async def test_a_run_keeps_the_target_it_started_with(queue, clock):
    job = await register_runs(queue)
    run = await failed_run(queue)
    await queue.set_job_target(job, ELSEWHERE, node_id="agent-7")
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    shown = await queue.get_cleanup(run)
    assert shown.target_snapshot_json == {"node_id": "hub", "target": NOWHERE}


@pytest.mark.parametrize("start", [True, False])
async def test_the_target_is_copied_when_the_run_starts_and_not_before(queue, clock, start):
    job = await register_runs(queue)
    await queue.submit_task(job)
    lease = await claim(queue, job, start=start)
    await queue.set_job_target(job, ELSEWHERE)
    if not start:
        await queue.start_task(lease)
    await queue.renew_task(lease, timedelta(minutes=5))
    await queue.fail_task(lease, "broken")
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    (shown,) = await queue.list_cleanups()
    assert shown.target_snapshot_json["target"] == (NOWHERE if start else ELSEWHERE)


async def test_a_run_without_a_snapshot_falls_back_to_its_jobs_target(queue, clock):
    job = await register_runs(queue, None)
    run = await failed_run(queue)
    await clock.advance(WEEK)
    assert await queue.reconcile_cleanups() == 0
    await queue.set_job_target(job, ELSEWHERE, node_id="agent-7")
    assert await queue.reconcile_cleanups() == 1
    shown = await queue.get_cleanup(run)
    assert shown.target_snapshot_json == {"node_id": "agent-7", "target": ELSEWHERE}


# Reconcile


async def test_a_run_gets_its_task_when_it_ended_long_enough_ago(queue, clock):
    await register_runs(queue)
    run = await failed_run(queue)
    await clock.advance(WEEK - HOUR)
    assert await queue.reconcile_cleanups() == 0
    await clock.advance(HOUR)
    assert await queue.reconcile_cleanups() == 1
    shown = await queue.get_cleanup(run)
    assert (shown.status, shown.attempts, shown.job_name, shown.node_id) == ("queued", 0, RUNS, "hub")
    assert (shown.target_type, shown.last_attempt_at, shown.last_error) == ("local_dir", None, None)
    assert shown.next_attempt_at == shown.created_at


async def test_runs_that_completed_or_still_live_get_none(queue, clock):
    job = await register_runs(queue)
    await queue.submit_task(job)
    await queue.complete_task(await claim(queue, job, start=True))
    await queue.submit_task(job)
    await claim(queue, job, start=True, lease=timedelta(hours=1))
    await queue.submit_task(job)
    await clock.advance(2 * WEEK)
    assert await queue.reconcile_cleanups() == 0


async def test_a_cancelled_run_gets_one(queue, clock):
    job = await register_runs(queue)
    submitted = await queue.submit_task(job)
    await queue.cancel_task(submitted.task_id)
    await clock.advance(WEEK)
    assert await queue.reconcile_cleanups() == 1


@pytest.mark.parametrize("stage", ["queued", "retrying", "ignored", "done", "abandoned"])
async def test_a_run_gets_one_task_however_often_it_is_looked_at(queue, clock, stage):
    run = await cleanup_of(queue, clock)
    if stage == "retrying":
        await fail(queue)
    elif stage == "ignored":
        await queue.ignore_cleanup(run)
    elif stage == "done":
        await finish(queue)
    elif stage == "abandoned":
        (lease,) = await queue.claim_cleanups("cleaner")
        await queue.fail_task(lease.held, "for good", retryable=False)
    before = await queue.list_cleanups()
    assert [task.status for task in before] == [stage]
    await clock.advance(HOUR)
    assert await queue.reconcile_cleanups() == 0
    assert await queue.list_cleanups() == before


async def test_a_batch_is_bounded_and_the_rest_comes_next(queue, clock):
    await register_runs(queue)
    for _ in range(5):
        await failed_run(queue)
    await clock.advance(WEEK)
    assert [await queue.reconcile_cleanups(2) for _ in range(4)] == [2, 2, 1, 0]
    assert await queue.count_cleanups() == 5


async def test_a_run_keeps_its_one_task_when_that_is_pruned(queue, clock):
    await cleanup_of(queue, clock)
    await finish(queue)
    await clock.advance(days=31)
    await queue.sweep("retention")
    assert await queue.count_cleanups() == 0
    assert await queue.reconcile_cleanups() == 0


async def test_the_clean_up_job_is_not_made_before_it_is_needed(queue, clock):
    await register_runs(queue)
    assert await queue.reconcile_cleanups() == 0
    assert await queue.claim_cleanups("cleaner") == []
    waiting = await queue.await_cleanups()
    assert (waiting.mark, waiting.due_in) == (None, None)
    with pytest.raises(JobNotFound):
        await queue.get_job(CLEANUP_JOB)


async def test_the_job_has_the_policy_of_the_contract_and_an_operator_may_change_it(queue, clock):
    await cleanup_of(queue, clock)
    job = await queue.get_job(CLEANUP_JOB)
    assert (job.max_attempts, job.max_age, job.events) == (20, timedelta(days=30), "full")
    await queue.set_error_policy(
        CLEANUP_JOB, "network", backoff_base=HOUR, backoff_cap=HOUR, jitter_share=0.0
    )
    await failed_run(queue)
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    await fail(queue)
    task = next(task for task in await queue.list_cleanups() if task.status == "retrying")
    assert timedelta(minutes=59) < task.next_attempt_at - task.last_attempt_at <= timedelta(minutes=61)


# A run that lives again


async def test_a_run_that_was_retried_is_left_alone_while_it_lives(queue, clock):
    run = await cleanup_of(queue, clock)
    run_id = (await queue.get_task(task_uuid=run)).id
    await queue.retry_task(run_id)
    assert await queue.claim_cleanups("cleaner") == []
    shown = await queue.get_cleanup(run)
    assert (shown.status, shown.attempts) == ("queued", 0)
    await clock.advance(HOUR)
    await queue.complete_task(await claim(queue, RUNS, start=True))
    assert await queue.claim_cleanups("cleaner") == []
    assert (await queue.get_cleanup(run)).status == "done"
    assert (await kinds(queue, run))[-1] == "skip_complete"


# Backoff, blocked, abandoned


TABLE = [
    ("network", 60, 6 * 3600, 30, "retrying"),
    ("http", 60, 6 * 3600, 30, "retrying"),
    ("io", 300, 6 * 3600, 60, "retrying"),
    ("unknown", 300, 6 * 3600, 60, "retrying"),
    ("auth", 6 * 3600, 24 * 3600, 600, "blocked"),
    ("config", 6 * 3600, 24 * 3600, 600, "blocked"),
]


@pytest.mark.parametrize(("kind", "base", "cap", "jitter", "shown_as"), TABLE)
async def test_each_kind_of_error_has_its_delays_and_twenty_abandon(
    queue, clock, kind, base, cap, jitter, shown_as
):
    # Age must not end it first.
    run = await cleanup_of(queue, clock)
    await queue.register_job(*CLEANUP_JOB.split(":", 2), max_age=timedelta(days=3650))
    extras = set()
    for attempt in range(1, 20):
        await fail(queue, kind)
        task = await queue.get_cleanup(run)
        assert (task.status, task.attempts, task.last_error_kind) == (shown_as, attempt, kind)
        delay = (task.next_attempt_at - task.updated_at).total_seconds()
        extra = delay - min(base * 2 ** (attempt - 1), cap)
        assert -0.01 <= extra <= jitter + 0.01
        extras.add(round(extra, 3))
        assert await queue.claim_cleanups("too early") == []
        await clock.advance(seconds=delay + 1)
        task = await queue.get_cleanup(run)
        assert (task.status, task.last_error) == (shown_as, "no route")
    await fail(queue, kind)
    task = await queue.get_cleanup(run)
    assert (task.status, task.attempts, task.next_attempt_at) == ("abandoned", 20, None)
    assert len(extras) > 10
    await clock.advance(days=3)
    assert await queue.claim_cleanups("cleaner") == []
    assert (await kinds(queue, run))[-2:] == ["attempt", "abandoned"]


async def test_jitter_is_the_same_for_the_same_attempt_of_the_same_run(queue, clock):
    run = await cleanup_of(queue, clock)
    delays = []
    for _ in range(2):
        await fail(queue)
        task = await queue.get_cleanup(run)
        delays.append(task.next_attempt_at - task.updated_at)
        await queue.retry_cleanup(run)
    assert abs(delays[0] - delays[1]) < timedelta(milliseconds=5)


async def test_thirty_days_abandon(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    await clock.advance(days=30)
    await fail(queue)
    task = await queue.get_cleanup(run)
    assert (task.status, task.attempts) == ("abandoned", 2)


async def test_a_cleaner_that_is_stuck_loses_its_lease_and_the_task_is_retried_soon(queue, clock):
    run = await cleanup_of(queue, clock)
    (stuck,) = await queue.claim_cleanups("stuck")
    await clock.advance(minutes=29)
    await queue.sweep("leases")
    assert (await queue.get_cleanup(run)).status == "running"
    await clock.advance(minutes=2)
    await queue.sweep("leases")
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("retrying", "lease_expired")
    assert task.next_attempt_at - task.updated_at <= timedelta(seconds=90)
    await clock.advance(seconds=90)
    await finish(queue)
    with pytest.raises(Exception, match="lease"):
        await queue.complete_task(stuck.held, {"outcome": "deleted"})


# Operators


async def test_retry_now_starts_over_from_wherever_it_waits(queue, clock):
    run = await cleanup_of(queue, clock)
    for step in ("retrying", "due again", "blocked", "ignored", "abandoned", "queued"):
        if step in ("retrying", "due again"):
            await fail(queue)
        elif step == "blocked":
            await fail(queue, "auth")
        elif step == "ignored":
            await queue.ignore_cleanup(run)
        elif step == "abandoned":
            (lease,) = await queue.claim_cleanups("cleaner")
            await queue.fail_task(lease.held, "for good", retryable=False)
        if step == "due again":
            await clock.advance(HOUR)
            await queue.sweep("scheduled")
        task = await queue.retry_cleanup(run, actor="ada", reason="fixed the disk")
        assert (task.status, task.attempts, task.last_error, task.last_error_kind) == (
            "queued",
            0,
            None,
            None,
        )
        assert task.next_attempt_at is not None
        events = await queue.list_cleanup_events(run)
        assert (events[-1].kind, events[-1].message) == ("retry_now", "fixed the disk")
        assert events[-1].fields_json == {"by": "ada"}
    await finish(queue)


async def test_what_runs_or_is_done_is_not_retried_or_ignored(queue, clock):
    run = await cleanup_of(queue, clock)
    (lease,) = await queue.claim_cleanups("cleaner")
    for status in ("running", "done"):
        assert (await queue.get_cleanup(run)).status == status
        before = await queue.list_cleanup_events(run)
        for act in (queue.retry_cleanup, queue.ignore_cleanup, queue.unignore_cleanup):
            with pytest.raises(InvalidTransition, match=status):
                await act(run, actor="ada")
        assert await queue.list_cleanup_events(run) == before
        if status == "running":
            await queue.complete_task(lease.held, {"outcome": "deleted"})


async def test_ignored_means_left_alone_until_unignored(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    task = await queue.ignore_cleanup(run, actor="ada", reason="the disk is gone")
    assert (task.status, task.ignored_by_user_id, task.ignore_reason) == (
        "ignored",
        "ada",
        "the disk is gone",
    )
    assert task.ignored_at is not None
    await clock.advance(days=2)
    assert await queue.claim_cleanups("cleaner") == []
    with pytest.raises(InvalidTransition, match="ignored"):
        await queue.ignore_cleanup(run)
    task = await queue.unignore_cleanup(run, actor="bob")
    assert (task.status, task.attempts, task.ignored_at, task.ignore_reason) == ("queued", 0, None, None)
    assert (await queue.list_cleanup_events(run))[-1].fields_json == {"by": "bob"}
    with pytest.raises(InvalidTransition, match="queued"):
        await queue.unignore_cleanup(run)
    await finish(queue)


async def test_a_reason_has_at_most_200_characters_and_no_secret(queue, clock):
    run = await cleanup_of(queue, clock)
    with pytest.raises(InvalidArgument):
        await queue.ignore_cleanup(run, reason="x" * 201)
    assert (await queue.get_cleanup(run)).status == "queued"
    task = await queue.ignore_cleanup(run, reason="see https://user:secret@host/?token=1")
    assert task.ignore_reason == "see https://host/"


async def test_a_run_without_a_task_is_unknown(queue, clock):
    await cleanup_of(queue, clock)
    other = await failed_run(queue)
    for run in (other, uuid4()):
        for call in (
            queue.get_cleanup,
            queue.list_cleanup_events,
            queue.retry_cleanup,
            queue.ignore_cleanup,
            queue.unignore_cleanup,
        ):
            with pytest.raises(TaskNotFound):
                await call(run)


# Events


async def test_events_are_numbered_from_one_and_outlive_their_usual_time(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    await clock.advance(HOUR)
    await fail(queue, "auth", "401")
    await queue.ignore_cleanup(run, actor="ada")
    await clock.advance(days=20)
    await queue.sweep("retention")
    await queue.unignore_cleanup(run, actor="ada")
    await finish(queue, "skip_not_found")
    events = await queue.list_cleanup_events(run)
    assert [(event.seq, event.kind, event.level) for event in events] == [
        (1, "attempt", "info"),
        (2, "failed", "warn"),
        (3, "attempt", "info"),
        (4, "blocked", "error"),
        (5, "ignored", "info"),
        (6, "unignored", "info"),
        (7, "attempt", "info"),
        (8, "skip_not_found", "info"),
    ]
    assert events == sorted(events, key=lambda event: event.ts)
    assert (events[1].message, events[1].fields_json["error_kind"]) == ("no route", "network")
    assert events[4].fields_json == {"by": "ada"}


# Lists


async def test_lists_are_filtered_and_the_next_due_comes_first(queue, clock):
    await register_runs(queue, NOWHERE)
    await register_runs(
        queue, {"type": "webdav", "base_url": "https://h/"}, "lab:backups:x", node_id="agent-7"
    )
    runs = [await failed_run(queue) for _ in range(3)]
    dav = await failed_run(queue, "lab:backups:x")
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    await fail(queue)
    await fail(queue, "auth")
    await queue.ignore_cleanup(runs[2])
    listed = await queue.list_cleanups()
    assert [task.run_id for task in listed] == [dav, runs[0], runs[1], runs[2]]
    assert [task.status for task in listed] == ["queued", "retrying", "blocked", "ignored"]
    for filters, expected in (
        ({"statuses": ["blocked", "ignored"]}, [runs[1], runs[2]]),
        ({"target_types": ["webdav"]}, [dav]),
        ({"of_node": "hub", "statuses": ["retrying"]}, [runs[0]]),
        ({"of_job": "lab:backups:x"}, [dav]),
        ({"of_job": str(listed[0].job_id)}, [dav]),
        ({"of_job": "no:such:job"}, []),
    ):
        assert [task.run_id for task in await queue.list_cleanups(**filters)] == expected
        assert await queue.count_cleanups(**filters) == len(expected)
    assert [t.run_id for t in await queue.list_cleanups(page_size=2, page_offset=1)] == runs[:2]
    with pytest.raises(InvalidArgument):
        await queue.list_cleanups(statuses=["lost"])


async def test_a_cleaner_of_a_node_gets_that_nodes_tasks(queue, clock):
    await register_runs(queue, NOWHERE, node_id="agent-7")
    run = await failed_run(queue)
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    assert await queue.claim_cleanups("cleaner", node_id="hub") == []
    assert (await queue.await_cleanups(node_id="hub")).due_in is None
    assert (await queue.await_cleanups(node_id="agent-7")).due_in == timedelta(0)
    (lease,) = await queue.claim_cleanups("cleaner", node_id="agent-7")
    assert (lease.run_id, lease.job, lease.node, lease.target) == (run, RUNS, "agent-7", NOWHERE)


async def test_zero_switches_cleaning_up_off(queue, clock, home):
    await register_runs(queue)
    await failed_run(queue)
    await clock.advance(WEEK)
    await home.execute("update {settings} set cleanup_after = {zero}")
    try:
        assert await queue.reconcile_cleanups() == 0
    finally:
        await home.execute("update {settings} set cleanup_after = {week}")
    assert await queue.reconcile_cleanups() == 1


# Archive and delete


async def test_an_archived_job_takes_and_yields_nothing_and_keeps_its_history(queue, clock):
    run = await cleanup_of(queue, clock)
    await queue.submit_task(RUNS)
    await queue.archive_job(RUNS, actor="ada")
    with pytest.raises(JobUnavailable):
        await queue.submit_task(RUNS)
    assert await queue.claim_tasks(holder="me", lease=HOUR, in_room="lab") == []
    assert RUNS not in [job.full_name for job in await queue.list_jobs("lab")]
    assert RUNS in [job.full_name for job in await queue.list_jobs("lab", include_archived=True)]
    assert (await queue.get_task(task_uuid=run)).status == "failed"
    await queue.unarchive_job(RUNS)
    assert len(await queue.claim_tasks(holder="me", lease=HOUR, in_room="lab")) == 1


async def test_deleting_a_job_takes_everything_that_hangs_on_it(queue, clock, read_events):
    run = await cleanup_of(queue, clock)
    waiting = await queue.submit_task(RUNS, idempotency_key="k")
    await queue.submit_task(RUNS, delay=HOUR)
    running = await claim(queue, RUNS, start=True)
    await queue.submit_task(RUNS)
    await queue.ignore_task((await queue.submit_task(RUNS)).task_id)
    await queue.register_worker("w", jobs=[RUNS])
    other = await queue.register_job("lab", "backups", "kept")
    kept = await queue.submit_task("lab:backups:kept")
    assert await queue.delete_job(RUNS, actor="ada", reason="gone", batch=2) == 5
    with pytest.raises(JobNotFound):
        await queue.get_job(RUNS)
    for lost in (run, None):
        with pytest.raises(TaskNotFound):
            await (queue.get_cleanup(run) if lost else queue.get_task(waiting.task_id))
    with pytest.raises(TaskNotFound):
        await queue.complete_task(running)
    assert (await queue.get_task(kept.task_id)).status == "pending"
    assert await queue.count_cleanups() == 0
    deleted = [event for event in await read_events() if event.kind == "job_deleted"]
    assert [(event.actor, event.message, event.fields["job"]) for event in deleted] == [("ada", "gone", RUNS)]
    again = await queue.register_job(*RUNS.split(":", 2))
    assert again.registered == "created"
    assert again.job_id not in (other.job_id, 0)
    assert (await queue.submit_task(RUNS, idempotency_key="k")).is_new


async def test_internal_jobs_are_not_deleted(queue, clock):
    await cleanup_of(queue, clock)
    with pytest.raises(JobUnavailable):
        await queue.delete_job(CLEANUP_JOB)
    with pytest.raises(InvalidArgument):
        await queue.set_job_target(CLEANUP_JOB, NOWHERE)
    assert await queue.count_cleanups() == 1
