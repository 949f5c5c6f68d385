"""Postgres through psycopg, for callers without an event loop and for psycopg transactions."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from pgjobs.drivers.arguments import Call
from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.drivers.moments import FIRST, LAST
from pgjobs.drivers.postgres.hosts import HOST_SECONDS, servers_of
from pgjobs.drivers.signatures import signature_of
from pgjobs.drivers.statements import Refusal, call_text, given, problem_of
from pgjobs.errors import DatabaseUnavailable, InvalidArgument
from pgjobs.settings import Settings

CONNECT_SECONDS = 10
"""How long a server may take to answer when nothing else was asked for."""


class SyncDriver(Driver):
    """Calls verbs over a psycopg pool. `call` blocks and never awaits, so it needs no event loop."""

    def __init__(self, pool: Any, *, schema: str = "pgjobs") -> None:
        self.pool = pool
        self.schema = schema
        self._has_connected = False

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        schema: str = "pgjobs",
        max_size: int | None = None,
        is_pooled: bool | None = None,
        **options: Any,
    ) -> Self:
        from psycopg_pool import ConnectionPool

        settings = Settings(database_url=url, database_schema=schema)
        if settings.is_pooled if is_pooled is None else is_pooled:
            # The next transaction may run on a server connection that does not know the statement.
            options.setdefault("prepare_threshold", None)
        if len(servers_of(settings.url())) > 1:
            options.setdefault("connect_timeout", HOST_SECONDS)
        pool = ConnectionPool(
            settings.url(),
            min_size=0,
            max_size=max_size or settings.pool_max_size,
            kwargs={"autocommit": True, **options},
            check=_check,
            open=True,
        )
        return cls(pool, schema=settings.database_schema)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        if not self._has_connected:
            _connect_once(self.pool.conninfo, self.pool.kwargs)
            self._has_connected = True
        with self.pool.connection() as connection:
            try:
                return call(connection, self.schema, verb, arguments)
            except psycopg.errors.ReadOnlySqlTransaction:
                # Its server is not the primary, or no longer; the pool would lend it for ever.
                connection.close()
                raise

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        raise InvalidArgument(
            "A synchronous queue cannot listen", hint="Use wait_for, or the asynchronous Queue."
        )

    async def migrate(self) -> None:
        _connect_once(self.pool.conninfo, self.pool.kwargs)
        # In a thread, for asyncpg: the caller's may run an event loop already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(self._migrate())).result()

    async def _migrate(self) -> None:
        from pgjobs.drivers.postgres.driver import PostgresDriver

        given = self.pool.kwargs
        options = {name: given[name] for name in ("host", "port", "user", "password") if name in given}
        if "dbname" in given:
            options["database"] = given["dbname"]
        driver = await PostgresDriver.connect(
            self.pool.conninfo, schema=self.schema, min_size=0, max_size=1, **options
        )
        try:
            await driver.migrate()
        finally:
            await driver.close()

    async def close(self) -> None:
        self.pool.close()


class BoundSyncDriver(SyncDriver):
    """Calls verbs on the caller's psycopg connection, so in the caller's transaction."""

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        return call(self.pool, self.schema, verb, arguments)

    async def migrate(self) -> None:
        raise InvalidArgument("A transaction of your own does not migrate", hint="Run: pgjobs migrate")

    async def close(self) -> None:
        """The connection is the caller's."""


class BoundAsyncDriver(BoundSyncDriver):
    """The same for a psycopg AsyncConnection."""

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        text, values = _call(self.schema, verb, arguments)
        async with psycopg.AsyncCursor(self.pool, row_factory=dict_row) as cursor:
            _read_everything(cursor)
            with errors_translated(verb, arguments):
                await cursor.execute(text, values)
                return _decoded(verb, await cursor.fetchall())


def driver_for_psycopg(connection: Any, *, schema: str) -> Driver:
    if isinstance(connection, psycopg.AsyncConnection):
        return BoundAsyncDriver(connection, schema=schema)
    return BoundSyncDriver(connection, schema=schema)


def call(connection: Any, schema: str, verb: str, arguments: dict[str, Any]) -> Sequence[Row]:
    """One verb on one connection."""
    text, values = _call(schema, verb, arguments)
    # A cursor of our own: the connection's may write placeholders and read JSON in another way.
    with psycopg.Cursor(connection, row_factory=dict_row) as cursor, errors_translated(verb, arguments):
        _read_everything(cursor)
        cursor.execute(text, values)
        return _decoded(verb, cursor.fetchall())


def _read_everything(cursor: Any) -> None:
    """Documents as text, for each column to say how it is read, and times whatever their year."""
    set_json_loads(_text, cursor)
    cursor.adapters.register_loader("timestamptz", AnyTimeLoader)


def _text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode()


def _decoded(verb: str, rows: list[dict[str, Any]]) -> Sequence[Row]:
    for name, decode in signature_of(verb).decoders.items() if rows else ():
        # Another release may answer with other columns.
        if name not in rows[0]:
            continue
        for row in rows:
            if row[name] is not None:
                row[name] = decode(row[name])
    return rows


class AnyTimeLoader(TimestamptzLoader):
    """Reads times before the year 1 and after 9999 as the first and last there are."""

    def load(self, data: Any) -> datetime:
        try:
            return super().load(data)
        except psycopg.DataError:
            text = bytes(data)
            return FIRST if text.endswith(b"BC") or text.startswith(b"-") else LAST


def _call(schema: str, verb: str, arguments: dict[str, Any]) -> tuple[str, list[Any]]:
    sent = given(verb, arguments)
    return call_text(schema, verb, tuple(sent), _positional), [_literal(value) for value in sent.values()]


def _literal(value: Any) -> Any:
    """Numbers as text, for the verb to say their type: psycopg would send the narrowest that holds them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    if isinstance(value, Sequence) and value and all(type(item) is int for item in value):
        return "{" + ",".join(map(repr, value)) + "}"
    return value


@contextmanager
def errors_translated(verb: str, arguments: dict[str, Any]) -> Iterator[None]:
    """Turns what Postgres and psycopg refuse into this package's errors."""
    try:
        yield
    except psycopg.Error as error:
        translated = problem_of(_refusal(error), Call(verb, arguments))
        if translated is None:
            raise
        raise translated from error
    except UnicodeEncodeError as error:
        misuse = Call(verb, arguments).misuse()
        raise misuse or InvalidArgument("An argument is not valid text", detail=str(error)) from error


def _refusal(error: psycopg.Error) -> Refusal:
    diag = error.diag
    # Without a code it comes from psycopg itself, which could not send an argument.
    is_ours = error.sqlstate is None and isinstance(error, (psycopg.DataError, psycopg.ProgrammingError))
    return Refusal(
        "22000" if is_ours else error.sqlstate,
        diag.message_primary or str(error),
        diag.message_detail,
        diag.message_hint,
        diag.context,
    )


def _connect_once(url: str, options: Mapping[str, Any]) -> None:
    """Says what a pool keeps to itself: it tries again and again, and then tells of the time alone."""
    try:
        address = {"connect_timeout": CONNECT_SECONDS, **conninfo_to_dict(url)}
    except psycopg.ProgrammingError:
        # Not its words: they quote parts of the URL, password included.
        hint = "Percent-encode the password."
        raise InvalidArgument("The database URL cannot be understood", hint=hint) from None
    try:
        psycopg.connect(**{**address, **options}).close()
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(
            "Cannot connect to the database",
            detail=" ".join(str(error).split()),
            hint="Check host, port, user, password and database of its URL.",
        ) from error


def _check(connection: Any) -> None:
    """Asks a connection that has something to say unasked, most often that it was cut, whether it works."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        connection.execute("")


def _positional(_place: int) -> str:
    return "%s"
