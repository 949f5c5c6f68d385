"""Postgres restarted and killed under load: acknowledged tasks stay, workers come back by themselves."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from pgjobs import Queue
from pgjobs.schema.binaries import EmbeddedPostgresError
from pgjobs.schema.embedded import EmbeddedPostgres
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import jobs, record
from tests.server import new_home

COUNT = 1200


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    home = new_home()
    try:
        with EmbeddedPostgres(home / "server", durable=True) as server:
            yield server
    except EmbeddedPostgresError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(home, ignore_errors=True)


async def _wait_for(server: EmbeddedPostgres, count: int, table: str = "pgjobs.outcomes") -> None:
    async with asyncio.timeout(60):
        while await _count(server, table) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _count(server: EmbeddedPostgres, table: str) -> int:
    connection = await asyncpg.connect(server.url)
    try:
        return int(await connection.fetchval(f"select count(*) from {table}"))
    finally:
        await connection.close()


async def test_workers_survive_a_restart_and_a_crash_of_postgres(server: EmbeddedPostgres, tmp_path: Path):
    async with await Queue.connect(server.url) as queue:
        await queue.migrate()
        jobs.use(queue)
        await record.submit_many([record.payload(number) for number in range(COUNT)])
        jobs.use(None)
    connection = await asyncpg.connect(server.url)
    await connection.execute("create table ledger (number integer, attempt integer, pid integer)")
    await connection.close()
    with Crew(server.url, tmp_path / "log", size=2, lease_seconds=2) as crew:
        await _wait_for(server, 2, "pgjobs.workers")
        await asyncio.sleep(0.5)
        for how in (signal.SIGINT, signal.SIGQUIT):
            await _wait_for(server, min(await _count(server, "pgjobs.outcomes") + 80, COUNT))
            postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
            os.kill(postmaster, how)
            assert server._process is not None
            await asyncio.to_thread(server._process.wait, 30)
            server._process = None
            await asyncio.to_thread(server.start)
        await _wait_for(server, COUNT)
        assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
    assert await _count(server, "ledger") == COUNT
    assert await _count(server, "(select distinct number from ledger) as numbers") == COUNT
