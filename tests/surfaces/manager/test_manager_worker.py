"""ManagerWorker: a handler for the jobs of a queue, and nothing to renew or acknowledge by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgjobs.contrib.manager import JobManager, ManagerWorker

PLACE = ("chatbooks", "default")


@pytest.fixture
def jm(home: Any) -> JobManager:
    return JobManager(home.queue)


class Busy(Exception):
    retryable = True
    backoff_seconds = 100
    error_code = "BUSY"


class Broken(Exception):
    retryable = False


async def test_it_runs_what_is_due_of_every_type_and_keeps_the_results(jm):
    jobs = [await jm.create_job(*PLACE, job_type, {"n": 2}) for job_type in ("export", "import")]

    async def handle(job):
        return {"twice": job["payload"]["n"] * 2}

    assert await ManagerWorker(jm, *PLACE, handle).run_until_empty() == 2
    rows = [await jm.get_job(job["id"]) for job in jobs]
    assert [(row["status"], row["result"]) for row in rows] == [("completed", {"twice": 4})] * 2


async def test_a_handler_without_await_runs_in_a_thread(jm):
    job = await jm.create_job(*PLACE, "export", {})
    await ManagerWorker(jm, *PLACE, lambda job: job["job_type"]).run_until_empty()
    assert (await jm.get_job(job["id"]))["result"] == "export"


@pytest.mark.postgres_only
async def test_exceptions_say_whether_and_when_to_retry(jm, clock):
    errors = {"busy": Busy("later"), "broken": Broken("never")}
    jobs = {name: await jm.create_job(*PLACE, name, {}) for name in errors}

    async def handle(job):
        raise errors[job["job_type"]]

    await ManagerWorker(jm, *PLACE, handle).run_until_empty()
    busy, broken = [await jm.get_job(jobs[name]["id"]) for name in errors]
    assert (busy["status"], busy["last_error"]) == ("queued", "Busy: later")
    assert 90 < (busy["available_at"] - clock.now()).total_seconds() <= 100
    assert broken["status"] == "failed"


async def test_it_renews_and_a_job_that_is_to_be_cancelled_is_interrupted(jm):
    job = await jm.create_job(*PLACE, "export", {})
    begun, interrupted = asyncio.Event(), asyncio.Event()

    async def handle(job):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            interrupted.set()
            raise

    worker = ManagerWorker(jm, *PLACE, handle, lease_seconds=0.4, poll_seconds=0.05)
    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(20):
        await begun.wait()
        first = (await jm.get_job(job["id"]))["leased_until"]
        while (await jm.get_job(job["id"]))["leased_until"] <= first:
            await asyncio.wait({running}, timeout=0.02)
        await jm.cancel_job(job["id"], reason="enough")
        await interrupted.wait()
        worker.stop()
        await running
    row = await jm.get_job(job["id"])
    assert (row["status"], row["cancellation_reason"]) == ("cancelled", "enough")


async def test_stopping_gives_back_what_does_not_end_in_time(jm):
    job = await jm.create_job(*PLACE, "export", {})
    begun = asyncio.Event()

    async def handle(job):
        begun.set()
        await asyncio.Event().wait()

    worker = ManagerWorker(jm, *PLACE, handle, poll_seconds=0.05, grace_seconds=0)
    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(20):
        await begun.wait()
        worker.stop()
        await running
    row = await jm.get_job(job["id"])
    assert (row["status"], row["retry_count"]) == ("queued", 0)


async def test_a_job_that_was_lost_is_left_to_whoever_has_it(jm):
    job = await jm.create_job(*PLACE, "export", {})

    async def handle(running):
        await jm.cancel_job(running["id"], force=True)
        return "too late"

    worker = ManagerWorker(jm, *PLACE, handle)
    assert await worker.run_until_empty() == 0
    assert (await jm.get_job(job["id"]))["status"] == "cancelled"
