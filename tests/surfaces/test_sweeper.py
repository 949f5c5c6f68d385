"""Upkeep in the background, whatever happens, and from cron."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from typer.testing import CliRunner

from pgjobs import Jobs, Worker
from pgjobs.cli.app import app
from pgjobs.queue.records import SweepResult
from pgjobs.server import ApiSettings
from pgjobs.upkeep.steps import STEPS
from pgjobs.upkeep.sweeper import cleanup_worker, run_sweeper
from tests.surfaces.ears import eventually

JOB = "lab:modifiers:Rotate"


@dataclass(frozen=True)
class Often:
    sweeper_interval_seconds: float = 0.01
    worker_timeout: timedelta | None = None
    internal_timeout: timedelta | None = None


async def test_an_error_is_logged_and_the_loop_lives(queue, caplog):
    passes: list[str] = []
    sweep = queue.sweep

    async def sweep_badly(step, **options):
        passes.append(step)
        if step == "workers":
            raise ConnectionError("the database is gone")
        return await sweep(step, **options)

    queue.sweep = sweep_badly
    sweeping = asyncio.create_task(run_sweeper(queue, Often()))
    with caplog.at_level(logging.ERROR, "pgjobs.sweeper"):
        await eventually(lambda: passes.count("retention") >= 2)
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping
    assert "sweeping workers failed" in caplog.text


async def test_the_loop_takes_the_steps_that_a_sweep_takes(queue):
    assert [swept.swept for swept in await queue.sweep()] == list(STEPS)


async def test_cleaning_up_after_a_worker_twice_is_harmless(queue):
    await queue.register_job("lab", "modifiers", "Rotate")
    worker = await queue.register_worker(jobs=[JOB])
    await queue.submit_task(JOB)
    await queue.claim_tasks(worker.id)
    cleaned = await cleanup_worker(queue, worker.id)
    assert cleaned is not None
    assert cleaned.failed == 1
    assert await cleanup_worker(queue, worker.id) is None
    assert await cleanup_worker(queue, uuid4()) is None


async def test_a_server_takes_workers_for_dead_after_the_time_it_was_given(queue, serve):
    await queue.register_job("lab", "modifiers", "Rotate")
    worker = await queue.register_worker(jobs=[JOB])
    task = await queue.submit_task(JOB)
    await queue.claim_tasks(worker.id)
    serve(worker_timeout_seconds=1, sweeper_interval_seconds=0.1)

    async def is_gone():
        return worker.id not in {other.id for other in await queue.list_workers()}

    await eventually(is_gone)
    ended = await queue.get_task(task.task_id)
    assert (ended.status, ended.error) == ("failed", "Worker disconnected")


async def test_a_server_gives_internal_tasks_the_time_it_was_given(queue, serve):
    for room in ("@internal", "lab"):
        await queue.register_job(room, "modifiers", "Slow")
    worker = await queue.register_worker(jobs=["@internal:modifiers:Slow", JOB.replace("Rotate", "Slow")])
    inside, outside = [await queue.submit_task(f"{room}:modifiers:Slow") for room in ("@internal", "lab")]
    assert len(await queue.claim_tasks(worker.id, quantity=2, start=True)) == 2
    serve(internal_task_timeout_seconds=1, sweeper_interval_seconds=0.1)

    async def has_failed():
        return (await queue.get_task(inside.task_id)).error == "Internal worker timeout"

    await eventually(has_failed)
    assert (await queue.get_task(outside.task_id)).status == "running"


async def test_only_a_time_that_was_set_stands_in_for_the_databases_own(queue, monkeypatch):
    assert ApiSettings().worker_timeout is None
    assert ApiSettings().internal_timeout is None
    assert ApiSettings(worker_timeout_seconds=60).worker_timeout == timedelta(minutes=1)
    monkeypatch.setenv("ZNDRAW_JOBLIB_WORKER_TIMEOUT_SECONDS", "5")
    monkeypatch.setenv("ZNDRAW_JOBLIB_INTERNAL_TASK_TIMEOUT_SECONDS", "7")
    assert ApiSettings().worker_timeout == timedelta(seconds=5)
    assert ApiSettings().internal_timeout == timedelta(seconds=7)


async def test_cron_can_sweep(queue_url, queue, monkeypatch):
    monkeypatch.setenv("PGJOBS_DATABASE_URL", queue_url)
    await queue.register_job("lab", "modifiers", "Rotate")
    swept = await asyncio.to_thread(CliRunner().invoke, app, ["sweep"])
    assert swept.exit_code == 0, swept.output
    assert swept.output.splitlines()[:2] == ["step\tchanged\terror", "leases\t0\t"]
    one = await asyncio.to_thread(CliRunner().invoke, app, ["sweep", "--step", "scheduled"])
    assert one.output.splitlines()[1:] == ["scheduled\t0\t"]


async def test_a_sweep_from_cron_leaves_nothing_that_retention_takes(queue_url, queue, monkeypatch):
    monkeypatch.setattr("pgjobs.upkeep.steps.BATCH", 10)
    await leave_old_tasks(queue, 35)
    swept = await asyncio.to_thread(CliRunner().invoke, app, ["sweep", "--url", queue_url])
    assert "retention\t35\t" in swept.output.splitlines()
    assert await queue.list_tasks() == []


async def test_a_worker_alone_keeps_up_with_retention(queue, monkeypatch):
    monkeypatch.setattr("pgjobs.upkeep.steps.BATCH", 10)
    await leave_old_tasks(queue, 50)
    # Two passes alone would leave some: the pause between them is used.
    async with Worker(queue, Jobs(queue), sweep=timedelta(seconds=0.5)):
        async with asyncio.timeout(20):
            await eventually(lambda: is_empty(queue))


async def test_a_worker_tells_what_it_could_not_sweep(queue, monkeypatch, caplog):
    broken = [SweepResult(swept="storage", changed=0, error="the disk is full")]

    async def sweep(**_: object) -> list[SweepResult]:
        return broken

    monkeypatch.setattr(queue, "sweep", sweep)
    with caplog.at_level(logging.ERROR, "pgjobs.sweeper"):
        async with Worker(queue, Jobs(queue), sweep=timedelta(seconds=0.01)):
            await eventually(lambda: "sweeping storage failed: the disk is full" in caplog.text)


async def leave_old_tasks(queue, quantity: int) -> None:
    await queue.register_job(*JOB.split(":"), retain_completed=timedelta(microseconds=1))
    await queue.submit_tasks(JOB, [{}] * quantity)
    job = await queue.get_job(JOB)
    leases = await queue.claim_tasks(
        holder="somebody", lease=timedelta(minutes=1), job_ids=[job.id], quantity=quantity
    )
    await queue.complete_tasks(leases)


async def is_empty(queue) -> bool:
    return not await queue.list_tasks()
