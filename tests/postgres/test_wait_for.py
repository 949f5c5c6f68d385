"""Waiting for a result: woken by the commit that ends the task, not by looking again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.errors import TaskNotFound
from pgjobs.queue.records import Lease, TaskDocument
from pgjobs.queue.server import ServerQueue as Queue

Connection: TypeAlias = "asyncpg.Connection[Any]"
JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)
# So rare that whoever wakes within the time of a test was woken by a notification.
NEVER = 3600.0


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url, max_size=3) as queue:
        await queue.register_job("@global", "tests", "Echo")
        yield queue


@pytest.fixture
async def psql(database_url: str, queue: Queue) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def lease(queue: Queue) -> Lease:
    await queue.submit_task(JOB)
    (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    return lease


async def wait_in_background(queue: Queue, psql: Connection, task_id: int) -> asyncio.Task[TaskDocument]:
    """A waiter that has looked and found the task unfinished."""
    waiting = asyncio.create_task(queue.wait_for(task_id, poll=NEVER))
    async with asyncio.timeout(30):
        while not await psql.fetchval(
            "select exists (select from pgjobs.watched where task_id = $1)", task_id
        ):
            continue
    return waiting


async def answer_of(waiting: asyncio.Task[TaskDocument]) -> TaskDocument:
    async with asyncio.timeout(30):
        return await waiting


ENDINGS: dict[str, Callable[[Queue, Lease], Awaitable[Any]]] = {
    "completed": lambda queue, lease: queue.complete_task(lease, {"n": 1}),
    "failed": lambda queue, lease: queue.fail_task(lease, "broken", retryable=False),
    "cancelled": lambda queue, lease: queue.cancel_task(lease.task_id, force=True),
}


@pytest.mark.parametrize("status", ENDINGS)
async def test_whoever_waits_is_woken_by_the_ending(queue, psql, lease, status):
    waiting = await wait_in_background(queue, psql, lease.task_id)
    await ENDINGS[status](queue, lease)
    assert (await answer_of(waiting)).status == status


async def test_a_task_that_has_ended_is_answered_at_once(queue, lease):
    await queue.complete_task(lease, {"n": 1})
    assert (await asyncio.wait_for(queue.wait_for(lease.task_id, poll=NEVER), 30)).result == {"n": 1}


async def test_an_unknown_task_is_refused(queue):
    with pytest.raises(TaskNotFound):
        await queue.wait_for(1 << 40, poll=NEVER)


async def test_a_wait_that_runs_out_shows_the_task_as_it_stands(queue, lease):
    assert (await queue.wait_for(lease.task_id, 0.01, poll=NEVER)).status == "claimed"


async def test_everybody_who_waits_for_one_task_is_woken(queue, psql, lease, database_url):
    async with await Queue.connect(database_url, max_size=1) as elsewhere:
        waiting = [
            await wait_in_background(queue, psql, lease.task_id),
            await wait_in_background(queue, psql, lease.task_id),
            await wait_in_background(elsewhere, psql, lease.task_id),
        ]
        await queue.complete_task(lease)
        assert [(await answer_of(one)).status for one in waiting] == ["completed"] * 3


async def test_an_ending_that_is_rolled_back_wakes_nobody_and_the_next_one_does(queue, psql, lease):
    waiting = await wait_in_background(queue, psql, lease.task_id)
    bound = Queue(BoundDriver(psql))
    transaction = psql.transaction()
    await transaction.start()
    await bound.complete_task(lease, {"kept": False})
    await transaction.rollback()
    async with psql.transaction():
        await bound.complete_task(lease, {"kept": True})
        assert not waiting.done()
    assert (await answer_of(waiting)).result == {"kept": True}


async def test_nobody_is_notified_of_a_task_that_nobody_watches(queue, psql, database_url):
    heard: asyncio.Queue[str] = asyncio.Queue()
    await psql.add_listener("pgjobs.ended", lambda *notification: heard.put_nowait(notification[-1]))
    await queue.submit_tasks(JOB, [{}] * 3)
    await queue.complete_tasks(
        await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=3)
    )
    await queue.driver.pool.execute("notify \"pgjobs.ended\", 'the last'")
    async with asyncio.timeout(30):
        assert await heard.get() == "the last"


async def test_an_ending_while_the_listener_is_cut_off_is_found_when_it_is_back(queue, psql, lease):
    waiting = await wait_in_background(queue, psql, lease.task_id)
    pid = queue.driver._listener._connection.get_server_pid()
    async with psql.transaction():
        await psql.execute("select pg_terminate_backend($1, 30000)", pid)
        await Queue(BoundDriver(psql)).complete_task(lease)
    assert (await answer_of(waiting)).status == "completed"
