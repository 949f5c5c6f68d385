"""Programs that have a manager and nothing else: old jobs go, and rows tell when they were last written to."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from datetime import timedelta

import asyncpg
import pytest

from pgjobs import Jobs, Worker
from pgjobs.contrib.manager import GenericJob
from pgjobs.drivers.sqlite.functions import Context
from pgjobs.errors import Forbidden
from pgjobs.queue.queue import Queue
from pgjobs.upkeep.steps import sweep_once
from tests.conformance.homes import PostgresHome, SqliteHome

EXPORT = ("chatbooks", "default", "export")
QUEUE = ("chatbooks", "default")


async def completed(jobs, quantity=1):
    await jobs.create_jobs(*EXPORT, [{}] * quantity)
    for job in await jobs.acquire_jobs(*QUEUE, 60, "w", quantity):
        await jobs.complete_job(job["id"], "w", job["lease_id"])


async def test_acquiring_forgets_what_retention_no_longer_keeps(open_manager, clock):
    first = open_manager()
    await completed(first, 3)
    await clock.advance(days=31)
    kept = await first.create_job(*EXPORT)
    assert len(await first.list_jobs()) == 4
    job = await open_manager().acquire_next_job(*QUEUE, 60, "w")
    assert job["id"] == kept["id"]
    assert [each["id"] for each in await first.list_jobs()] == [kept["id"]]


async def test_upkeep_is_done_once_in_a_while(open_manager, clock, monkeypatch):
    jobs = open_manager()
    await completed(jobs)
    await clock.advance(days=31)
    await jobs.acquire_next_job(*QUEUE, 60, "w")
    assert len(await jobs.list_jobs()) == 1
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)
    await jobs.acquire_next_job(*QUEUE, 60, "w")
    assert await jobs.list_jobs() == []


async def test_upkeep_can_be_left_to_others(open_manager, clock):
    jobs = open_manager(upkeep_seconds=0)
    await completed(jobs)
    await clock.advance(days=31)
    await open_manager(upkeep_seconds=0).acquire_next_job(*QUEUE, 60, "w")
    assert len(await jobs.list_jobs()) == 1


async def test_a_login_that_may_not_sweep_acquires_all_the_same(home, open_manager, monkeypatch, caplog):
    asked = []

    async def refused(self, *args, **options):
        asked.append(options)
        raise Forbidden("permission denied for function sweep")

    monkeypatch.setattr(Queue, "sweep", refused)
    jobs = open_manager(upkeep_seconds=0.000001)
    await jobs.create_jobs(*EXPORT, [{}, {}])
    with caplog.at_level(logging.INFO, "pgjobs.manager"):
        assert await jobs.acquire_next_job(*QUEUE, 60, "w")
        assert await jobs.acquire_next_job(*QUEUE, 60, "w")
    assert len(asked) == 1
    assert "may not sweep" in caplog.text


async def test_upkeep_that_fails_is_logged_and_jobs_are_acquired(open_manager, monkeypatch, caplog):
    async def broken(self, *args, **options):
        raise RuntimeError("no disk")

    monkeypatch.setattr(Queue, "sweep", broken)
    jobs = open_manager()
    await jobs.create_job(*EXPORT)
    assert await jobs.acquire_next_job(*QUEUE, 60, "w")
    assert "no disk" in caplog.text


@pytest.mark.parametrize("by", ["sweep", "sweeper", "worker"])
async def test_whoever_sweeps_forgets_the_jobs_of_managers_too(open_manager, home, clock, by):
    jobs = open_manager(upkeep_seconds=0)
    await completed(jobs)
    await clock.advance(days=31)
    if by == "sweep":
        await home.queue.sweep()
    elif by == "sweeper":
        await sweep_once(home.queue)
    else:
        async with Worker(home.queue, Jobs(), sweep=timedelta(milliseconds=10)):
            while await jobs.list_jobs():
                pass
    assert await jobs.list_jobs() == []


WRITES = {
    "renewed": lambda jobs, job: jobs.renew_job_lease(job["id"], 60, "w", job["lease_id"]),
    "failed": lambda jobs, job: jobs.fail_job(job["id"], "w", job["lease_id"], "no"),
    "failed for good": lambda jobs, job: jobs.fail_job(
        job["id"], "w", job["lease_id"], "no", retryable=False
    ),
    "completed": lambda jobs, job: jobs.complete_job(job["id"], "w", job["lease_id"]),
    "released": lambda jobs, job: jobs.release_job(job["id"], "w", job["lease_id"]),
    "asked to stop": lambda jobs, job: jobs.cancel_job(job["id"], "why"),
    "cancelled": lambda jobs, job: jobs.cancel_job(job["id"], force=True),
}


async def moves(manager, clock, job_id, write):
    """Whether writing a second later tells the time of that."""
    await clock.advance(seconds=1)
    before = clock.now()
    await write
    updated = (await manager.get_job(job_id))["updated_at"]
    assert before <= updated <= clock.now()
    return updated


@pytest.mark.parametrize("what", WRITES)
async def test_a_row_tells_when_it_was_last_written_to(manager, clock, what):
    created = await manager.create_job(*EXPORT)
    await clock.advance(seconds=1)
    job = await manager.acquire_next_job(*QUEUE, 60, "w")
    assert job["updated_at"] == job["acquired_at"] > created["updated_at"]
    await moves(manager, clock, job["id"], WRITES[what](manager, job))


async def test_every_renewal_and_request_to_stop_moves_it(manager, clock):
    await manager.create_job(*EXPORT)
    job = await manager.acquire_next_job(*QUEUE, 60, "w")
    for what in ("renewed", "renewed", "asked to stop", "asked to stop", "renewed"):
        await moves(manager, clock, job["id"], WRITES[what](manager, job))


async def test_what_operators_do_moves_it_too(manager, home, clock):
    job = await manager.create_job(*EXPORT)
    queue = home.queue
    for step in (
        queue.ignore_task,
        queue.unignore_task,
        queue.cancel_task,
        queue.retry_task,
        queue.ignore_task,
        queue.retry_task,
    ):
        await moves(manager, clock, job["id"], step(job["id"]))


async def test_becoming_due_is_no_write(manager, home, clock):
    await manager.create_job(*EXPORT)
    job = await manager.acquire_next_job(*QUEUE, 60, "w")
    held = [(job["id"], job["lease_id"])]
    await clock.advance(seconds=1)
    await home.queue.release_tasks(held, delay=timedelta(seconds=30), holder="w")
    released = await manager.get_job(job["id"])
    assert released["updated_at"] > job["updated_at"]
    await clock.advance(minutes=1)
    await home.queue.sweep("scheduled")
    assert (await manager.get_job(job["id"]))["updated_at"] == released["updated_at"]


async def test_progress_moves_it(manager, home, clock):
    await manager.create_job(*EXPORT)
    job = await manager.acquire_next_job(*QUEUE, 60, "w")
    report = home.queue.report_progress([(job["id"], job["lease_id"])], [{"done": 1}])
    await moves(manager, clock, job["id"], report)


async def test_the_view_shows_what_the_manager_shows(manager, home):
    await manager.create_jobs(*EXPORT, [{"n": n} for n in range(3)])
    job = await manager.acquire_next_job(*QUEUE, 60, "w")
    await manager.fail_job(job["id"], "w", job["lease_id"], "no")
    shown = {job["id"]: job for job in await manager.list_jobs()}
    if isinstance(home, SqliteHome):
        with closing(sqlite3.connect(home.url.removeprefix("sqlite:///"))) as connection:
            Context.of(connection)
            cursor = connection.execute("select * from generic_jobs order by id")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
            with pytest.raises(sqlite3.OperationalError, match="view"):
                connection.execute("update generic_jobs set status = 'completed'")
    else:
        assert isinstance(home, PostgresHome)
        psql = await asyncpg.connect(home.url)
        rows = [dict(row) for row in await psql.fetch("select * from pgjobs.generic_jobs order by id")]
        await psql.close()
    assert list(rows[0]) == list(GenericJob.__dataclass_fields__)
    compared = ("id", "domain", "queue", "job_type", "status", "retry_count", "error_message", "max_retries")
    assert [[row[name] for name in compared] for row in rows] == [
        [shown[row["id"]][name] for name in compared] for row in rows
    ]
