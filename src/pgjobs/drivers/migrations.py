"""Installs and upgrades the Postgres schema.

Data moves forward by numbered migrations, each applied once. Code (functions, views,
triggers, grants) is dropped and re-created as a whole when any of it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

import asyncpg

from pgjobs.drivers.scripts import (
    Release,
    Script,
    ahead,
    pending_scripts,
    read_plain,
    read_release,
    render,
    sql_directory,
)
from pgjobs.errors import MigrationFailed, SchemaAhead, SchemaBehind

__all__ = [
    "Plan",
    "dump",
    "install_test_clock",
    "migrate",
    "plan",
    "read_release",
    "require_current",
    "sql_directory",
]

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

LOCK_TIMEOUT = timedelta(seconds=10)
TURN_TIMEOUT = timedelta(minutes=5)


@dataclass(frozen=True)
class Plan:
    """What a run still has to do; code is all of it or nothing."""

    migrations: tuple[Script, ...]
    code: tuple[Script, ...]

    @property
    def steps(self) -> list[str]:
        return [f"migrations/{script.name}" for script in self.migrations] + [s.name for s in self.code]

    def __bool__(self) -> bool:
        return bool(self.steps)


@dataclass(frozen=True)
class _Installed:
    migrations: Sequence[tuple[int, str, str]]
    code_checksum: str | None = None
    grants_checksum: str | None = None
    version: str | None = None


async def plan(connection: Connection, release: Release) -> Plan:
    """What `migrate` would do now. Reads only."""
    installed = await _installed(connection, release.schema)
    pending = pending_scripts(release.migrations, installed.migrations)
    if release.is_older_than(installed.version):
        raise ahead(f"the code of {installed.version}")
    is_current = release.code_checksum == installed.code_checksum and (
        not release.grants or release.grants_checksum == installed.grants_checksum
    )
    return Plan(pending, () if is_current and not pending else release.code + release.grants)


async def migrate(
    connection: Connection,
    release: Release,
    *,
    lock_timeout: timedelta = LOCK_TIMEOUT,
    watch: Callable[[int, int], None] = lambda _done, _total: None,
) -> Plan:
    """Brings the database to this release in one transaction and says what was done.

    `watch` is told how many of how many scripts have run.
    """
    # Read committed, so that a run which waited for its turn sees what the one before it did.
    async with connection.transaction(isolation="read_committed"):
        await _set_lock_timeout(connection, TURN_TIMEOUT)
        await _execute(connection, _runner("prepare.sql", release.schema))
        await _set_lock_timeout(connection, lock_timeout)
        todo = await plan(connection, release)
        scripts = list(_scripts_of(todo, release))
        for done, script in enumerate(scripts, 1):
            await _execute(connection, script)
            watch(done, len(scripts))
    return todo


async def require_current(connection: Connection, release: Release) -> None:
    """Refuses a database that was not migrated to this release; grants are not looked at.

    A newer one will do: its verbs take what older callers say, and those must serve until they are replaced.
    """
    try:
        todo = await plan(connection, replace(release, grants=()))
    except SchemaAhead:
        return
    if todo:
        raise SchemaBehind(
            f"Schema {release.schema} is behind this version of pgjobs",
            detail=f"Not installed: {todo.steps[0]} and {len(todo.steps) - 1} more",
            hint="Run: pgjobs migrate",
        )


def dump(release: Release, *, after: int = 0) -> str:
    """The whole run as one script for other tools, leaving out migrations up to number `after`."""
    todo = Plan(tuple(s for s in release.migrations if s.number > after), release.code + release.grants)
    timeout = f"set local lock_timeout = '{_milliseconds(LOCK_TIMEOUT)}';\n"
    scripts = [
        Script("begin", "begin;\n", ""),
        _runner("prepare.sql", release.schema),
        Script("lock timeout", timeout, ""),
        *_scripts_of(todo, release),
        Script("commit", "commit;\n", ""),
    ]
    return "\n".join(f"-- {script.name}\n{script.sql}" for script in scripts)


async def install_test_clock(connection: Connection, release: Release) -> None:
    """Replaces the queue's clock by one that tests can move. Never for production."""
    path = sql_directory("postgres") / "testing" / "clock.sql"
    await connection.execute(render(path.read_text(encoding="utf-8"), release.schema, release.schema))


def _scripts_of(todo: Plan, release: Release) -> Iterator[Script]:
    if not todo:
        return
    yield _runner("bookkeeping.sql", release.schema)
    yield _runner("lock_tables.sql", release.schema)
    # Before the migrations: a column that a view shows cannot be altered.
    yield _runner("drop_code.sql", release.schema)
    for script in todo.migrations:
        yield script
        yield _record_of_migration(script, release.schema)
    yield from todo.code
    yield _record_of_code(release)


def _runner(name: str, schema: str) -> Script:
    plain = read_plain(sql_directory("postgres") / "runner" / name)
    return Script(f"runner/{name}", render(plain.sql, schema, schema), plain.checksum)


def _record_of_migration(script: Script, schema: str) -> Script:
    values = f"{script.number}, '{script.name}', '{script.checksum}'"
    sql = f"insert into {schema}.migrations (number, name, checksum) values ({values});\n"  # noqa: S608
    return Script(f"record of {script.name}", sql, "")


def _record_of_code(release: Release) -> Script:
    grants = f"'{release.grants_checksum}'" if release.grants else "null"
    sql = (
        f"insert into {release.schema}.installed_code (checksum, grants_checksum, version)"  # noqa: S608
        f" values ('{release.code_checksum}', {grants}, '{release.version}')\n"
        "on conflict (is_only) do update set checksum = excluded.checksum,"
        " grants_checksum = excluded.grants_checksum, version = excluded.version,"
        " installed_at = excluded.installed_at;\n"
    )
    return Script("record of code", sql, "")


async def _installed(connection: Connection, schema: str) -> _Installed:
    if await connection.fetchval("select to_regclass($1)", f"{schema}.migrations") is None:
        await _refuse_foreign_schema(connection, schema)
        return _Installed([])
    if await connection.fetchval("select to_regclass($1)", f"{schema}.installed") is None:
        # Installed before there was such a view, which is for those who may not read the tables.
        rows = await connection.fetch(
            "select m.number, m.name, m.checksum, c.checksum as code_checksum, c.grants_checksum"  # noqa: S608
            f" from {schema}.migrations as m left join {schema}.installed_code as c on c.is_only"
        )
    else:
        rows = await connection.fetch(f"select * from {schema}.installed")  # noqa: S608
    return _Installed(
        [(row["number"], row["name"], row["checksum"]) for row in rows],
        rows[0]["code_checksum"] if rows else None,
        rows[0]["grants_checksum"] if rows else None,
        rows[0].get("version") if rows else None,
    )


async def _refuse_foreign_schema(connection: Connection, schema: str) -> None:
    if await connection.fetchval("select quote_ident($1) <> $1", schema):
        raise MigrationFailed(f"{schema} is a reserved word of Postgres", hint="Choose another PGJOBS_SCHEMA")
    is_used = await connection.fetchval(
        "select exists (select from pg_class where relnamespace = to_regnamespace($1))"
        " or exists (select from pg_proc where pronamespace = to_regnamespace($1))",
        schema,
    )
    if is_used:
        raise MigrationFailed(
            f"Schema {schema} already holds something else",
            detail="Upgrades drop and re-create every function and view of the schema",
            hint="Choose another PGJOBS_SCHEMA",
        )


async def _set_lock_timeout(connection: Connection, timeout: timedelta) -> None:
    await connection.execute("select set_config('lock_timeout', $1, true)", _milliseconds(timeout))


async def _execute(connection: Connection, script: Script) -> None:
    with _failures_named_after(script):
        await connection.execute(script.sql)


@contextmanager
def _failures_named_after(script: Script) -> Iterator[None]:
    try:
        yield
    except asyncpg.LockNotAvailableError as error:
        raise MigrationFailed(
            f"{script.name}: gave up waiting for a lock that somebody else holds",
            hint="Find the holder in pg_stat_activity, then run it again",
        ) from error
    except asyncpg.PostgresError as error:
        line = script.sql.count("\n", 0, int(error.position)) + 1 if error.position else None
        place = f"{script.name}, line {line}" if line else script.name
        raise MigrationFailed(f"{place}: {error}", detail=error.detail, hint=error.hint) from error


def _milliseconds(duration: timedelta) -> str:
    return f"{duration // timedelta(milliseconds=1)}ms"
