"""Leases kept, lost and given back; the graceful end of a worker."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Jobs, Queue, Worker
from tests.surfaces.worker.patience import QUICK, has_status, until


async def test_a_blocked_event_loop_does_not_lose_its_lease(queue: Queue, jobs: Jobs):
    if "Sqlite" in type(queue.driver).__name__:
        pytest.skip("SQLite's one connection is reached through the event loop")

    @jobs.task(max_attempts=1)
    async def rude() -> str:
        time.sleep(4.5)  # noqa: ASYNC251
        return "done"

    handle = await rude.submit()
    # A busy machine may keep the renewing thread waiting for a second.
    async with Worker(queue, jobs, **{**QUICK, "lease": timedelta(seconds=2)}):
        assert await handle.result(timeout=30) == "done"


async def test_a_worker_whose_lease_was_taken_stops_and_says_nothing(queue: Queue, jobs: Jobs):
    began, ended = asyncio.Event(), asyncio.Event()

    @jobs.task
    async def endless() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    handle = await endless.submit()
    async with Worker(queue, jobs, **QUICK):
        await began.wait()
        await handle.cancel("by force", force=True)
        await asyncio.wait_for(ended.wait(), 30)
    assert (await handle.get()).reason == "by force"


async def test_a_worker_that_cannot_renew_gives_its_tasks_up_by_itself(
    queue: Queue, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
):
    began, ended = asyncio.Event(), asyncio.Event()

    @jobs.task(max_attempts=5)
    async def endless() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def unreachable(*_: Any, **__: Any) -> Any:
        raise OSError("network is down")

    await endless.submit()
    worker = Worker(queue, jobs, **QUICK, sweep=None)
    async with worker:
        await began.wait()
        monkeypatch.setattr(Queue, "renew_tasks", unreachable)
        await asyncio.wait_for(ended.wait(), 30)
        await until(lambda: worker.ended == 1)


async def test_a_worker_taken_for_dead_registers_again(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs, **QUICK) as worker:
        first = worker.id
        assert first is not None
        await queue.retire_worker(first)
        await (await nothing.submit()).result(timeout=30)
        await until(lambda: worker.id != first)


async def test_stopping_releases_what_has_not_started_and_waits_for_the_rest(queue: Queue, jobs: Jobs):
    began, go_on = asyncio.Event(), asyncio.Event()

    @jobs.task(max_attempts=1)
    async def wait() -> str:
        began.set()
        await go_on.wait()
        return "finished"

    handles = await wait.submit_many([wait.payload()] * 5)
    worker = Worker(queue, jobs, concurrency=2, prefetch=3)
    running = asyncio.create_task(worker.run())
    await began.wait()
    await until(lambda: worker.running == 2)
    worker.stop()
    await until(lambda: has_status(handles[4], "pending"))
    go_on.set()
    await running
    statuses = [await handle.status() for handle in handles]
    assert statuses == ["completed"] * 2 + ["pending"] * 3
    assert [(await handle.get()).attempt for handle in handles[2:]] == [0, 0, 0]
    assert await queue.list_workers() == []


async def test_what_outlives_the_grace_period_is_released_without_an_attempt_used(queue: Queue, jobs: Jobs):
    began = asyncio.Event()

    @jobs.task(max_attempts=1)
    async def endless() -> None:
        began.set()
        await asyncio.sleep(60)

    handle = await endless.submit()
    async with Worker(queue, jobs, grace=timedelta(0)):
        await began.wait()
    task = await handle.get()
    assert (task.status, task.attempt) == ("pending", 0)


async def test_signals_stop_the_worker(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    running = asyncio.create_task(Worker(queue, jobs).run(signals=True))
    await (await nothing.submit()).result(timeout=30)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 30)


async def test_a_second_signal_does_not_wait_for_running_tasks(queue: Queue, jobs: Jobs):
    began = asyncio.Event()

    @jobs.task(max_attempts=1)
    async def endless() -> None:
        began.set()
        await asyncio.sleep(60)

    handle = await endless.submit()
    worker = Worker(queue, jobs, grace=timedelta(minutes=5))
    running = asyncio.create_task(worker.run(signals=True))
    await began.wait()
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
    await asyncio.wait_for(running, 10)
    assert await handle.status() == "pending"
