"""Workflows under kill -9 and SIGSTOP of workers and crashes of Postgres: all end, each effect is there once."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from pgjobs import Queue
from pgjobs.schema.binaries import EmbeddedPostgresError
from pgjobs.schema.embedded import EmbeddedPostgres
from tests.reliability.crashes import kill, revive
from tests.reliability.crew import Crew
from tests.reliability.durable_worker import begin, finish, jobs, middle
from tests.server import new_home

WORKFLOWS = int(os.environ.get("PGJOBS_SOAK_WORKFLOWS", "40"))
SEED = int(os.environ.get("PGJOBS_SOAK_SEED", "1"))
LEASE_SECONDS = 1.0
TASKS_EACH = 5
"""Three of the workflow, two that the middle one calls."""


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        jobs.use(queue)
        yield queue
        jobs.use(None)


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


@pytest.fixture
async def ledger(database_url: str):
    """No key forbids a second line: doing so would hide what the test looks for."""
    connection = await asyncpg.connect(database_url)
    await connection.execute("create table ledger (number integer, name text, pid integer)")
    yield connection
    await connection.close()


async def submit(queue: Queue) -> list[int]:
    """Workflows, and the tasks in them that wait for a signal."""
    waiting = []
    for number in range(WORKFLOWS):
        flow = jobs.workflow("crash")
        first = flow.add(begin, number)
        second = flow.add(middle, number, after=first)
        flow.add(finish, number, after=[first, second])
        handle = await flow.submit(queue)
        waiting.append(handle.tasks["middle"])
    return waiting


async def assert_all_is_done_once(queue: Queue, ledger: asyncpg.Connection) -> None:
    lines = await ledger.fetch("select name, number, count(*) as times from ledger group by 1, 2")
    assert [tuple(line) for line in lines if line["times"] > 1] == []
    assert len(lines) == WORKFLOWS * 6
    statuses = await ledger.fetch("select status, count(*) from pgjobs.outcomes group by 1")
    assert [tuple(row) for row in statuses] == [("completed", WORKFLOWS * TASKS_EACH)]
    flows, before = list[str](), None
    while page := await queue.list_workflows(before=before, page_size=500):
        flows += [flow.status for flow in page]
        before = page[-1].id
    assert flows == ["completed"] * WORKFLOWS
    results = await ledger.fetch(
        "select o.result::int as result, w.workflow_id as id from pgjobs.outcomes as o"
        " join pgjobs.workflow_tasks as w on w.task_id = o.task_id and w.name = 'finish' order by 2"
    )
    assert [row["result"] for row in results] == [number + 3 for number in range(WORKFLOWS)]
    assert [rule for rule in await queue.check() if rule.violations] == []


async def ended(ledger: asyncpg.Connection) -> int:
    return int(await ledger.fetchval("select count(*) from pgjobs.outcomes"))


async def hurt(crew: Crew, luck: random.Random, frozen: list[tuple[float, int]], accidents: int) -> int:
    """One accident, perhaps: a worker is killed and replaced, or frozen for longer than its leases."""
    for due, pid in [each for each in frozen if each[0] <= time.monotonic()]:
        os.kill(pid, signal.SIGCONT)
        frozen.remove((due, pid))
    fate = {0: 0.1, 1: 0.3}.get(accidents, luck.random())
    victims = [each for each in crew.processes if each.pid not in {pid for _, pid in frozen}]
    if fate > 0.5 or len(victims) < 2:
        return 0
    victim = luck.choice(victims)
    if fate < 0.25:
        crew.kill(victim)
        crew.hire()
    else:
        victim.send_signal(signal.SIGSTOP)
        frozen.append((time.monotonic() + LEASE_SECONDS * luck.uniform(1.1, 2.5), victim.pid))
    return 1


async def test_every_effect_is_there_once_and_every_workflow_ends(
    database_url: str, queue: Queue, ledger: asyncpg.Connection, tmp_path: Path
):
    luck = random.Random(SEED)
    waiting = await submit(queue)
    total = WORKFLOWS * TASKS_EACH
    frozen: list[tuple[float, int]] = []
    accidents = 0
    crew = Crew(
        database_url,
        tmp_path / "log",
        size=3,
        lease_seconds=LEASE_SECONDS,
        seed=SEED,
        worker="tests.reliability.durable_worker",
    )
    with crew:
        async with asyncio.timeout(180 + WORKFLOWS):
            while await ended(ledger) < total:
                await asyncio.sleep(luck.uniform(0.2, 0.6))
                if waiting:
                    signalled = waiting[: max(1, WORKFLOWS // 20)]
                    waiting = waiting[len(signalled) :]
                    for task in signalled:
                        await queue.send_signal(task, "go", 1)
                # Nobody is hurt before something was done, or newcomers could be killed for ever.
                if await ended(ledger) < total * 0.9 and await ledger.fetchval("select count(*) from ledger"):
                    accidents += await hurt(crew, luck, frozen, accidents)
        for _, pid in frozen:
            os.kill(pid, signal.SIGCONT)
    await assert_all_is_done_once(queue, ledger)
    assert accidents


async def test_a_crash_of_postgres_loses_and_repeats_nothing(server: EmbeddedPostgres, tmp_path: Path):
    async with await Queue.connect(server.url) as queue:
        await queue.migrate()
        connection = await asyncpg.connect(server.url)
        await connection.execute("create table ledger (number integer, name text, pid integer)")
        jobs.use(queue)
        waiting = await submit(queue)
        jobs.use(None)
        await connection.close()
    with Crew(
        server.url,
        tmp_path / "log",
        size=2,
        lease_seconds=LEASE_SECONDS * 2,
        worker="tests.reliability.durable_worker",
    ) as crew:
        for part in (0.2, 0.5):
            await reached(server, int(WORKFLOWS * TASKS_EACH * part / 2), waiting)
            kill(server)
            await asyncio.to_thread(revive, server)
        await reached(server, WORKFLOWS * TASKS_EACH, waiting)
        assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
    async with await Queue.connect(server.url) as queue:
        connection = await asyncpg.connect(server.url)
        await assert_all_is_done_once(queue, connection)
        await connection.close()


async def reached(server: EmbeddedPostgres, count: int, waiting: list[int]) -> None:
    """So many tasks have ended; signals are sent meanwhile."""
    async with await Queue.connect(server.url) as queue, asyncio.timeout(180 + WORKFLOWS):
        connection = await asyncpg.connect(server.url)
        while await ended(connection) < count:
            for task in waiting[: max(1, WORKFLOWS // 10)]:
                await queue.send_signal(task, "go", 1)
            del waiting[: max(1, WORKFLOWS // 10)]
            await asyncio.sleep(0.2)
        await connection.close()
