"""Claims need not wait for the disk; outcomes always do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from pydantic import SecretStr

from pgjobs import Jobs, Queue, Worker
from pgjobs.server import ApiSettings
from tests.surfaces.rest_server import SECRET, Api, app_on, serving, token_of

NOTE_WHO_WAITS = """
    create table public.waits (what text, waits text);
    create function public.note() returns trigger language plpgsql as
    $$ begin insert into public.waits values (tg_table_name, current_setting('synchronous_commit')); return null; end $$;
    create trigger note after insert on pgjobs.leases for each statement execute function public.note();
    create trigger note after insert on pgjobs.outcomes for each statement execute function public.note();
"""


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Of a database that waits for the disk, as databases do where nobody is in a hurry."""
    connection = await asyncpg.connect(database_url)
    await connection.execute(
        "do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$"
    )
    await connection.close()
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.mark.parametrize(("durable", "expected"), [(False, "off"), (True, "on")])
async def test_a_workers_outcomes_wait_for_the_disk_and_its_claims_if_asked(
    operator: asyncpg.Connection, database_url: str, durable: bool, expected: str
):
    await operator.execute(NOTE_WHO_WAITS)
    jobs = Jobs()

    @jobs.task
    async def nothing() -> None: ...

    async with await Queue.connect(database_url) as queue:
        jobs.use(queue)
        await nothing.submit()
        await Worker(queue, jobs, durable_claims=durable).run_until_empty()
    waits = {(row["what"], row["waits"]) for row in await operator.fetch("select * from public.waits")}
    assert waits == {("leases", expected), ("outcomes", "on")}


@pytest.mark.parametrize(("durable", "expected"), [(False, "off"), (True, "on")])
async def test_claims_over_http_wait_for_the_disk_if_the_server_is_told_to(
    operator: asyncpg.Connection, database_url: str, durable: bool, expected: str
):
    await operator.execute(NOTE_WHO_WAITS)
    settings = ApiSettings(auth_secret=SecretStr(SECRET), durable_claims=durable)
    with serving(app_on(database_url, settings)) as base, Api(base, token_of("ada")) as ada:
        worker = ada.register()["worker_id"]
        ada.submit()
        task = await asyncio.to_thread(ada.claim, worker)
        for status in ("running", "completed"):
            await asyncio.to_thread(ada.update, task, status)
    waits = {(row["what"], row["waits"]) for row in await operator.fetch("select * from public.waits")}
    assert waits == {("leases", expected), ("outcomes", "on")}


async def test_the_wait_comes_back_with_the_next_transaction(operator: asyncpg.Connection):
    claim = "select * from pgjobs.claim_tasks(holder => 'me', lease => '1 min', in_room => '@global'{})"
    async with operator.transaction():
        await operator.execute(claim.format(""))
        assert await operator.fetchval("show synchronous_commit") == "on"
        await operator.execute(claim.format(", durable => false"))
        assert await operator.fetchval("show synchronous_commit") == "off"
    assert await operator.fetchval("show synchronous_commit") == "on"
