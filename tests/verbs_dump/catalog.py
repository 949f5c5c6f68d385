"""What `pg_proc` of a fresh install knows about each verb."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from pgjobs.schema.binaries import wheel_binaries
from pgjobs.schema.migrate import migrate, read_release
from pgjobs.schema.release import sql_directory
from tests.server import start_server, stop_server

_QUERY = Path(__file__).with_name("catalog.sql")


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str
    is_required: bool


@dataclass(frozen=True)
class Column:
    name: str
    kind: str


@dataclass(frozen=True)
class Verb:
    name: str
    noun: str
    arguments: tuple[Argument, ...]
    columns: tuple[Column, ...]
    relation: str | None
    comment: str

    @property
    def words(self) -> str:
        """What it does, without the example."""
        return self.comment.partition(" Example:")[0].strip()

    @property
    def is_about_leases(self) -> bool:
        """Whether it takes pairs of a task and the token of its lease."""
        return [argument.name for argument in self.arguments[:2]] == ["task_ids", "tokens"]


def read_verbs() -> tuple[Verb, ...]:
    """Every verb of a database that was just installed."""
    (binaries,) = wheel_binaries()
    server = start_server(binaries)
    try:
        return verbs_of(asyncio.run(_rows(server.url)))
    finally:
        stop_server(server)


async def _rows(url: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        await migrate(connection, read_release())
        return await rows_of(connection)
    finally:
        await connection.close()


async def rows_of(connection: Any) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(_QUERY.read_text(encoding="utf-8"))
    return rows


def verbs_of(rows: Iterable[Any]) -> tuple[Verb, ...]:
    nouns = {path.stem: path.parent.name for path in (sql_directory("postgres") / "verbs").rglob("*.sql")}
    return tuple(_verb(row, nouns[row["name"]]) for row in rows if row["name"] in nouns)


def _verb(row: Any, noun: str) -> Verb:
    required = row["arguments"] - row["defaults"]
    named = list(zip(row["names"] or (), (_short(kind) for kind in row["kinds"]), strict=False))
    arguments = (Argument(*each, place < required) for place, each in enumerate(named[: row["arguments"]]))
    columns = row["columns"] or _declared(row, named)
    return Verb(
        row["name"],
        noun,
        tuple(arguments),
        tuple(Column(name, _short(kind)) for name, kind in columns),
        row["relation"],
        row["comment"] or "",
    )


def _declared(row: Any, named: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The columns of `returns table (…)`."""
    return [each for each, mode in zip(named, row["modes"] or (), strict=False) if mode == "t"]


def _short(kind: str) -> str:
    return kind.replace("timestamp with time zone", "timestamptz").replace("double precision", "float8")
