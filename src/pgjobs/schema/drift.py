"""Whether the schema still is what its migrations made it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg

from pgjobs.schema.migrate import migrate
from pgjobs.schema.release import read_plain, read_release, render, sql_directory
from pgjobs.schema.runner import Connection, runner

Inventory = Mapping[tuple[str, str], Any]


@dataclass(frozen=True)
class Difference:
    """Something that is missing, changed, or not ours, and the SQL that fixes it."""

    kind: str
    name: str
    change: str
    repair: str

    @property
    def is_foreign(self) -> bool:
        return self.change == "foreign"


@dataclass(frozen=True)
class Loss:
    """What a role was allowed when the schema was last installed, and is no more."""

    role: str
    count: int
    example: str
    repair: str

    @property
    def message(self) -> str:
        others = f" and {self.count - 1} more" if self.count > 1 else ""
        return f"It may no longer use {self.example}{others}, which it could when pgjobs migrate last ran"


async def lost_grants(connection: Connection, schema: str) -> list[Loss]:
    """Roles that can no longer do what they could; nobody, for a login that may not look."""
    table = f"{schema}.installed_grants"
    if not await connection.fetchval("select has_table_privilege($1::regclass, 'select')", table):
        return []
    rows = await connection.fetch(runner("lost_grants", schema).sql)
    return [
        Loss(row["grantee"] or "public", row["lost"], f"{schema}.{row['example']}", row["repair"])
        for row in rows
    ]


async def may_compare(connection: Connection) -> bool:
    """Whether this login may make a schema to compare with."""
    return bool(await connection.fetchval("select has_database_privilege(current_database(), 'create')"))


async def differences(connection: Connection, schema: str) -> list[Difference]:
    """Compares the schema with a fresh one, which is made beside it in a transaction that is rolled back."""
    fresh_schema = f"pgjobs_doctor_{secrets.token_hex(4)}"
    transaction = connection.transaction(isolation="read_committed")
    await transaction.start()
    try:
        await migrate(connection, read_release(fresh_schema, roles=False))
        found = await _inventory(connection, schema, schema)
        fresh = await _inventory(connection, fresh_schema, schema)
    finally:
        await transaction.rollback()
    return [*_missing(fresh, found, schema), *_foreign(fresh, found)]


async def _inventory(connection: Connection, schema: str, called: str) -> Inventory:
    """What a schema holds, as if it had another name."""
    query = render(read_plain(sql_directory("postgres") / "runner" / "inventory.sql").sql, schema, schema)
    rows: list[asyncpg.Record] = await connection.fetch(query)
    renamed = ({name: value and value.replace(schema, called) for name, value in row.items()} for row in rows)
    return {(row["kind"], row["name"]): row for row in renamed}


def _missing(fresh: Inventory, found: Inventory, schema: str) -> Iterator[Difference]:
    for (kind, name), wanted in fresh.items():
        there = found.get((kind, name))
        if there is None:
            yield Difference(kind, name, "missing", wanted["making"] or "-- run: pgjobs migrate")
        elif _compared(kind, there["definition"]) != _compared(kind, wanted["definition"]):
            again = f"{_forgetting(kind, name, schema)}; -- then run: pgjobs migrate"
            mending = f"{there['removing']}; {wanted['making']}" if wanted["making"] else again
            yield Difference(kind, name, "changed", mending)


def _forgetting(kind: str, name: str, schema: str) -> str:
    """Makes the next run replace an object."""
    known = name.partition("(")[0].replace(f"{schema}.", "")
    where = f"kind = '{kind}' and name = '{known}'"
    return f"update {schema}.installed_objects set checksum = 'changed by hand' where {where}"  # noqa: S608


def _compared(kind: str, definition: str) -> str:
    # Expressions that went through a dump have other parentheses: (a and b) and c is read as a and b and c.
    return definition if kind == "function" else re.sub(r"[()\s]", "", definition)


def _foreign(fresh: Inventory, found: Inventory) -> Iterator[Difference]:
    tables = {name for kind, name in found.keys() - fresh.keys() if kind == "table"}
    for kind, name in found.keys() - fresh.keys():
        is_part_of_one = any(
            name.endswith(f" on {table}") or name.startswith(f"{table}.") for table in tables
        )
        if not is_part_of_one:
            removing = found[kind, name]["removing"]
            yield Difference(kind, name, "foreign", removing or f"drop {kind} {name}")
