"""Schedules of a program: declared beside its jobs, and run on time by whoever is there."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from pgjobs import Jobs, Queue, Worker
from pgjobs.errors import InvalidArgument, PayloadInvalid
from pgjobs.upkeep.schedules import run_schedules
from tests.surfaces.worker.patience import until

pytestmark = pytest.mark.postgres_only

SECOND = timedelta(seconds=1)


async def test_a_declared_schedule_is_registered_and_run(queue: Queue, jobs: Jobs):
    seen: list[str] = []

    @jobs.task
    async def report(what: str) -> None:
        seen.append(what)

    report.with_options(priority=2, tags=["night"]).schedule(
        "reports", every=SECOND, payload=report.payload("sales"), overlap=False, missed="skip"
    )
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        schedule = await queue.get_schedule("@global:reports")
        await until(lambda: len(seen) >= 2)
    assert set(seen) == {"sales"}
    assert (schedule.job, schedule.payload) == ("@global:tasks:report", {"what": "sales"})
    assert (schedule.priority, schedule.tags, schedule.overlap, schedule.missed) == (
        2,
        ["night"],
        False,
        "skip",
    )


async def test_an_archived_job_with_a_schedule_keeps_no_worker_from_starting(
    queue: Queue, jobs: Jobs, caplog
):
    ran = asyncio.Event()

    @jobs.task
    async def archived() -> None: ...

    @jobs.task
    async def other() -> None:
        ran.set()

    archived.schedule("nightly", cron="@daily")
    await archived.register(queue)
    await queue.archive_job("@global:tasks:archived")
    async with Worker(queue, jobs):
        await other.submit()
        async with asyncio.timeout(20):
            await ran.wait()
    assert "schedule nightly is left as it was" in caplog.text


async def test_a_worker_hears_of_schedules_that_come_later(queue: Queue, jobs: Jobs):
    ran = asyncio.Event()

    @jobs.task
    async def nothing() -> None:
        ran.set()

    async with Worker(queue, jobs, poll=timedelta(minutes=5), sweep=timedelta(minutes=5)):
        await until(lambda: _is_registered(queue))
        started = time.monotonic()
        await queue.register_schedule("soon", "@global:tasks:nothing", every=SECOND)
        async with asyncio.timeout(10):
            await ran.wait()
        assert time.monotonic() - started >= 0.9


async def _is_registered(queue: Queue) -> bool:
    return bool(await queue.list_workers())


async def test_several_workers_run_each_time_once(url: str, queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    nothing.schedule("often", every=SECOND)
    others = [await Queue.connect(url) for _ in range(2)]
    workers = [Worker(each, jobs) for each in (queue, *others)]
    for worker in workers:
        await worker.start()
    await until(lambda: _runs(queue, 3))
    await queue.pause_schedule("@global:often")
    for worker in workers:
        await worker.close()
    for other in others:
        await other.close()
    due = [run.due_at for run in (await queue.get_schedule("@global:often")).recent]
    assert len(due) == len(set(due)) == len(await queue.list_tasks())


async def _runs(queue: Queue, quantity: int) -> bool:
    return len(await queue.list_tasks()) >= quantity


async def test_schedules_run_in_any_process_that_asks_for_it(queue: Queue):
    await queue.register_job("@global", "tests", "Work")
    await queue.register_schedule("often", "@global:tests:Work", every=SECOND)
    running = asyncio.create_task(run_schedules(queue))
    await until(lambda: _runs(queue, 1))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_schedules_go_on_when_the_database_was_away(queue: Queue, monkeypatch, caplog):
    await queue.register_job("@global", "tests", "Work")
    await queue.register_schedule("often", "@global:tests:Work", every=SECOND)
    fire, failures = queue.fire_schedules, [OSError("connection refused")]

    async def sometimes(batch: int | None = None):
        if failures:
            raise failures.pop()
        return await fire(batch)

    monkeypatch.setattr(queue, "fire_schedules", sometimes)
    monkeypatch.setattr("pgjobs.upkeep.schedules.AFTER_AN_ERROR", 0.01)
    running = asyncio.create_task(run_schedules(queue))
    await until(lambda: _runs(queue, 1))
    running.cancel()
    assert "connection refused" in caplog.text


async def test_registering_jobs_registers_their_schedules(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    nothing.schedule(cron="30 2 * * *", timezone="Europe/Berlin")
    await jobs.register()
    schedule = await queue.get_schedule("@global:nothing")
    assert (schedule.cron, schedule.timezone, schedule.words) == (
        "30 2 * * *",
        "Europe/Berlin",
        "At 02:30 every day",
    )


async def test_a_schedule_that_lacks_arguments_is_refused_where_it_is_declared(jobs: Jobs):
    @jobs.task
    async def report(what: str) -> None: ...

    with pytest.raises(PayloadInvalid):
        report.schedule(every=SECOND)


async def test_two_schedules_of_one_name_are_refused(jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    nothing.schedule(every=SECOND)
    with pytest.raises(InvalidArgument, match="declared twice"):
        nothing.schedule(cron="@daily")
    nothing.with_options(room="lab").schedule(cron="@daily")


async def test_an_idle_worker_does_not_ask_for_schedules_again_and_again(
    queue: Queue, jobs: Jobs, monkeypatch
):
    asked = 0
    fire = queue.fire_schedules

    async def counted(batch: int | None = None):
        nonlocal asked
        asked += 1
        return await fire(batch)

    monkeypatch.setattr(queue, "fire_schedules", counted)

    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs):
        await (await nothing.submit()).result(timeout=30)
        await asyncio.sleep(0.5)
    assert asked == 1
