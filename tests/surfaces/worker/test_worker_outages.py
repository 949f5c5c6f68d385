"""What the infrastructure does to a task uses up none of its attempts."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from typing import Any

import asyncpg
import psycopg
import pytest

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.drivers.transient import is_outage
from tests.surfaces.processes import free_port
from tests.surfaces.relay import Relay
from tests.surfaces.worker.patience import until

Strike = Callable[[asyncpg.Connection, asyncpg.Connection], Coroutine[Any, Any, None]]


@pytest.fixture(params=["database_url"], ids=["postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


async def cut(connection: asyncpg.Connection, operator: asyncpg.Connection) -> None:
    await operator.execute("select pg_terminate_backend($1)", connection.get_server_pid())
    await connection.execute("select 1")


async def cut_and_caught(connection: asyncpg.Connection, operator: asyncpg.Connection) -> None:
    try:
        await cut(connection, operator)
    except Exception as error:
        raise RuntimeError("could not write") from error


async def cancelled(connection: asyncpg.Connection, operator: asyncpg.Connection) -> None:
    waiting = asyncio.create_task(connection.execute("select pg_sleep(60)"))
    pid = connection.get_server_pid()
    while not waiting.done():
        await operator.execute("select pg_cancel_backend($1)", pid)
        await asyncio.wait((waiting,), timeout=0.05)
    await waiting


def raised(state: str) -> Strike:
    async def strike(connection: asyncpg.Connection, _: asyncpg.Connection) -> None:
        await connection.execute(f"do $$ begin raise exception using errcode = '{state}'; end $$")

    return strike


@pytest.mark.parametrize(
    "strike",
    [cut, cut_and_caught, cancelled, *(raised(state) for state in ("53100", "53300", "53200", "25006"))],
    ids=["cut", "cut and caught", "cancelled", "disk full", "too many", "no memory", "read only"],
)
async def test_an_outage_inside_a_transaction_costs_no_attempt(
    queue: Queue, jobs: Jobs, database_url: str, strike: Strike
):
    operator = await asyncpg.connect(database_url)
    runs: list[int] = []

    @jobs.task(max_attempts=1)
    async def write(task: TaskContext) -> None:
        async with task.transaction() as connection:
            runs.append(task.attempt)
            if len(runs) == 1:
                await strike(connection, operator)

    handle = await write.submit()
    async with Worker(queue, jobs):
        await handle.result(timeout=30)
    assert runs == [1, 1]
    first = (await queue.list_attempts(handle.id))[0]
    assert first.error_kind == "outage"
    assert (await handle.get()).attempt == 1
    await operator.close()


async def test_no_connection_to_the_queue_costs_no_attempt(
    queue: Queue, database_url: str, caplog: pytest.LogCaptureFixture
):
    relay = Relay(database_url, free_port())
    runs: list[int] = []
    async with relay, await Queue.connect(relay.url, min_size=0, timeout=5) as cut_off:
        jobs = Jobs(queue)

        @jobs.task(max_attempts=1)
        async def ask(task: TaskContext) -> None:
            runs.append(task.attempt)
            if len(runs) == 1:
                await relay.close()
            await cut_off.check()

        handle = await ask.submit()
        async with Worker(queue, jobs):

            async def is_back() -> bool:
                return (await handle.get()).phase == "retrying"

            await until(is_back)
            async with relay:
                await handle.result(timeout=30)
    assert runs == [1, 1]
    assert "because of an outage" in caplog.text


async def test_an_error_of_the_handlers_own_uses_up_its_attempt(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def work(task: TaskContext, how: str) -> None:
        if how == "refused":
            raise ConnectionRefusedError("a web site")
        async with task.transaction() as connection:
            if how == "slow":
                await connection.execute("set local statement_timeout = 20; select pg_sleep(10)")
            await connection.execute("select 1 / 0")

    handles = [await work.submit(how) for how in ("refused", "slow", "wrong")]
    await Worker(queue, jobs).run_until_empty()
    kinds = [(await handle.get()).error_kind for handle in handles]
    assert kinds == ["ConnectionRefusedError", "QueryCanceledError", "DivisionByZeroError"]


def test_outages_are_known_by_their_state_whichever_library_tells():
    from sqlalchemy.exc import OperationalError

    wrapped = OperationalError("select 1", {}, psycopg.errors.TooManyConnections("no more"))
    assert is_outage(wrapped)
    assert is_outage(psycopg.errors.AdminShutdown("bye"))
    assert is_outage(OSError(errno.ENOSPC, "No space left on device"))
    assert not is_outage(psycopg.errors.UniqueViolation("twice"))
    assert not is_outage(OSError(errno.ENOENT, "No such file"))
    assert not is_outage(psycopg.errors.QueryCanceled("canceling statement due to statement timeout"))
