"""Limits: no more tasks of a job at once than it allows, whoever claims them."""

from __future__ import annotations

from datetime import timedelta

import pytest
import pytest_asyncio

from pgjobs.errors import InvalidArgument, JobNotFound
from tests.conformance.stages import claim, claim_all

OTHER = "@global:tests:Other"
MINUTE = timedelta(minutes=1)


@pytest_asyncio.fixture(loop_scope="session")
async def limited(queue, job):
    """At most two at once, and five wait."""
    await queue.limit_job(job, 2)
    await queue.submit_tasks(job, [{"n": n} for n in range(5)])
    return job


async def test_a_claim_takes_no_more_than_the_limit(queue, limited):
    assert [lease.payload["n"] for lease in await claim_all(queue, limited)] == [0, 1]
    assert await claim_all(queue, limited) == []


async def test_claims_of_one_stop_at_the_limit(queue, limited):
    for _ in range(2):
        await claim(queue, limited)
    assert await claim_all(queue, limited, quantity=1) == []


async def test_started_tasks_count_as_claimed_ones_do(queue, limited):
    await claim_all(queue, limited, start=True)
    assert await claim_all(queue, limited) == []


ENDINGS = {
    "complete": lambda queue, lease: queue.complete_task(lease),
    "fail": lambda queue, lease: queue.fail_task(lease, "broken"),
    "release": lambda queue, lease: queue.release_task(lease),
    "cancel": lambda queue, lease: queue.cancel_task(lease.task_id, force=True),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_whatever_ends_a_lease_frees_its_slot(queue, limited, ending):
    first, _ = await claim_all(queue, limited)
    await ENDINGS[ending](queue, first)
    assert len(await claim_all(queue, limited)) == 1
    assert await claim_all(queue, limited) == []


async def test_a_lapsed_lease_frees_its_slot_when_it_is_swept(queue, clock, limited):
    await claim_all(queue, limited)
    await clock.advance(2 * MINUTE)
    await queue.sweep("leases")
    assert len(await claim_all(queue, limited)) == 2


async def test_a_worker_that_is_gone_frees_its_slots(queue, limited):
    worker = await queue.register_worker("one", jobs=[limited])
    assert len(await queue.claim_tasks(worker.id, quantity=10)) == 2
    await queue.retire_worker(worker.id)
    assert len(await claim_all(queue, limited)) == 2


async def test_a_limit_counts_all_priorities_together(queue, job):
    await queue.limit_job(job, 3)
    for priority in (1, 5, 9):
        await queue.submit_tasks(job, [{"p": priority}] * 2, priority=priority)
    assert [lease.priority for lease in await claim_all(queue, job)] == [1, 1, 5]
    assert await claim_all(queue, job) == []


async def test_a_full_job_is_passed_by_for_others(queue, limited):
    await queue.register_job(*OTHER.split(":"))
    await queue.submit_tasks(OTHER, [{}] * 3)
    worker = await queue.register_worker("one", jobs=[limited, OTHER])
    leases = await queue.claim_tasks(worker.id, quantity=4)
    assert sorted(lease.job for lease in leases) == [OTHER, OTHER, limited, limited]
    assert [lease.job for lease in await queue.claim_tasks(worker.id, quantity=4)] == [OTHER]


async def test_jobs_have_limits_of_their_own(queue, limited):
    await queue.register_job(*OTHER.split(":"), max_running=1)
    await queue.submit_tasks(OTHER, [{}] * 3)
    worker = await queue.register_worker("one", jobs=[limited, OTHER])
    leases = await queue.claim_tasks(worker.id, quantity=50)
    assert sorted(lease.job for lease in leases) == [OTHER, limited, limited]


async def test_what_runs_already_is_counted_when_a_limit_is_set(queue, job):
    await queue.submit_tasks(job, [{}] * 5)
    held = await claim_all(queue, job, quantity=3)
    await queue.limit_job(job, 2)
    assert await claim_all(queue, job) == []
    await queue.complete_tasks(held[:2])
    assert len(await claim_all(queue, job)) == 1


async def test_a_limit_can_be_raised_and_lifted(queue, limited):
    await claim_all(queue, limited)
    assert (await queue.limit_job(limited, 3)).max_running == 3
    assert len(await claim_all(queue, limited)) == 1
    assert (await queue.limit_job(limited)).max_running is None
    assert len(await claim_all(queue, limited)) == 2


async def test_a_limit_can_be_lowered_below_what_runs(queue, limited):
    held = await claim_all(queue, limited)
    await queue.limit_job(limited, 1)
    await queue.complete_task(held[0])
    assert await claim_all(queue, limited) == []
    await queue.complete_task(held[1])
    assert len(await claim_all(queue, limited)) == 1


async def test_registering_sets_a_limit_and_leaves_it_when_it_names_none(queue, job):
    await queue.register_job(*job.split(":"), max_running=4)
    await queue.register_job(*job.split(":"))
    assert (await queue.get_job(job)).max_running == 4


@pytest.mark.postgres_only
async def test_a_task_that_waits_for_a_slot_says_so(queue, limited):
    await claim_all(queue, limited)
    waiting = (await queue.list_tasks(status="pending"))[-1]
    reasons = {check.checked: check for check in await queue.why(waiting.id)}
    assert not reasons["limit"].is_ok
    assert reasons["limit"].answer == "2 of at most 2 of its job are claimed or running."
    assert "limit_job(" in reasons["limit"].advice
    assert reasons["limit"].advice.endswith(", 4)")
    await queue.limit_job(limited)
    reasons = {check.checked: check for check in await queue.why(waiting.id)}
    assert reasons["limit"].is_ok
    assert reasons["limit"].answer == "Its job has no limit."


async def test_setting_a_limit_is_recorded(queue, job, read_events):
    await queue.limit_job(job, 2, actor="ops", reason="the printer has two trays")
    [event] = [event for event in await read_events() if event.kind == "job_limited"]
    assert (event.actor, event.message, event.fields) == (
        "ops",
        "the printer has two trays",
        {"max_running": 2},
    )


@pytest.mark.parametrize("limit", [0, -1, 1_000_001])
async def test_a_limit_that_cannot_be_is_refused(queue, job, nothing_changes, limit):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.limit_job(job, limit)
        with pytest.raises(InvalidArgument):
            await queue.register_job(*job.split(":"), max_running=limit)


async def test_an_unknown_job_cannot_be_limited(queue):
    with pytest.raises(JobNotFound):
        await queue.limit_job("@global:tests:Nothing", 1)
