"""Jobs whose runs are cleaned up, archived and deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, JobUnavailable, TaskNotFound
from pgjobs.queue.records import CLEANUP_JOB
from tests.conformance.runs import (
    NOWHERE,
    RUNS,
    cleanup_of,
)
from tests.conformance.stages import claim

pytestmark = pytest.mark.postgres_only

HOUR = timedelta(hours=1)


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
