"""Options of connecting reach every connection, the listening one included."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import asyncpg
import pytest

from pgjobs.queue.queue import Queue

LISTENING = (
    "select application_name from pg_stat_activity"
    " where datname = current_database() and query like 'LISTEN%' and pid <> pg_backend_pid()"
)


async def test_who_listens_connects_as_those_who_call_do(database_url: str):
    address = urlsplit(database_url)
    without_password = address._replace(
        netloc=f"{address.username}@{address.hostname}:{address.port}"
    ).geturl()
    options = {"password": address.password, "server_settings": {"application_name": "the crew"}}
    woken = asyncio.Event()
    operator = await asyncpg.connect(database_url)
    async with await Queue.connect(without_password, max_size=2, max_queries=100, **options) as queue:
        await queue.register_job("lab", "tests", "Echo")
        await queue.driver.listen("wake", lambda _: woken.set())
        async with asyncio.timeout(10):
            await woken.wait()
        assert [row["application_name"] for row in await operator.fetch(LISTENING)] == ["the crew"]
    await operator.close()


async def test_encryption_asked_for_is_asked_for_by_whoever_listens_too(database_url: str):
    """The server has none, so asking for it fails, and not to ask must be an option."""
    async with await Queue.connect(database_url, ssl=False) as queue:
        assert await queue.list_jobs() == []
        listener = queue.driver._listener  # type: ignore[attr-defined]
        connection = await listener._connect()
        assert connection._params.ssl is False
        await connection.close()
    with pytest.raises(ConnectionError, match="SSL"):
        await Queue.connect(database_url, ssl="require", min_size=1)
