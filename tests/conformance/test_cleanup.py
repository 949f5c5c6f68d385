"""Cleanup tasks: where runs write, and which of them get a task."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound
from pgjobs.queue.records import CLEANUP_JOB
from tests.conformance.runs import (
    NOWHERE,
    RUNS,
    WEEK,
    cleanup_of,
    fail,
    failed_run,
    finish,
    kinds,
    register_runs,
)
from tests.conformance.stages import claim

pytestmark = pytest.mark.postgres_only

HOUR = timedelta(hours=1)
ELSEWHERE = {"type": "local_dir", "base_dir": "/elsewhere"}


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
    assert waiting.mark is not None
    assert waiting.due_in is None
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
