"""Which driver serves a URL, or a connection the caller already has."""

from __future__ import annotations

from typing import Any

from pgjobs.drivers.base import Driver
from pgjobs.errors import InvalidArgument
from pgjobs.settings import Settings


async def connect(url: str | None = None, **options: Any) -> Driver:
    """Opens the driver a URL asks for; without one, the environment's."""
    settings = Settings()
    url = url or settings.url()
    options.setdefault("schema", settings.database_schema)
    scheme = url.partition(":")[0]
    if scheme.startswith("sqlite"):
        from pgjobs.drivers.sqlite.driver import SqliteDriver

        return await SqliteDriver.connect(url, **options)
    if scheme.startswith("postgres"):
        from pgjobs.drivers.postgres.driver import PostgresDriver

        options.setdefault("is_pooled", settings.is_pooled)
        if settings.listen_url is not None:
            options.setdefault("listen_url", settings.listen_url.get_secret_value())
        return await PostgresDriver.connect(url, **options)
    # Without a scheme it may be anything, a password for example.
    kind = f"{scheme}: URLs" if "://" in url else "that"
    raise InvalidArgument(f"No driver for {kind}", hint="Use postgresql://… or sqlite:///file.")


def driver_for_connection(connection: Any, *, schema: str) -> Driver:
    """A driver whose verbs run in the transaction of `connection`; where its class comes from tells which."""
    known = {"asyncpg", "psycopg", "sqlalchemy", "django", "sqlite3"}
    # The application may have a subclass of its own.
    packages = (cls.__module__.partition(".")[0] for cls in type(connection).__mro__)
    package = next((name for name in packages if name in known), None)
    if package == "asyncpg":
        from pgjobs.drivers.postgres.driver import BoundDriver

        return BoundDriver(connection, schema=schema)
    if package == "psycopg":
        from pgjobs.drivers.psycopg import driver_for_psycopg

        return driver_for_psycopg(connection, schema=schema)
    if package == "sqlalchemy":
        from pgjobs.drivers.sqlalchemy import driver_for_sqlalchemy

        return driver_for_sqlalchemy(connection, schema=schema)
    if package == "django":
        # The wrapper of django.db.connection; its transaction is open on the connection inside.
        connection.ensure_connection()
        return driver_for_connection(connection.connection, schema=schema)
    if package == "sqlite3":
        from pgjobs.drivers.sqlite.driver import BoundSqliteDriver

        return BoundSqliteDriver(connection)
    raise InvalidArgument(
        f"Cannot use a {type(connection).__module__}.{type(connection).__qualname__} as a connection",
        hint="Pass an asyncpg, psycopg, SQLAlchemy, Django or sqlite3 connection.",
    )
