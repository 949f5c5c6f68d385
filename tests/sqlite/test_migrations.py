"""The SQLite runner keeps the same rules."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pgjobs.drivers.sqlite.migrations import migrate_sqlite, statements
from pgjobs.errors import MigrationFailed

TABLES = """
-- Notes; kept for ever.
create table notes (id integer primary key, text text not null default 'a;b');
create trigger notes_are_kept before delete on notes begin
  select raise(abort, 'Notes are kept');
  select 1;
end;
insert into notes (id) values (1);
-- the end
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations/0001_tables.sql").write_text(TABLES)
    return tmp_path


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "jobs.db", timeout=0)


def test_scripts_are_split_between_statements_only():
    assert [statement.split()[-1] for statement in statements(TABLES)] == ["'a;b');", "end;", "(1);"]


def test_each_migration_is_applied_once(connection, directory):
    assert migrate_sqlite(connection, directory) == ["0001_tables.sql"]
    assert migrate_sqlite(connection, directory) == []
    assert connection.execute("select text from notes").fetchall() == [("a;b",)]


def test_a_failing_run_leaves_nothing(connection, directory):
    (directory / "migrations/0002_wrong.sql").write_text("create table more (id integer); select oops;")
    with pytest.raises(MigrationFailed, match=r"0002_wrong\.sql: no such column: oops"):
        migrate_sqlite(connection, directory)
    assert connection.execute("select name from sqlite_master").fetchall() == []


def test_an_applied_migration_that_changed_is_refused(connection, directory):
    migrate_sqlite(connection, directory)
    (directory / "migrations/0001_tables.sql").write_text(TABLES + "-- more")
    with pytest.raises(MigrationFailed, match=r"0001_tables\.sql was changed"):
        migrate_sqlite(connection, directory)


def test_a_file_newer_than_the_program_is_refused(connection, directory):
    migrate_sqlite(connection, directory)
    (directory / "migrations/0001_tables.sql").unlink()
    with pytest.raises(MigrationFailed, match="newer"):
        migrate_sqlite(connection, directory)


def test_a_run_that_cannot_have_its_turn_says_so(connection, directory, tmp_path):
    holder = sqlite3.connect(tmp_path / "jobs.db")
    holder.execute("begin immediate")
    with pytest.raises(MigrationFailed, match="in use"):
        migrate_sqlite(connection, directory)
