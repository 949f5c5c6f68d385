"""Connections are kept at hand between verbs, and nobody waits for one that is not in use."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from pgjobs import Queue
from pgjobs.drivers.postgres import connection_cache

NAMED = {"application_name": "a lender"}
OURS = "select pid from pg_stat_activity where application_name = 'a lender' and datname = current_database()"


async def connected(url: str, **options: Any) -> Queue:
    return await Queue.connect(url, min_size=0, server_settings=NAMED, **options)


async def test_one_verb_after_another_uses_one_connection(database_url: str):
    async with await connected(database_url) as queue:
        for _ in range(5):
            await queue.count_workers()
        operator = await asyncpg.connect(database_url)
        assert len(await operator.fetch(OURS)) == 1
        await operator.close()


async def test_more_verbs_than_connections_take_turns(database_url: str):
    async with await connected(database_url, max_size=2) as queue, asyncio.timeout(20):
        for _ in range(3):
            await asyncio.gather(*(queue.count_workers() for _ in range(20)))


async def test_a_transaction_gets_the_connection_a_verb_has_just_used(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection_cache, "KEEP_SECONDS", 3600.0)
    async with await connected(database_url, max_size=1) as queue, asyncio.timeout(20):
        await queue.count_workers()
        async with queue.driver.transaction() as connection:
            assert await connection.fetchval("select 1") == 1
        await queue.count_workers()


async def test_a_connection_cut_while_kept_is_not_lent_again(database_url: str):
    operator = await asyncpg.connect(database_url)
    async with await connected(database_url) as queue:
        await queue.count_workers()
        for row in await operator.fetch(OURS):
            await operator.execute("select pg_terminate_backend($1)", row["pid"])
        await asyncio.sleep(0.2)
        assert (await queue.count_workers()).total == 0
    await operator.close()


async def test_a_cancelled_verb_leaves_a_usable_connection(database_url: str):
    operator = await asyncpg.connect(database_url)
    async with await connected(database_url, max_size=1) as queue, asyncio.timeout(20):
        async with operator.transaction():
            await operator.execute("lock table pgjobs.workers in access exclusive mode")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(queue.count_workers(), 0.2)
        assert (await queue.count_workers()).total == 0
    await operator.close()


async def test_what_is_kept_goes_back_to_the_pool(database_url: str):
    async with await connected(database_url, max_size=1) as queue, asyncio.timeout(20):
        await queue.count_workers()
        async with queue.driver.pool.acquire() as connection:  # type: ignore[attr-defined]
            assert await connection.fetchval("select 1") == 1


async def test_a_verb_under_way_does_not_keep_its_connection_from_closing(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection_cache, "KEEP_SECONDS", 3600.0)
    queue = await connected(database_url)
    await queue.count_workers()
    asking = asyncio.create_task(queue.count_workers())
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await queue.close()
    await asking


async def make_read_only(queue: Queue) -> None:
    """As a server is that was the primary."""
    async with queue.driver.transaction() as connection:
        await connection.execute("set default_transaction_read_only = on")


async def test_a_connection_that_cannot_write_any_more_is_not_lent_again(database_url: str):
    async with await connected(database_url, max_size=1) as queue:
        await make_read_only(queue)
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await queue.register_job("@global", "tests", "Echo")
        await queue.register_job("@global", "tests", "Echo")


async def test_a_transaction_that_may_not_write_does_not_leave_its_connection_behind(database_url: str):
    async with await connected(database_url, max_size=1) as queue:
        await make_read_only(queue)
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            async with queue.driver.transaction() as connection:
                await connection.execute("create table notes ()")
        async with queue.driver.transaction() as connection:
            await connection.execute("create table notes ()")
