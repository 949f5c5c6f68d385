"""Verbs in a SQLAlchemy transaction, on the driver connection underneath it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pgjobs.drivers import Driver, Row
from pgjobs.drivers.postgres import BoundDriver
from pgjobs.errors import InvalidArgument


def driver_for_sqlalchemy(connection: Any, *, schema: str) -> Driver:
    """For a Session, Connection, AsyncSession or AsyncConnection."""
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

    if isinstance(connection, (AsyncSession, AsyncConnection)):
        return AsyncSqlAlchemyDriver(connection, schema=schema)
    # Executing begins the transaction, if none is open yet.
    core = connection.connection() if callable(getattr(connection, "connection", None)) else connection
    core.exec_driver_sql("select 1")
    return _driver_of(core.connection.driver_connection, schema)


class AsyncSqlAlchemyDriver(BoundDriver):
    """Finds the driver connection at the first call, because that needs an await."""

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        session = self.connection
        core = await session.connection() if hasattr(session, "get_bind") else session
        # Until something was executed, SQLAlchemy's asyncpg connections have no transaction open.
        await core.exec_driver_sql("select 1")
        raw = await core.get_raw_connection()
        return await _driver_of(raw.driver_connection, self.schema).call(verb, **arguments)


def _driver_of(connection: Any, schema: str) -> Driver:
    package = type(connection).__module__.partition(".")[0]
    if package == "asyncpg":
        return BoundDriver(connection, schema=schema)
    if package == "psycopg":
        from pgjobs.drivers.sync import driver_for_psycopg

        return driver_for_psycopg(connection, schema=schema)
    raise InvalidArgument(
        f"SQLAlchemy runs on {package}, which pgjobs cannot share",
        hint="Use the postgresql+asyncpg:// or postgresql+psycopg:// dialect.",
    )
