"""Verbs in a SQLAlchemy transaction, on the driver connection underneath it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session

from pgjobs.drivers.base import Driver, Row
from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.errors import InvalidArgument

# SQLAlchemy begins a transaction when it executes something, not when it is asked for the connection.
BEGIN = "select 1"


def driver_for_sqlalchemy(connection: Any, *, schema: str) -> Driver:
    """For a Session, Connection, AsyncSession or AsyncConnection."""
    if isinstance(connection, (AsyncSession, AsyncConnection, async_scoped_session)):
        return AsyncSqlAlchemyDriver(connection, schema=schema)
    return SqlAlchemyDriver(connection, schema=schema)


class SqlAlchemyDriver(BoundDriver):
    """Finds the driver connection at each call: a session may have another one after each commit."""

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        session = self.connection
        core = session if isinstance(session, Connection) else session.connection()
        core.exec_driver_sql(BEGIN)
        return await _driver_of(core.connection.driver_connection, self.schema).call(verb, **arguments)


class AsyncSqlAlchemyDriver(BoundDriver):
    """The same for asynchronous sessions and connections."""

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        session = self.connection
        core = session if isinstance(session, AsyncConnection) else await session.connection()
        await core.exec_driver_sql(BEGIN)
        raw = await core.get_raw_connection()
        return await _driver_of(raw.driver_connection, self.schema).call(verb, **arguments)


def _driver_of(connection: Any, schema: str) -> Driver:
    package = type(connection).__module__.partition(".")[0]
    if package == "asyncpg":
        return BoundDriver(connection, schema=schema)
    if package == "psycopg":
        from pgjobs.drivers.psycopg import driver_for_psycopg

        return driver_for_psycopg(connection, schema=schema)
    raise InvalidArgument(
        f"SQLAlchemy runs on {package}, which pgjobs cannot share",
        hint="Use the postgresql+asyncpg:// or postgresql+psycopg:// dialect.",
    )
