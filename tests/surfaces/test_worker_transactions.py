"""Completing a task inside the handler's own transaction, and what an idle worker asks of the database."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.drivers.postgres import driver as postgres
from pgjobs.errors import InvalidArgument, LeaseLost


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)


@pytest.fixture
async def ledger(database_url: str):
    connection = await asyncpg.connect(database_url)
    await connection.execute("create table ledger (line text)")
    yield connection
    await connection.close()


async def lines(ledger: asyncpg.Connection) -> list[str]:
    return [row["line"] for row in await ledger.fetch("select line from ledger")]


async def test_effects_and_completion_commit_together(queue: Queue, jobs: Jobs, ledger: asyncpg.Connection):
    @jobs.task
    async def write(task: TaskContext, line: str) -> None:
        async with task.transaction() as connection:
            await connection.execute("insert into ledger values ($1)", line)
            task.result = {"written": line}
            assert (await task.queue.get_task(task.id)).status == "running"
        assert (await task.queue.get_task(task.id)).status == "completed"

    handle = await write.submit("hello")
    await Worker(queue, jobs).run_until_empty()
    assert (await handle.get()).result == {"written": "hello"}
    assert await lines(ledger) == ["hello"]


async def test_an_error_inside_takes_both_back(queue: Queue, jobs: Jobs, ledger: asyncpg.Connection):
    @jobs.task(max_attempts=2, backoff_base=timedelta(0))
    async def write(task: TaskContext) -> None:
        async with task.transaction() as connection:
            await connection.execute("insert into ledger values ($1)", f"attempt {task.attempt}")
            if task.attempt == 1:
                raise ConnectionError("half way")

    handle = await write.submit()
    await Worker(queue, jobs).run_until_empty()
    assert await handle.status() == "completed"
    assert await lines(ledger) == ["attempt 2"]


async def test_a_lost_lease_takes_everything_back_and_is_reported(
    queue: Queue, jobs: Jobs, ledger: asyncpg.Connection, caplog: pytest.LogCaptureFixture
):
    refused: list[Exception] = []

    @jobs.task
    async def write(task: TaskContext) -> None:
        try:
            async with task.transaction() as connection:
                await connection.execute("insert into ledger values ('zombie')")
                await task.queue.cancel_task(task.id, reason="somebody else's now", force=True)
        except LeaseLost as error:
            refused.append(error)
            raise

    handle = await write.submit()
    await Worker(queue, jobs).run_until_empty()
    assert len(refused) == 1
    assert await lines(ledger) == []
    assert (await handle.get()).reason == "somebody else's now"
    assert "lease is lost" in caplog.text


async def test_a_task_is_completed_once(queue: Queue, jobs: Jobs):
    @jobs.task
    async def twice(task: TaskContext) -> None:
        async with task.transaction():
            pass
        with pytest.raises(InvalidArgument, match="earlier"):
            async with task.transaction():
                pass
        raise RuntimeError("too late to matter")

    handle = await twice.submit()
    await Worker(queue, jobs).run_until_empty()
    assert await handle.status() == "completed"


async def test_an_idle_worker_hardly_asks(queue: Queue, jobs: Jobs, monkeypatch: pytest.MonkeyPatch):
    calls: list[str] = []
    call = postgres.call

    async def counted(connection: Any, schema: str, verb: str, *args: Any, **kwargs: Any) -> Any:
        calls.append(verb)
        return await call(connection, schema, verb, *args, **kwargs)

    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs) as worker:
        await (await nothing.submit()).result(timeout=30)
        await asyncio.sleep(2)
        monkeypatch.setattr(postgres, "call", counted)
        started = time.monotonic()
        await asyncio.sleep(8)
        assert len(calls) / (time.monotonic() - started) <= 0.5, calls
        assert worker.running == 0


async def test_a_worker_without_work_leaves_no_mark_behind(
    queue: Queue, jobs: Jobs, ledger: asyncpg.Connection
):
    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs):
        async with asyncio.timeout(30):
            while not await ledger.fetchval("select count(*) from pgjobs.waiting_marks"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert await ledger.fetchval("select count(*) from pgjobs.waiting_marks") == 0
