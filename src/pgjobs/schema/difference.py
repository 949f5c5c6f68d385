"""Installs code by difference: what has not changed is not touched, and what has is replaced in its place.

Functions are replaced without a lock that anybody would notice. Views and triggers need one, so
they come last, and together: between the first lock and the commit is a moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import asyncpg

from pgjobs.errors import MigrationFailed
from pgjobs.schema.objects import Key, Object
from pgjobs.schema.release import Release
from pgjobs.schema.runner import Connection, failures_named_after, runner

_CATALOGS = {"function": "pg_proc", "view": "pg_class", "trigger": "pg_trigger"}
_LOCKS = {
    "view": "locks the view for a moment",
    "trigger": "stops writes to its table for a moment",
    "script": "stops writes to the tables it names for a moment",
}
_LOCKS_OF_DROPS = {"view": "locks the view for a moment", "trigger": "locks its table for a moment"}
_NOT_YET = (asyncpg.UndefinedFunctionError, asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError)
"""What a later object will bring."""
_MUST_BE_MADE_ANEW = (asyncpg.InvalidFunctionDefinitionError, asyncpg.InvalidTableDefinitionError)


@dataclass(frozen=True)
class Change:
    """One object that an upgrade creates, replaces or drops, and whom that stops."""

    action: str
    title: str
    lock: str | None = None

    def __str__(self) -> str:
        return f"{self.action} {self.title}" + (f" ({self.lock})" if self.lock else "")


async def changes(connection: Connection, release: Release) -> tuple[Change, ...]:
    """What installing the code would do now. Reads only."""
    recorded, present = await _recorded(connection, release), await _present(connection, release)
    wanted = [
        Change(
            *(
                ("replace", item.title, _LOCKS.get(item.kind) if item.takes_locks else None)
                if item.key in present
                else ("create", item.title)
            )
        )
        for item in _changed(release, recorded, present)
    ]
    removed = [
        Change("drop", f"{kind} {name}", _LOCKS_OF_DROPS.get(kind))
        for kind, name in _removed(release, recorded, present)
    ]
    return (*wanted, *removed)


async def may_compare(connection: Connection, release: Release) -> bool:
    """Whether this login may read what was installed, object by object."""
    table = f"{release.schema}.installed_objects"
    return bool(await connection.fetchval("select has_table_privilege(to_regclass($1), 'select')", table))


class Installer:
    """Brings the code to a release, inside of the caller's transaction."""

    def __init__(self, connection: Connection, release: Release) -> None:
        self._connection = connection
        self._release = release
        self._present: dict[Key, int] = {}
        self._left: list[Object] = []
        self._removed: list[Key] = []
        self._made: set[str] = set()
        self.is_remade = False
        """Whether objects came into being that had no grants, or lost theirs, while others waited."""

    async def without_locks(self) -> None:
        """Makes what can be made while everybody works."""
        recorded = await _recorded(self._connection, self._release)
        await self._look()
        self._removed = _removed(self._release, recorded, self._present)
        for item in _changed(self._release, recorded, self._present):
            is_new = item.key not in self._present
            can_wait_for_nobody = item.kind == "function" or (item.kind == "view" and is_new)
            if not (can_wait_for_nobody and await self._is_made(item, is_new=is_new)):
                self._left.append(item)
        await self._make_anew_what_only_functions_use()
        missing = await self._make_new()
        self.is_remade = bool(missing)
        if not any(item.kind == "function" for item in self._left):
            scripts = [item for item in self._left if item.kind == "script"]
            scripts += [item for item in self._release.objects if item.mentions(self._made)]
            await self._run_scripts(item for item in dict.fromkeys(scripts) if not item.takes_locks)
            self._left = [item for item in self._left if item.takes_locks]

    async def with_locks(self) -> None:
        """Makes the rest: at once if that will do, else one by one."""
        await self._look()
        await self._take_locks()
        if not await self._is_done_at_once(
            "".join(item.replacing if item.key in self._present else item.making for item in self._left)
        ):
            self.is_remade = True
            for item in self._left:
                await self._make(item)
        if not await self._is_done_at_once(
            "".join(f"{_dropping(self._release, key)};" for key in self._removed)
        ):
            self.is_remade = True
            for key in self._removed:
                await self._drop(key)
        if self.is_remade:
            await self._make_missing()
            # What was dropped with something below it has lost what scripts said of it.
            await self._run_scripts(item for item in self._release.objects if item.mentions(self._made))

    async def _is_done_at_once(self, sql: str) -> bool:
        try:
            async with self._connection.transaction():
                await self._connection.execute(sql or "select")
                await self._refuse_overloads()
        except (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError):
            raise
        except asyncpg.PostgresError:
            return False
        return True

    async def _take_locks(self) -> None:
        """All of them first, so that a try which gets less than all ends before it has done anything."""
        wanted: list[tuple[str, str]] = []
        for item in self._left:
            if item.kind == "script":
                wanted += [(word, "share row exclusive") for word in sorted(item.words)]
            else:
                wanted.append((_relation(item.name), "share row exclusive"))
        wanted += [
            (_relation(name), "access exclusive") for kind, name in self._removed if kind != "function"
        ]
        names = ",".join(name for name, _ in dict.fromkeys(wanted))
        modes = ",".join(f'"{mode}"' for _, mode in dict.fromkeys(wanted))
        sql = runner("take_locks", self._release.schema).sql
        await self._connection.execute(
            sql.replace(":names", f"{{{names}}}").replace(":modes", f"{{{modes}}}")
        )

    async def _make_anew_what_only_functions_use(self) -> None:
        """Drops functions whose arguments have changed, but for those that views or triggers are built on."""
        for item in self._left:
            if (
                item.kind == "function"
                and item.key in self._present
                and await self._is_for_functions(item.key)
            ):
                await self._drop(item.key)

    async def _is_for_functions(self, key: Key) -> bool:
        for found in await self._dependents(key):
            if found["kind"] in ("view", "trigger"):
                return False
            if found["kind"] and not await self._is_for_functions((found["kind"], found["name"])):
                return False
        return True

    async def _make_new(self) -> list[Object]:
        """Makes what is not there and needs nothing that is; says what needs more."""
        while True:
            missing = [item for item in await self._missing() if item.kind in ("function", "view")]
            made = {item.key for item in missing if await self._is_made(item, is_new=True)}
            self._left = [item for item in self._left if item.key not in made]
            self._made.update(name for _, name in made)
            if not made:
                return missing

    async def _run_scripts(self, items: Iterable[Object]) -> None:
        for item in items:
            await self._execute(item, item.making)

    async def _look(self) -> None:
        self._present = await _present(self._connection, self._release)

    async def _is_made(self, item: Object, *, is_new: bool) -> bool:
        try:
            async with self._connection.transaction():
                await self._execute(item, item.making if is_new else item.replacing)
                await self._refuse_overloads(item.name)
        except (*_NOT_YET, *_MUST_BE_MADE_ANEW):
            return False
        return True

    async def _make(self, item: Object) -> None:
        """Replaces an object in its place, or drops it and what is built on it first."""
        if item.kind == "script":
            await self._execute(item, item.making)
        elif item.key in self._present and not await self._is_made(item, is_new=False):
            await self._drop(item.key)
            # If it needs what is yet to come, it is made with what is missing at the end.
            await self._is_made(item, is_new=True)

    async def _make_missing(self) -> None:
        """Makes what was dropped because something below it was, until nothing is missing."""
        problem: tuple[Object, Exception] | None = None
        left = -1
        while missing := await self._missing():
            if problem is not None and len(missing) == left:
                item, error = problem
                with failures_named_after(item.script):
                    raise error
            left = len(missing)
            for item in missing:
                try:
                    async with self._connection.transaction():
                        await self._execute(item, item.making)
                        self._made.add(item.name)
                except _NOT_YET as error:
                    problem = item, error

    async def _missing(self) -> list[Object]:
        await self._look()
        return [
            item for item in self._release.objects if item.kind != "script" and item.key not in self._present
        ]

    async def _drop(self, key: Key) -> None:
        """Drops an object after those of ours that are built on it; what is somebody else's stops the run."""
        if key not in self._present:
            return
        for found in await self._dependents(key):
            if found["kind"] is None:
                raise _refusal(self._release, key, found["description"])
            await self._drop((found["kind"], found["name"]))
        await self._connection.execute(_dropping(self._release, key))
        del self._present[key]

    async def _dependents(self, key: Key) -> list[Any]:
        """What is built on an object directly; a kind of none is somebody else's."""
        sql = runner("dependents", self._release.schema).sql
        return list(await self._connection.fetch(sql, _CATALOGS[key[0]], self._present[key]))

    async def _refuse_overloads(self, name: str | None = None) -> None:
        """A function with other arguments is another one to Postgres: the old one must go first."""
        if await self._connection.fetchval(
            "select exists (select from pg_proc where pronamespace = to_regnamespace($1)"
            " and proname = coalesce($2, proname) group by proname having count(*) > 1)",
            self._release.schema,
            name,
        ):
            raise asyncpg.InvalidFunctionDefinitionError("other arguments")

    async def _execute(self, item: Object, sql: str) -> None:
        try:
            await self._connection.execute(sql)
        except (*_NOT_YET, *_MUST_BE_MADE_ANEW, asyncpg.LockNotAvailableError):
            raise
        except asyncpg.AmbiguousFunctionError as error:
            raise asyncpg.InvalidFunctionDefinitionError("other arguments") from error
        except asyncpg.PostgresError:
            with failures_named_after(replace(item.script, sql=sql)):
                raise


def _changed(release: Release, recorded: Mapping[Key, str], present: Iterable[Key]) -> list[Object]:
    there = set(present)
    return [
        item
        for item in release.objects
        if recorded.get(item.key) != item.checksum or (item.kind != "script" and item.key not in there)
    ]


def _removed(release: Release, recorded: Mapping[Key, str], present: Iterable[Key]) -> list[Key]:
    """Last made, first dropped."""
    gone = recorded.keys() - {item.key for item in release.objects}
    return [key for key in reversed(list(present)) if key in gone]


def _relation(name: str) -> str:
    """Of a trigger its table; of a view itself."""
    return name.rpartition(" on ")[2]


def _refusal(release: Release, key: Key, description: str) -> MigrationFailed:
    return MigrationFailed(
        f"{key[0]} {release.schema}.{key[1]} changes its arguments or columns,"
        f" and {description} depends on it",
        detail="Nothing was changed",
        hint=f"Drop {description}, run pgjobs migrate, then create it again",
    )


def _dropping(release: Release, key: Key) -> str:
    kind, name = key
    if kind == "trigger":
        name, table = name.split(" on ")
        return f'drop trigger "{name}" on {release.schema}."{table}"'
    return f'drop {kind} {release.schema}."{name}"'


async def _recorded(connection: Connection, release: Release) -> dict[Key, str]:
    if await connection.fetchval("select to_regclass($1)", f"{release.schema}.installed_objects") is None:
        return {}
    rows = await connection.fetch(f"select kind, name, checksum from {release.schema}.installed_objects")  # noqa: S608
    return {(row["kind"], row["name"]): row["checksum"] for row in rows}


async def _present(connection: Connection, release: Release) -> dict[Key, int]:
    rows: list[Any] = await connection.fetch(runner("objects_now", release.schema).sql + " order by oid")
    return {(row["kind"], row["name"]): row["oid"] for row in rows}
