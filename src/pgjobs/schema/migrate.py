"""Installs and upgrades the Postgres schema.

Data moves forward by numbered migrations, each applied once and committed by itself, so that no lock
is held for longer than it takes. Code (functions, views, triggers, grants) follows in one transaction,
by difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from pgjobs.errors import MigrationFailed, SchemaAhead, SchemaBehind
from pgjobs.schema.difference import Change, Installer, changes, may_compare
from pgjobs.schema.locks import lock_of
from pgjobs.schema.release import Release, ahead, pending_scripts, read_release, render, sql_directory
from pgjobs.schema.runner import (
    LOCK_TIMEOUT,
    Connection,
    execute,
    patiently,
    runner,
    session_turn,
    set_lock_timeout,
    turn,
)
from pgjobs.schema.script import IN_BATCHES, OUTSIDE_TRANSACTION, WITH_CODE, Script
from pgjobs.schema.statements import split

_RECREATING = ("bookkeeping", "keep_grants", "lock_tables", "drop_code")
_CONCURRENT_INDEX = re.compile(
    r"create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?P<name>\w+)", re.IGNORECASE
)

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


@dataclass(frozen=True)
class Plan:
    """What a run has to do, or did."""

    migrations: tuple[Script, ...] = ()
    code: tuple[Change, ...] = ()
    grants: tuple[Script, ...] = ()
    is_fresh: bool = False

    @property
    def steps(self) -> list[str]:
        return [
            *map(self._migration, self.migrations),
            *map(str, self.code),
            *(script.name for script in self.grants),
        ]

    def _migration(self, script: Script) -> str:
        lock = None if self.is_fresh else lock_of(script)
        return f"migrations/{script.name}" + (f" ({lock})" if lock else "")

    def __bool__(self) -> bool:
        return bool(self.migrations or self.code or self.grants)


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
    is_current = release.code_checksum == installed.code_checksum and release.version == installed.version
    code = (
        ()
        if is_current and not await may_compare(connection, release)
        else await changes(connection, release)
    )
    if not is_current and not code:
        code = (Change("record", f"version {release.version}"),)
    grants = release.grants if release.grants_checksum != installed.grants_checksum else ()
    return Plan(pending, code, grants, is_fresh=not installed.migrations)


async def migrate(
    connection: Connection,
    release: Release,
    *,
    lock_timeout: timedelta = LOCK_TIMEOUT,
    recreate: bool = False,
    watch: Callable[[int, int], None] = lambda _done, _total: None,
) -> Plan:
    """Brings the database to this release and says what was done; the next run takes up one that broke off.

    `recreate` drops and makes all code anew, which stops the queue for a moment, for a schema that was
    changed by hand. `watch` is told how many of how many steps are done.
    """
    run = _Run(connection, release, lock_timeout)
    first = await run.first(recreate)
    if first is not None:
        return first
    todo = await plan(connection, release)
    separate = [script for script in todo.migrations if script.runs != WITH_CODE]
    for done, script in enumerate(separate, 1):
        await run.migration(script)
        watch(done, len(separate) + 1)
    await run.code()
    watch(len(separate) + 1, len(separate) + 1)
    return todo


class _Run:
    """One run of `migrate`. Every transaction looks anew at what is there: others may be running too."""

    def __init__(self, connection: Connection, release: Release, lock_timeout: timedelta) -> None:
        self._connection = connection
        self._release = release
        self._patience = lock_timeout

    async def first(self, recreate: bool) -> Plan | None:
        """What is done in one transaction: nothing, or everything where there is nothing yet."""
        async with turn(self._connection, self._release.schema):
            todo = await plan(self._connection, self._release)
            if todo.is_fresh:
                for script in _fresh(self._release):
                    await execute(self._connection, script)
                return todo
            if recreate:
                await self._recreate(todo)
                return todo
            return None if todo else todo

    async def migration(self, script: Script) -> None:
        if script.runs == OUTSIDE_TRANSACTION:
            await self._outside(script)
        elif script.runs == IN_BATCHES:
            while await self._batch(script):
                pass
        else:
            async with turn(self._connection, self._release.schema):
                if await self._is_pending(script):
                    await patiently(
                        self._connection, partial(self._applied, script), self._patience, script.name
                    )

    async def code(self) -> None:
        release = self._release
        async with turn(self._connection, release.schema):
            todo = await plan(self._connection, release)
            if not todo:
                return
            await self._execute("bookkeeping")
            await self._execute("keep_grants")
            for script in todo.migrations:
                await patiently(self._connection, partial(self._applied, script), self._patience, script.name)
            installer = Installer(self._connection, release)
            await installer.without_locks()
            await self._execute("restore_grants")
            if not installer.is_remade:
                await self._grant(todo)
            await execute(self._connection, _record_of_code(release))
            # Nothing comes after this but the commit, unless something had to be dropped.
            await patiently(self._connection, installer.with_locks, self._patience, "code")
            if installer.is_remade:
                await self._execute("restore_grants")
                await self._grant(todo)

    async def _grant(self, todo: Plan) -> None:
        if self._release.grants and (todo.grants or any(change.action == "create" for change in todo.code)):
            if todo.grants:
                await self._execute("revoke_roles")
            for script in self._release.grants:
                await execute(self._connection, script)
        await self._execute("keep_grants")

    async def _recreate(self, todo: Plan) -> None:
        await set_lock_timeout(self._connection, self._patience)
        for name in _RECREATING:
            await self._execute(name)
        for script in (*_scripts_of_migrations(todo.migrations, self._release), *_all_code(self._release)):
            await execute(self._connection, script)

    async def _applied(self, script: Script) -> None:
        await execute(self._connection, script)
        await execute(self._connection, _record_of_migration(script, self._release.schema))

    async def _batch(self, script: Script) -> bool:
        async with turn(self._connection, self._release.schema):
            if not await self._is_pending(script):
                return False
            tag = ""

            async def once() -> None:
                nonlocal tag
                tag = await self._connection.execute(script.sql)

            await patiently(self._connection, once, self._patience, script.name)
            if int(tag.rpartition(" ")[2]) > 0:
                return True
            await execute(self._connection, _record_of_migration(script, self._release.schema))
            return False

    async def _outside(self, script: Script) -> None:
        """Statement by statement, under a lock of the session. What was interrupted is repeated, so each
        statement must be one that can be: `if not exists` and the like.
        """
        async with session_turn(self._connection, self._release.schema):
            if not await self._is_pending(script):
                return
            for line, statement in split(script.sql):
                await self._drop_half_built_index(statement)
                await execute(self._connection, replace(script, sql=statement, line=line))
            await execute(self._connection, _record_of_migration(script, self._release.schema))

    async def _drop_half_built_index(self, statement: str) -> None:
        built = _CONCURRENT_INDEX.match(statement)
        is_broken = built and await self._connection.fetchval(
            "select exists (select from pg_index where indexrelid = to_regclass($1) and not indisvalid)",
            f"{self._release.schema}.{built['name']}",
        )
        if built and is_broken:
            await self._connection.execute(f"drop index concurrently {self._release.schema}.{built['name']}")

    async def _is_pending(self, script: Script) -> bool:
        installed = await _installed(self._connection, self._release.schema)
        return script.number not in {number for number, _, _ in installed.migrations}

    async def _execute(self, name: str) -> None:
        await execute(self._connection, runner(name, self._release.schema))


async def require_current(connection: Connection, release: Release) -> None:
    """Refuses a database that was not migrated to this release; grants are not looked at.

    A newer one will do: its verbs take what older callers say, and those must serve until they are replaced.
    """
    try:
        todo = await _behind(connection, release)
    except SchemaAhead:
        return
    if todo:
        raise SchemaBehind(
            f"Schema {release.schema} is behind this version of pgjobs",
            detail=f"Not installed: {todo}",
            hint="Run: pgjobs migrate",
        )


async def _behind(connection: Connection, release: Release) -> str | None:
    """The first thing that is not installed, found without rights on more than one view."""
    installed = await _installed(connection, release.schema)
    pending = pending_scripts(release.migrations, installed.migrations)
    if release.is_older_than(installed.version):
        raise ahead(f"the code of {installed.version}")
    if pending:
        return f"migrations/{pending[0].name} and {len(pending) - 1} more"
    return None if release.code_checksum == installed.code_checksum else f"the code of {release.version}"


def dump(release: Release, *, after: int = 0) -> str:
    """The whole run as one script for other tools, leaving out migrations up to number `after`."""
    schema = release.schema
    pending = tuple(script for script in release.migrations if script.number > after)
    timeout = f"set local lock_timeout = '{LOCK_TIMEOUT // timedelta(milliseconds=1)}ms';\n"
    scripts = [
        Script("begin", "begin;\n", ""),
        runner("prepare", schema),
        runner("wait_for_turn", schema),
        Script("lock timeout", timeout, ""),
        *(runner(name, schema) for name in _RECREATING),
        *_scripts_of_migrations(pending, release),
        *_all_code(release),
        Script("commit", "commit;\n", ""),
    ]
    return "\n".join(f"-- {script.name}\n{script.sql}" for script in scripts)


async def install_test_clock(connection: Connection, release: Release) -> None:
    """Replaces the queue's clock by one that tests can move. Never for production."""
    path = sql_directory("postgres") / "testing" / "clock.sql"
    await connection.execute(render(path.read_text(encoding="utf-8"), release.schema, release.schema))


def _fresh(release: Release) -> Iterator[Script]:
    yield runner("bookkeeping", release.schema)
    yield from _scripts_of_migrations(release.migrations, release)
    yield from _all_code(release)


def _scripts_of_migrations(migrations: Iterable[Script], release: Release) -> Iterator[Script]:
    """Migrations within one transaction, where nobody is there to be waited for."""
    for script in migrations:
        is_outside = script.runs == OUTSIDE_TRANSACTION
        yield replace(script, sql=re.sub(r"\bconcurrently\b", "", script.sql)) if is_outside else script
        yield _record_of_migration(script, release.schema)


def _all_code(release: Release) -> Iterator[Script]:
    for item in release.objects:
        yield item.script
    yield runner("restore_grants", release.schema)
    yield from release.grants
    yield runner("keep_grants", release.schema)
    yield _record_of_code(release)


def _record_of_migration(script: Script, schema: str) -> Script:
    values = f"{script.number}, '{script.name}', '{script.checksum}'"
    sql = f"insert into {schema}.migrations (number, name, checksum) values ({values});\n"  # noqa: S608
    return Script(f"record of {script.name}", sql, "")


def _record_of_code(release: Release) -> Script:
    objects = [{"kind": o.kind, "name": o.name, "checksum": o.checksum} for o in release.objects]
    values = {
        "checksum": release.code_checksum,
        "grants": release.grants_checksum or "",
        "version": release.version,
        "objects": json.dumps(objects),
    }
    sql = runner("record_code", release.schema).sql
    return Script("record of code", re.sub(r"(?<='):(\w+)(?=')", lambda place: values[place[1]], sql), "")


async def _installed(connection: Connection, schema: str) -> _Installed:
    if await connection.fetchval("select to_regclass($1)", f"{schema}.migrations") is None:
        await _refuse_foreign_schema(connection, schema)
        return _Installed([])
    # A view, for those who may not read the tables; the tables, where it is not there (yet).
    source = (
        await connection.fetchval("select to_regclass($1)", f"{schema}.installed") and f"{schema}.installed"
    )
    rows = await connection.fetch(
        f"select * from {source}" if source else runner("installed", schema).sql  # noqa: S608
    )
    return _Installed(
        [(row["number"], row["name"], row["checksum"]) for row in rows],
        *((rows[0]["code_checksum"], rows[0]["grants_checksum"], rows[0]["version"]) if rows else ()),
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
            detail="pgjobs wants a schema of its own",
            hint="Choose another PGJOBS_SCHEMA",
        )
