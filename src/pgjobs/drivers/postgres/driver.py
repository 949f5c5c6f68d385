"""Postgres through asyncpg: a pool for verbs, one connection for notifications."""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self, cast

import asyncpg

from pgjobs.drivers.arguments import Call
from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.drivers.moments import reading_any_time
from pgjobs.drivers.postgres.connection_cache import ConnectionCache, is_usable
from pgjobs.drivers.postgres.hosts import connector
from pgjobs.drivers.postgres.listener import Listener
from pgjobs.drivers.signatures import Convert, signature_of
from pgjobs.drivers.statements import Refusal, call_text, call_text_in_rooms, given, problem_of
from pgjobs.drivers.transient import mark_outage
from pgjobs.errors import InvalidArgument, SchemaChanged
from pgjobs.schema.migrate import migrate, read_release, require_current
from pgjobs.settings import Settings

MAX_ATTEMPTS = 5
"""How often a verb is tried that a deadlock or a serialization failure took back."""
PAUSE_SECONDS = 0.02


class PostgresDriver(Driver):
    """Calls verbs over a pool.

    `is_pooled` is for a transaction-mode pooler such as PgBouncer in front of the
    database: no prepared statement outlives its transaction. Notifications need a
    session of their own, so `listen_url` should then go past the pooler; without it
    nobody is woken, and whoever waits looks again from time to time.
    """

    can_confine = True

    def __init__(
        self, pool: Any, *, schema: str = "pgjobs", is_pooled: bool = False, listener: Listener | None = None
    ) -> None:
        self.pool = pool
        self.schema = schema
        self._is_pooled = is_pooled
        self._listener = listener
        self._lending = ConnectionCache(pool)
        self._transactions: asyncio.Semaphore | None = None
        self._reopen: Callable[[], Awaitable[PostgresDriver]] | None = None

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        schema: str = "pgjobs",
        min_size: int | None = None,
        max_size: int | None = None,
        is_pooled: bool = False,
        listen_url: str | None = None,
        **options: Any,
    ) -> Self:
        settings = Settings(database_url=url, database_schema=schema)
        dsn = settings.url()
        if is_pooled:
            options.setdefault("statement_cache_size", 0)
        options.setdefault("connect", connector(dsn))
        options["init"] = reading_any_time(options.get("init"))
        pool = await asyncpg.create_pool(
            dsn,
            min_size=settings.pool_min_size if min_size is None else min_size,
            max_size=settings.pool_max_size if max_size is None else max_size,
            # Claims keep their scan floors in session settings, which the usual reset would clear.
            reset=_keep_session,
            **options,
        )
        listen_dsn = Settings(database_url=listen_url).url() if listen_url else dsn
        listen_connect = connector(listen_dsn) if listen_url else options["connect"]
        can_listen = listen_url is not None or not is_pooled
        driver = cls(
            pool,
            schema=settings.database_schema,
            is_pooled=is_pooled,
            listener=Listener(
                lambda: listen_connect(listen_dsn, **_of_a_connection(options, listen_url)),
                settings.database_schema,
            )
            if can_listen
            else None,
        )
        driver._reopen = lambda: cls.connect(
            dsn, schema=driver.schema, min_size=0, max_size=1, is_pooled=is_pooled, **options
        )
        return driver

    async def twin(self, home: asyncio.AbstractEventLoop) -> Driver:
        """Another driver for the same database, with one connection."""
        if self._reopen is None:
            raise InvalidArgument("Only a queue opened by its URL can be opened again")
        return await self._reopen()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """A connection with an open transaction, for work that must commit together with a verb."""
        if self._transactions is None:
            # A few connections stay free: whoever holds a transaction may wait for another verb.
            self._transactions = asyncio.Semaphore(max(1, self.pool.get_max_size() - 3))
        async with self._transactions, self._lending.lent() as connection:
            try:
                async with connection.transaction():
                    yield connection
            except Exception as error:
                if not is_usable(connection):
                    mark_outage(error)
                raise

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        return await self._repeated(verb, arguments, None)

    async def call_in_rooms(self, rooms: Sequence[str], verb: str, /, **arguments: Any) -> Sequence[Row]:
        """One verb on behalf of a member of these rooms, who is shown and changes nothing of the others."""
        return await self._repeated(verb, arguments, rooms)

    async def _repeated(
        self, verb: str, arguments: dict[str, Any], rooms: Sequence[str] | None
    ) -> Sequence[Row]:
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return await self._call(verb, arguments, rooms)
            except asyncpg.TransactionRollbackError:
                # A verb is a whole transaction here, and nothing of it is left. Those it met should be ahead.
                await asyncio.sleep(random.uniform(0.5, 1) * PAUSE_SECONDS * attempt)  # noqa: S311
        return await self._call(verb, arguments, rooms)

    async def _call(self, verb: str, arguments: dict[str, Any], rooms: Sequence[str] | None) -> Sequence[Row]:
        if self._is_pooled:
            async with self._connection() as connection:
                return await call(connection, self.schema, verb, arguments, rooms=rooms)
        connection = await self._lending.take()
        try:
            rows = await call(connection, self.schema, verb, arguments, rooms=rooms)
        except BaseException as error:
            # After a cancellation the pool waits until the connection is usable again.
            await self._lending.give_back(connection, error)
            raise
        await self._lending.keep(connection)
        return rows

    @asynccontextmanager
    async def _connection(self) -> Any:
        async with self._lending.lent() as connection:
            if self._is_pooled:
                async with connection.transaction():
                    yield connection
            else:
                yield connection

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        if self._listener is None:
            return lambda: None
        return await self._listener.subscribe(channel, wake)

    @property
    def is_listening(self) -> bool:
        """Whether notifications come, unless nobody waits for any."""
        return self._listener is None or self._listener.is_alive

    async def forget_connections(self) -> None:
        """Connects anew for whatever is asked next: what answers at the address may have become another."""
        await self._lending.forget()
        await self.pool.expire_connections()

    async def migrate(self) -> None:
        settings = Settings(database_schema=self.schema)
        release = read_release(self.schema, settings.role_prefix, roles=settings.manage_roles)
        async with self._lending.lent() as connection:
            await migrate(connection, release)

    async def require_current(self) -> None:
        """Refuses to work with a database that was not migrated."""
        async with self._connection() as connection:
            await require_current(connection, read_release(self.schema))

    async def close(self) -> None:
        if self._listener is not None:
            await self._listener.close()
        await self._lending.close()
        await self.pool.close()


class BoundDriver(Driver):
    """Calls verbs on the caller's own connection, so in the caller's transaction."""

    def __init__(self, connection: Any, *, schema: str = "pgjobs") -> None:
        self.connection = connection
        self.schema = schema
        self._decodes_itself: bool | None = None

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        if self._decodes_itself is None:
            # The caller may have set a codec for jsonb; a JSON string tells.
            self._decodes_itself = await self.connection.fetchval("select '\"\"'::jsonb") == ""
        return await call(self.connection, self.schema, verb, arguments, decodes_itself=self._decodes_itself)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        raise InvalidArgument(
            "A queue bound to a connection cannot listen", hint="Wait on the unbound queue."
        )

    async def migrate(self) -> None:
        await migrate(self.connection, read_release(self.schema))


async def call(
    connection: Any,
    schema: str,
    verb: str,
    arguments: dict[str, Any],
    *,
    decodes_itself: bool = False,
    rooms: Sequence[str] | None = None,
) -> Sequence[Row]:
    """One verb on one connection; with `rooms`, for a member of these."""
    sent = given(verb, arguments)
    values = list(sent.values())
    if rooms is None:
        text = call_text(schema, verb, tuple(sent), _numbered)
    else:
        text = call_text_in_rooms(schema, verb, tuple(sent))
        values.insert(0, rooms)
    try:
        rows = await connection.fetch(text, *values)
    except asyncpg.InvalidCachedStatementError as error:
        # A verb answers with other columns than before. Outside of transactions asyncpg asks again by itself.
        raise SchemaChanged("The schema was upgraded during the transaction", hint="Run it again.") from error
    except asyncpg.PostgresError as error:
        refusal = Refusal(error.sqlstate, str(error.args[0]), error.detail, error.hint, error.context)
        translated = problem_of(refusal, Call(verb, arguments))
        if translated is None:
            raise
        raise translated from error
    decoders = signature_of(verb).decoders
    if not rows or not decoders or decodes_itself:
        return cast("Sequence[Row]", rows)
    names = tuple(rows[0].keys())
    # Another release may answer with other columns.
    columns = [(name, decoders[name]) for name in decoders if name in names]
    return [_decoded(row, names, columns) for row in rows]


def _decoded(row: Any, names: tuple[str, ...], columns: list[tuple[str, Convert]]) -> Row:
    # Half the time of dict(row), which looks every name up.
    plain = dict(zip(names, row, strict=False))
    for name, decode in columns:
        if plain[name] is not None:
            plain[name] = decode(plain[name])
    return plain


def _numbered(place: int) -> str:
    return f"${place}"


_OF_A_POOL = frozenset(inspect.signature(asyncpg.create_pool).parameters)
_OF_THE_ADDRESS = frozenset({"host", "port"})


def _of_a_connection(options: dict[str, Any], listen_url: str | None) -> dict[str, Any]:
    """What a connection beside the pool needs to be like those in it: encryption, passwords, settings."""
    left_out = _OF_A_POOL | (_OF_THE_ADDRESS if listen_url else frozenset())
    return {"timeout": 10, **{name: value for name, value in options.items() if name not in left_out}}


async def _keep_session(_connection: Any) -> None:
    """Verbs leave nothing behind that a reset would have to clear."""
