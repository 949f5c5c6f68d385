"""Workers that were there before an upgrade go on after it: nothing lost, nothing failed, no attempt used up."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import asyncpg

from pgjobs import Queue
from pgjobs.schema.migrate import migrate
from pgjobs.schema.release import read_release
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import once, record
from tests.surfaces.cli.warm import run

EARLIER = Path(__file__).with_name("earlier.sql").read_text()
UPGRADES = 3
MIGRATE = ("migrate", "--no-roles")


async def go_back(connection: asyncpg.Connection) -> None:
    """Verbs of an earlier release, which answered with other columns."""
    async with connection.transaction():
        await migrate(connection, read_release(roles=False), recreate=True)
        await connection.execute(EARLIER)
        await connection.execute("update pgjobs.installed_objects set checksum = 'earlier'")


class Feeder:
    """Keeps workers busy; knows how many tasks there are."""

    def __init__(self, queue: Queue) -> None:
        self.submitted = 0
        self._queue = queue
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        numbers = itertools.count()
        while not self._stopped.is_set():
            payloads = [{"number": next(numbers)} for _ in range(8)]
            for job in (once, record):
                await self._queue.submit_tasks(job.address, payloads)
                self.submitted += len(payloads)
            await asyncio.sleep(0.05)

    def stop(self) -> None:
        self._stopped.set()


async def ended(connection: asyncpg.Connection, count: int) -> None:
    async with asyncio.timeout(60):
        while await connection.fetchval("select count(*) from pgjobs.outcomes") < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_workers_go_on_through_upgrades(empty_database_url: str, tmp_path: Path):
    connection = await asyncpg.connect(empty_database_url)
    await go_back(connection)
    await connection.execute("create table ledger (number int, attempt int, pid int)")
    async with await Queue.connect(empty_database_url) as queue:
        await record.register(queue)
        await once.register(queue)
        feeder = Feeder(queue)
        with Crew(empty_database_url, tmp_path / "log", size=2, lease_seconds=20) as crew:
            async with asyncio.TaskGroup() as group:
                group.create_task(feeder.run())
                for turn in range(UPGRADES):
                    await ended(connection, feeder.submitted + 20)
                    upgraded = await asyncio.to_thread(run, *MIGRATE, PGJOBS_DATABASE_URL=empty_database_url)
                    assert upgraded.returncode == 0, upgraded.stderr
                    await ended(connection, feeder.submitted + 20)
                    if turn + 1 < UPGRADES:
                        await go_back(connection)
                feeder.stop()
            await ended(connection, feeder.submitted)
            assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
            log = crew.log
        assert [rule for rule in await queue.check() if rule.violations] == []
    outcomes = await connection.fetch("select status, attempt, count(*) from pgjobs.outcomes group by 1, 2")
    assert [tuple(row) for row in outcomes] == [("completed", 1, feeder.submitted)], log[-5000:]
    assert await connection.fetchval("select count(*) from pgjobs.attempts") == 0
    assert await connection.fetchval("select count(*) = count(distinct number) from ledger")
    await connection.close()
