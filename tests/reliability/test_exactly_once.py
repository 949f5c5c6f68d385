"""Real worker processes, killed and frozen at random: every task takes effect exactly once."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import asyncpg
import pytest

from pgjobs import Queue
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import jobs, once, record

TASKS = int(os.environ.get("PGJOBS_SOAK_TASKS", "1000"))
SEED = int(os.environ.get("PGJOBS_SOAK_SEED", "1"))
LEASE_SECONDS = 1.0

soak = logging.getLogger("tests.soak")


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        jobs.use(queue)
        yield queue
        jobs.use(None)
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
async def ledger(database_url: str):
    """No key forbids a second line for a number: doing so would hide what the test looks for."""
    connection = await asyncpg.connect(database_url)
    await connection.execute("create table ledger (number integer, attempt integer, pid integer)")
    yield connection
    await connection.close()


async def ended(ledger: asyncpg.Connection) -> int:
    return int(await ledger.fetchval("select count(*) from pgjobs.outcomes"))


async def wait_for_all(ledger: asyncpg.Connection, count: int, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while await ended(ledger) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def wait_for_workers(queue: Queue, count: int) -> None:
    """Until they are up: one that cannot reach the database when it starts says so and ends."""
    async with asyncio.timeout(60):
        while len(await queue.list_workers()) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)


async def workers_at_work(
    ledger: asyncpg.Connection, crew: Crew, frozen: set[int]
) -> list[subprocess.Popen[bytes]]:
    wrote = {row["pid"] for row in await ledger.fetch("select distinct pid from ledger")}
    return [process for process in crew.processes if process.pid in wrote - frozen]


async def test_killed_and_frozen_workers_lose_and_repeat_nothing(
    database_url: str, queue: Queue, ledger: asyncpg.Connection, tmp_path: Path
):
    luck = random.Random(SEED)
    await record.submit_many([record.payload(number) for number in range(TASKS)])
    frozen: list[tuple[float, int]] = []
    accidents = 0
    with Crew(database_url, tmp_path / "log", size=3, lease_seconds=LEASE_SECONDS, seed=SEED) as crew:
        while await ended(ledger) < TASKS * 0.95:
            await asyncio.sleep(luck.uniform(0.1, 0.5))
            for due, pid in [f for f in frozen if f[0] <= time.monotonic()]:
                os.kill(pid, signal.SIGCONT)
                frozen.remove((due, pid))
            # Only whoever has done something: else newcomers could be killed for ever, and nothing be done.
            working = await workers_at_work(ledger, crew, {pid for _, pid in frozen})
            if not working:
                continue
            # One is frozen and one killed, however short the run; the rest is luck.
            fate = {0: 0.3, 1: 0.1}.get(accidents, luck.random())
            if fate > 0.6:
                continue
            victim = luck.choice(working)
            accidents += 1
            if fate < 0.2:
                crew.kill(victim)
                crew.hire()
            elif len(crew.processes) - len(frozen) > 1:
                victim.send_signal(signal.SIGSTOP)
                frozen.append((time.monotonic() + LEASE_SECONDS * luck.uniform(1.1, 2.5), victim.pid))
        for _, pid in frozen:
            os.kill(pid, signal.SIGCONT)
        await wait_for_all(ledger, TASKS, 30 + TASKS / 100)
        await asyncio.sleep(0.3)
        log = crew.log
    lines = await ledger.fetch("select number, count(*) as times from ledger group by number")
    assert {line["number"] for line in lines} == set(range(TASKS))
    assert [line["number"] for line in lines if line["times"] > 1] == []
    assert await ledger.fetchval("select count(*) from pgjobs.outcomes where status = 'completed'") == TASKS
    soak.info(
        "%d tasks once; %d accidents, %d late reports refused", TASKS, accidents, log.count("lease is lost")
    )
    assert accidents
    assert "lease is lost" in log, "no zombie was ever refused: the test was too gentle"


async def test_a_deploy_under_load_uses_up_no_attempt(
    database_url: str, queue: Queue, ledger: asyncpg.Connection, tmp_path: Path
):
    count = 1200
    await once.submit_many([once.payload(number) for number in range(count)])
    with Crew(database_url, tmp_path / "log", size=2, lease_seconds=10) as crew:
        for _ in range(3):
            # Before it has joined, a signal ends a worker as it does any process.
            await wait_for_workers(queue, 2)
            before = await ended(ledger)
            await wait_for_all(ledger, min(before + 40, count), 30)
            oldest = crew.processes[0]
            crew.hire()
            assert await asyncio.to_thread(crew.dismiss, oldest) == 0
        await wait_for_all(ledger, count, 60)
    statuses = await ledger.fetch("select status, attempt, count(*) from pgjobs.outcomes group by 1, 2")
    assert [tuple(row) for row in statuses] == [("completed", 1, count)]
    assert await ledger.fetchval("select count(*) from pgjobs.attempts") == 0


async def test_workers_come_back_after_their_connections_were_cut(
    database_url: str, queue: Queue, ledger: asyncpg.Connection, tmp_path: Path
):
    count = 800
    with Crew(database_url, tmp_path / "log", size=2, lease_seconds=3) as crew:
        await wait_for_workers(queue, 2)
        await record.submit_many([record.payload(number) for number in range(count)])
        for _ in range(3):
            before = await ended(ledger)
            await wait_for_all(ledger, min(before + 20, count), 30)
            await ledger.fetch(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
        await wait_for_all(ledger, count, 60)
        assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
    assert await ledger.fetchval("select count(*) = count(distinct number) from ledger")
    assert await ledger.fetchval("select count(*) from ledger") == count
