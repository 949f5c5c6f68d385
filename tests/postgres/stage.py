"""Two transactions stepped by hand: who waits for whom is asked of Postgres, never timed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, Self

import asyncpg

from pgjobs.queue.queue import Queue

JOB = "@global:tests:Work"


class Actor:
    """A connection with an open transaction, and the queue as seen from inside it."""

    def __init__(self, connection: Any, queue: Queue) -> None:
        self.connection = connection
        self.queue = queue.bound_to(connection)
        self.pid = connection.get_server_pid()
        self.transaction = connection.transaction()

    @classmethod
    async def enter(cls, url: str, queue: Queue) -> Self:
        actor = cls(await asyncpg.connect(url), queue)
        await actor.transaction.start()
        return actor

    async def commit(self) -> None:
        await self.transaction.commit()

    async def rollback(self) -> None:
        await self.transaction.rollback()

    async def leave(self) -> None:
        self.connection.terminate()


class Stage:
    """A queue, a clock, and actors whose transactions stay open until told otherwise."""

    def __init__(self, url: str, queue: Queue, watcher: Any) -> None:
        self.url, self.queue, self.watcher = url, queue, watcher
        self.actors: list[Actor] = []

    async def enter(self) -> Actor:
        actor = await Actor.enter(self.url, self.queue)
        self.actors.append(actor)
        return actor

    async def advance(self, **parts: float) -> None:
        await self.watcher.execute("update pgjobs.test_clock set shift = shift + $1", timedelta(**parts))

    async def settle(self) -> None:
        """Waits until every event can be seen: they hide behind the oldest transaction of the server."""
        written = int(await self.watcher.fetchval("select pg_current_xact_id()::text"))
        horizon = "select pg_snapshot_xmin(pg_current_snapshot())::text"
        async with asyncio.timeout(60):
            while int(await self.watcher.fetchval(horizon)) <= written:  # noqa: ASYNC110
                await asyncio.sleep(0.002)

    async def waits(self, actor: Actor, call: Awaitable[Any], *, behind: Actor) -> asyncio.Task[Any]:
        """Starts a call that has to wait for a lock `behind` holds, and comes back once it does."""
        task = asyncio.ensure_future(call)
        async with asyncio.timeout(20):
            while behind.pid not in await self.watcher.fetchval("select pg_blocking_pids($1)", actor.pid):
                assert not task.done(), f"did not wait: {task}"
                await asyncio.sleep(0.002)
        return task

    async def soon(self, call: Awaitable[Any]) -> Any:
        """The answer of a call that must not wait for anybody."""
        async with asyncio.timeout(20):
            return await call

    async def close(self) -> None:
        for actor in self.actors:
            await actor.leave()
        await self.watcher.close()
