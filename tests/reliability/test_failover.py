"""The primary is killed under load and its standby promoted: nothing acknowledged is lost or done twice."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from pgjobs import Queue
from pgjobs.drivers.transient import is_away
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import record
from tests.reliability.nodes import Pair

ROUNDS = int(os.environ.get("PGJOBS_FAILOVER_ROUNDS", "1"))
TASKS = int(os.environ.get("PGJOBS_FAILOVER_TASKS", "150"))
SEED = int(os.environ.get("PGJOBS_FAILOVER_SEED", "1"))
SUBMITTERS = 4
LEASE_SECONDS = 2.0

failover = logging.getLogger("tests.failover")


class Submitters:
    """Submit one number after the other, each until it is acknowledged, and remember which were."""

    def __init__(self, queue: Queue, luck: random.Random) -> None:
        self.acknowledged: dict[int, int] = {}
        self.longest_gap = 0.0
        self._queue, self._luck = queue, luck
        self._numbers = itertools.count()
        self._acknowledged_at = time.monotonic()

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        stopped = asyncio.Event()
        self._acknowledged_at = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(SUBMITTERS):
                group.create_task(self._submit_on(stopped))
            try:
                yield
            finally:
                stopped.set()

    async def have_acknowledged(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.acknowledged) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def _submit_on(self, stopped: asyncio.Event) -> None:
        while not stopped.is_set():
            number = next(self._numbers)
            self.acknowledged[number] = await self._submit(number)
            now = time.monotonic()
            self.longest_gap = max(self.longest_gap, now - self._acknowledged_at)
            self._acknowledged_at = now
            # Workers would be left far behind.
            await asyncio.sleep(self._luck.uniform(0, 0.06))

    async def _submit(self, number: int) -> int:
        while True:
            try:
                task = await self._queue.submit_task(
                    record.address, {"number": number}, idempotency_key=str(number)
                )
                return task.task_id
            except Exception as error:
                # Whether it was submitted is not known: the key makes the next try the same task.
                if not is_away(error):
                    raise
                await asyncio.sleep(0.05)


class Ledger:
    """What the primary of the moment holds."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair

    async def fetch(self, query: str, *arguments: Any) -> list[Any]:
        connection = await asyncpg.connect(self._pair.primary.url)
        try:
            return [row[0] for row in await connection.fetch(query, *arguments)]
        finally:
            await connection.close()

    async def has(self, count: int) -> None:
        async with asyncio.timeout(30 + count / 50):
            while len(await self.fetch("select number from ledger")) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


def recorded(log: str) -> set[int]:
    """What workers were told to be committed."""
    return {int(number) for number in re.findall(r"recorded (\d+)", log)}


def tokens(log: str) -> Iterator[str]:
    return iter(re.findall(r"began \d+ under (\S+)", log))


async def test_no_acknowledged_task_is_lost_or_repeated_when_the_primary_is_killed(
    pair: Pair, tmp_path: Path
):
    luck = random.Random(SEED)
    ledger = Ledger(pair)
    async with await Queue.connect(pair.url) as queue:
        await record.register(queue)
        await ledger.fetch(
            "create table ledger (number int, attempt int, pid int, at timestamptz default clock_timestamp())"
        )
        submitters = Submitters(queue, luck)
        with Crew(pair.url, tmp_path / "log", size=2, lease_seconds=LEASE_SECONDS, seed=SEED) as crew:
            for turn in range(1, ROUNDS + 1):
                async with submitters.at_work():
                    await submitters.have_acknowledged(len(submitters.acknowledged) + TASKS)
                    await ledger.has(TASKS * turn // 2)
                    if turn % 2:
                        # Whoever does not wait for the standby would acknowledge what it never gets.
                        await pair.hold_back()
                    await asyncio.sleep(luck.uniform(0.1, 0.4))
                    await pair.kill_primary()
                    acknowledged, done = dict(submitters.acknowledged), recorded(crew.log)
                    await asyncio.sleep(luck.uniform(0.2, 1.5))
                    await pair.promote()
                    there = set(await ledger.fetch("select id from pgjobs.tasks"))
                    assert set(acknowledged.values()) <= there, "a submit was lost"
                    assert done <= set(await ledger.fetch("select number from ledger")), "an outcome was lost"
                    await submitters.have_acknowledged(len(acknowledged) + TASKS)
                if turn < ROUNDS:
                    await pair.add_standby()
            await ledger.has(len(submitters.acknowledged))
            assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
            log = crew.log
        assert [rule for rule in await queue.check() if rule.violations] == []
    numbers = await ledger.fetch("select number from ledger")
    assert Counter(numbers) == Counter(submitters.acknowledged.keys())
    assert len(set(submitters.acknowledged.values())) == len(numbers), "two submits were given one task"
    assert recorded(log) <= set(numbers)
    assert [token for token, times in Counter(tokens(log)).items() if times > 1] == []
    (idle,) = await ledger.fetch(
        "select max(gap) from (select at - lag(at) over (order by at) as gap from ledger) as gaps"
    )
    failover.info(
        "%d failovers, %d tasks once, lost 0; longest without a submit %.1f s, without an outcome %.1f s",
        ROUNDS, len(numbers), submitters.longest_gap, idle.total_seconds(),
    )  # fmt: skip
