"""Connections of a pool, kept at hand between verbs: lending one costs as much as asking the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from pgjobs.drivers.transient import is_away, mark_outage

KEEP_SECONDS = 1.0


class ConnectionCache:
    """Lends the connections of an asyncpg pool.

    What has just served is kept for the next; every second what is kept goes back to the
    pool, which so still closes what is idle, old or worn. Nobody waits for the pool while
    something is kept.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._kept: list[Any] = []
        self._asking = 0
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._returning: asyncio.Task[None] | None = None

    async def take(self) -> Any:
        while self._kept:
            connection = self._kept.pop()
            if is_usable(connection):
                return connection
            await self.give_back(connection)
        self._asking += 1
        try:
            return await self._pool.acquire()
        except Exception as error:
            if is_away(error):
                mark_outage(error)
            raise
        finally:
            self._asking -= 1

    async def keep(self, connection: Any) -> None:
        """Takes back a connection that has nothing to clean up; any other goes to the pool by `give_back`."""
        if self._asking or self._is_closed:
            await self.give_back(connection)
            return
        self._kept.append(connection)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_SECONDS, self._return_soon)

    async def give_back(self, connection: Any, error: BaseException | None = None) -> None:
        if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
            # Its server is not the primary, or no longer; the pool would lend it for ever.
            connection.terminate()
        await self._pool.release(connection)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Any]:
        """A connection for whatever the caller does with it."""
        connection = await self.take()
        try:
            yield connection
        except BaseException as error:
            await self.give_back(connection, error)
            raise
        await self.give_back(connection)

    async def forget(self) -> None:
        """Gives back what is kept."""
        await self._return_kept()

    async def close(self) -> None:
        """Gives everything back, and keeps nothing any more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self._return_kept()

    def _return_soon(self) -> None:
        self._timer = None
        self._returning = asyncio.ensure_future(self._return_kept())

    async def _return_kept(self) -> None:
        kept, self._kept = self._kept, []
        for connection in kept:
            await self.give_back(connection)


def is_usable(connection: Any) -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:
        # One that was cut has gone back to the pool by itself.
        return False
