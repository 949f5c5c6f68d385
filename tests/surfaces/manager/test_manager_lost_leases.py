"""What acknowledging under a lost lease answers, as the manager was told."""

from __future__ import annotations

import pytest

from pgjobs.contrib.manager import JobManager, ManagerSettings
from pgjobs.errors import InvalidArgument, LeaseLost, TaskNotFound

ACKNOWLEDGEMENTS = {
    "complete_job": lambda jobs, job: jobs.complete_job(job.id, "w", job.lease_id, {"ok": True}),
    "fail_job": lambda jobs, job: jobs.fail_job(job.id, "w", job.lease_id, "no"),
    "release_job": lambda jobs, job: jobs.release_job(job.id, "w", job.lease_id),
    "renew_job_lease": lambda jobs, job: jobs.renew_job_lease(job.id, 30, "w", job.lease_id),
}


async def acquired(jobs):
    await jobs.create_job("a", "q", "t", {})
    return await jobs.acquire_next_job("a", "q", 30, "w")


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_lost_lease_raises(manager, clock, verb):
    job = await acquired(manager)
    await clock.advance(minutes=1)
    with pytest.raises(LeaseLost):
        await ACKNOWLEDGEMENTS[verb](manager, job)


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_lost_lease_answers_false_where_that_was_asked_for(open_manager, clock, verb):
    jobs = open_manager(on_lost_lease="return")
    job = await acquired(jobs)
    await clock.advance(minutes=1)
    assert await ACKNOWLEDGEMENTS[verb](jobs, job) is False
    assert (await jobs.get_job(job.id)).status == "processing"


@pytest.mark.parametrize("verb", ACKNOWLEDGEMENTS)
async def test_a_current_lease_is_acknowledged_all_the_same(open_manager, verb):
    jobs = open_manager(on_lost_lease="return")
    job = await acquired(jobs)
    answer = await ACKNOWLEDGEMENTS[verb](jobs, job)
    assert answer
    assert answer["id"] == job.id


async def test_a_job_that_was_cancelled_by_force_is_lost_too(open_manager):
    jobs = open_manager(on_lost_lease="return")
    job = await acquired(jobs)
    await jobs.cancel_job(job.id, force=True)
    assert await jobs.complete_job(job.id, "w", job.lease_id) is False


async def test_a_job_that_never_was_is_an_error_whatever_was_asked_for(open_manager):
    jobs = open_manager(on_lost_lease="return")
    with pytest.raises(TaskNotFound):
        await jobs.complete_job(10**6, "w", "no lease")


async def test_the_environment_can_ask_for_it(home, clock, monkeypatch):
    monkeypatch.setenv("JOBS_ON_LOST_LEASE", "return")
    jobs = JobManager(home.queue)
    job = await acquired(jobs)
    await clock.advance(minutes=1)
    assert await jobs.complete_job(job.id, "w", job.lease_id) is False


async def test_another_answer_than_the_two_is_refused(home):
    with pytest.raises(InvalidArgument, match="on_lost_lease"):
        JobManager(home.queue, ManagerSettings(), on_lost_lease="ignore")  # type: ignore[arg-type]
