"""The SQL that installs SQL: files of `sql/postgres/runner`, and how they are run."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TypeAlias

import asyncpg

from pgjobs.errors import MigrationFailed
from pgjobs.schema.release import read_plain, render, sql_directory
from pgjobs.schema.script import Script

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

LOCK_TIMEOUT = timedelta(seconds=30)
TURN_TIMEOUT = timedelta(minutes=5)
_TRIES = (
    (timedelta(0), timedelta(milliseconds=25)),
    (timedelta(seconds=5), timedelta(milliseconds=100)),
    (timedelta(seconds=15), timedelta(milliseconds=400)),
)
"""How long a try waits for its locks, by how long there have been tries. Whoever asks for a table while we
wait for it waits behind us, so never long; but where every call takes longer than a try, none would succeed.
"""

_INCLUDED = ("grants_now", "objects_now")


def runner(name: str, schema: str) -> Script:
    """One file of the runner; a `(file)` in it stands for another."""
    directory = sql_directory("postgres") / "runner"
    plain = read_plain(directory / f"{name}.sql")
    sql = plain.sql
    for included in _INCLUDED:
        if f"({included})" in sql:
            sql = sql.replace(f"({included})", f"({read_plain(directory / f'{included}.sql').sql})")
    return Script(f"runner/{name}.sql", render(sql, schema, schema), plain.checksum)


async def execute(connection: Connection, script: Script) -> None:
    with failures_named_after(script):
        await connection.execute(script.sql)


@asynccontextmanager
async def turn(connection: Connection, schema: str) -> AsyncIterator[None]:
    """A transaction in which no other run does anything to the schema."""
    async for _ in _tries(schema):
        # Read committed, so that a run which waited for its turn sees what the one before it did.
        transaction = connection.transaction(isolation="read_committed")
        await transaction.start()
        try:
            await execute(connection, runner("prepare", schema))
            if await connection.fetchval(runner("turn", schema).sql):
                yield
                await transaction.commit()
                return
        except BaseException:
            await transaction.rollback()
            raise
        await transaction.rollback()


@asynccontextmanager
async def session_turn(connection: Connection, schema: str) -> AsyncIterator[None]:
    """The same for what cannot run in a transaction."""
    key = f"{schema}.migrate"
    async for _ in _tries(schema):
        if await connection.fetchval("select pg_try_advisory_lock(hashtextextended($1, 0))", key):
            try:
                yield
            finally:
                await connection.execute("select pg_advisory_unlock(hashtextextended($1, 0))", key)
            return


async def _tries(schema: str) -> AsyncIterator[None]:
    until = time.monotonic() + TURN_TIMEOUT.total_seconds()
    while time.monotonic() < until:
        yield
        await asyncio.sleep(random.uniform(0.05, 0.2))  # noqa: S311
    raise MigrationFailed(
        f"Another run has been changing schema {schema} for {TURN_TIMEOUT}",
        hint="Find it in pg_stat_activity, then run it again",
    )


async def set_lock_timeout(connection: Connection, timeout: timedelta) -> None:
    """For the rest of the transaction."""
    milliseconds = f"{timeout // timedelta(milliseconds=1)}ms"
    await connection.execute("select set_config('lock_timeout', $1, true)", milliseconds)


async def patiently(
    connection: Connection, attempt: Callable[[], Awaitable[None]], patience: timedelta, name: str
) -> None:
    """Does something that needs locks, all of them or none: never waits for them longer than a moment,
    so that nobody waits long behind us, and tries again.
    """
    began = time.monotonic()
    until = began + patience.total_seconds()
    while True:
        tried = timedelta(seconds=time.monotonic() - began)
        one_try = min(max(wait for after, wait in _TRIES if after <= tried), patience)
        try:
            async with connection.transaction():
                await set_lock_timeout(connection, one_try)
                await attempt()
        except asyncpg.LockNotAvailableError as error:
            if time.monotonic() > until:
                raise MigrationFailed(
                    f"{name}: gave up waiting for a lock that another session holds",
                    hint="Find the holder in pg_stat_activity, then run it again",
                ) from error
        else:
            return
        await asyncio.sleep(random.uniform(0.05, 0.15))  # noqa: S311


@contextmanager
def failures_named_after(script: Script) -> Iterator[None]:
    try:
        yield
    except asyncpg.LockNotAvailableError:
        raise
    except asyncpg.PostgresError as error:
        line = script.sql.count("\n", 0, int(error.position)) + script.line if error.position else None
        place = f"{script.name}, line {line}" if line else script.name
        # Postgres would advise to drop with cascade, and so what is somebody else's.
        is_in_use = isinstance(error, asyncpg.DependentObjectsStillExistError)
        hint = "Drop what depends on it, run it again, then create that again" if is_in_use else error.hint
        raise MigrationFailed(f"{place}: {error.args[0]}", detail=error.detail, hint=hint) from error
