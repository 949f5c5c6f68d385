"""Where queues live during tests: a Postgres database that is emptied between tests, or a SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.server import ServerQueue as Queue


class Clock:
    """Real time plus what tests have advanced. It never goes back, like any clock."""

    def __init__(self) -> None:
        self.shift = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.shift

    async def advance(self, duration: timedelta | None = None, **parts: float) -> None:
        """Moves the queue's time forward: `advance(seconds=30)`."""
        self.shift += timedelta(**parts) if duration is None else duration


class SqliteHome:
    """A migrated file; its queue asks the test's clock for the time."""

    def __init__(self, url: str) -> None:
        self.clock = Clock()
        self.url = url
        self.queue: Queue
        self.checker: Queue

    async def open(self) -> None:
        self.queue = self.checker = await Queue.connect(self.url, clock=self.clock.now)

    async def settle(self) -> None:
        """One writer at a time: nothing can hide an event."""

    async def execute(self, sql: str) -> None:
        """What an operator would type, with the dialect's names filled in."""
        with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"))) as connection:
            connection.execute(sql.format(settings="settings", zero="0", week="604800000000"))
            connection.commit()

    async def close(self) -> None:
        await self.queue.close()


class PostgresHome:
    """A migrated database with a clock that can be moved, over a connection of its own."""

    def __init__(self, url: str) -> None:
        self.clock = _PostgresClock(self)
        self.url = url
        self.queue: Queue
        self.checker: Queue
        self.connection: Any = None
        self._filled: list[str] = []

    async def open(self) -> None:
        # In a table that was empty when statistics were taken, comparing row by row looks cheap.
        self.connection = await asyncpg.connect(self.url, server_settings={"enable_nestloop": "off"})
        self.checker = Queue(BoundDriver(self.connection))
        self._filled = [table for table in await self._tables() if await self._is_empty(table)]
        self.clock.shift = await self.connection.fetchval("select shift from pgjobs.test_clock")
        self.queue = await Queue.connect(self.url)

    async def settle(self) -> None:
        """Waits until every event can be seen: they hide behind the oldest transaction of the server."""
        written = int(await self.connection.fetchval("select pg_current_xact_id()::text"))
        async with asyncio.timeout(60):
            while True:
                horizon = await self.connection.fetchval(
                    "select pg_snapshot_xmin(pg_current_snapshot())::text"
                )
                if int(horizon) > written:
                    return
                await asyncio.sleep(0.002)

    async def execute(self, sql: str) -> None:
        """What an operator would type, with the dialect's names filled in."""
        await self.connection.execute(sql.format(settings="pgjobs.settings", zero="'0'", week="'7 days'"))

    async def empty(self) -> None:
        """Back to how it was installed; numbers and the clock go on from where they are."""
        async with self.connection.transaction():
            await self.connection.execute("set local session_replication_role = replica")
            await self.connection.execute(";".join(f"delete from {table}" for table in self._filled))

    async def move_clock(self, shift: timedelta) -> None:
        await self.connection.execute("update pgjobs.test_clock set shift = $1", shift)

    async def close(self) -> None:
        await self.queue.close()
        await self.connection.close()

    async def _tables(self) -> list[str]:
        rows = await self.connection.fetch(
            "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'pgjobs'"
        )
        return [row["name"] for row in rows]

    async def _is_empty(self, table: str) -> bool:
        return not await self.connection.fetchval(f"select exists (select from {table})")


class _PostgresClock(Clock):
    def __init__(self, home: PostgresHome) -> None:
        super().__init__()
        self._home = home

    async def advance(self, duration: timedelta | None = None, **parts: float) -> None:
        await super().advance(duration, **parts)
        await self._home.move_clock(self.shift)


Home = SqliteHome | PostgresHome
