"""Installs and upgrades the SQLite tables; SQLite has no code to install."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pgjobs.errors import MigrationFailed
from pgjobs.schema.release import numbered_files, pending_scripts, read_plain, sql_directory
from pgjobs.schema.script import Script

_BOOKKEEPING = """
create table if not exists migrations (
  number integer primary key,
  name text not null,
  checksum text not null,
  applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ'))
) strict
"""


def migrate_sqlite(connection: sqlite3.Connection, directory: Path | None = None) -> list[str]:
    """Brings the file to this release in one transaction and returns the names of what was applied."""
    scripts = [read_plain(path) for path in numbered_files(directory or sql_directory("sqlite"))]
    try:
        # Immediate, so that a run which waited for its turn sees what the one before it did.
        connection.execute("begin immediate")
    except sqlite3.OperationalError as error:
        raise MigrationFailed(f"The database is in use: {error}") from error
    try:
        connection.execute(_BOOKKEEPING)
        applied = connection.execute("select number, name, checksum from migrations").fetchall()
        pending = pending_scripts(scripts, applied)
        for script in pending:
            _apply(connection, script)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
    return [script.name for script in pending]


def pending_sqlite(connection: sqlite3.Connection, directory: Path | None = None) -> list[str]:
    """The names of what `migrate_sqlite` would apply now. Reads only."""
    scripts = [read_plain(path) for path in numbered_files(directory or sql_directory("sqlite"))]
    try:
        applied = connection.execute("select number, name, checksum from migrations").fetchall()
    except sqlite3.OperationalError:
        applied = []
    return [script.name for script in pending_scripts(scripts, applied)]


def statements(sql: str) -> Iterator[str]:
    """Splits a script; `executescript` would commit the open transaction first."""
    statement = ""
    for piece in sql.split(";")[:-1]:
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""


def _apply(connection: sqlite3.Connection, script: Script) -> None:
    try:
        for statement in statements(script.sql):
            connection.execute(statement)
    except sqlite3.Error as error:
        raise MigrationFailed(f"{script.name}: {error}") from error
    connection.execute(
        "insert into migrations (number, name, checksum) values (?, ?, ?)",
        (script.number, script.name, script.checksum),
    )
