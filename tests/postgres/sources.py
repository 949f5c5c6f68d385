"""A small set of SQL files that tests can edit, and a database to install them in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from pgjobs.schema.release import Release, read_release

TABLES = """
create table pgjobs.notes (id integer primary key, text text not null);
insert into pgjobs.notes values (1, 'first');
"""
LENGTH = """
create function pgjobs.length_of(note text) returns integer
language sql immutable set search_path = pg_catalog, pgjobs, pg_temp
return length(length_of.note);
"""
VIEWS = """
create view pgjobs.note as
select n.id, n.text, pgjobs.length_of(n.text) as length from pgjobs.notes as n;
"""
WIDER_VIEWS = VIEWS.replace("as length", "as length, 1 as one")
NOTES = """
create function pgjobs.list_notes() returns setof pgjobs.note
language sql stable return null::pgjobs.note;
"""
TRIGGERS = """
create trigger notes_are_kept before delete on pgjobs.notes
for each statement execute function pgjobs.refuse_deletes();
"""
REFUSE = """
create function pgjobs.refuse_deletes() returns trigger language plpgsql
as $$ begin raise exception 'Notes are kept'; end $$;
"""
INSTALLED = """
create view pgjobs.installed as
select m.number, m.name, m.checksum, c.checksum as code_checksum, c.grants_checksum, c.version
from pgjobs.migrations as m
left join pgjobs.installed_code as c on c.is_only;
"""
WAITS = "select exists (select from pg_locks where not granted and pid = $1)"
GRANTS = """
do $$ begin
  if to_regrole('pgjobs_worker') is null then
    create role pgjobs_worker nologin;
  end if;
end $$;
grant usage on schema pgjobs to pgjobs_worker;
grant execute on all functions in schema pgjobs to pgjobs_worker;
"""


class Source:
    """A directory of SQL files that tests can edit."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, path: str, sql: str) -> None:
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sql)

    def release(self, schema: str = "pgjobs", *, roles: bool = False) -> Release:
        return read_release(schema, f"{schema}_of_tests", roles=roles, directory=self.directory)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    source = Source(tmp_path)
    source.write("migrations/0001_tables.sql", TABLES)
    source.write("helpers/length_of.sql", LENGTH)
    source.write("views/tasks.sql", VIEWS)
    source.write("verbs/list_notes.sql", NOTES)
    source.write("verbs/refuse_deletes.sql", REFUSE)
    source.write("triggers.sql", TRIGGERS)
    source.write("grants.sql", GRANTS)
    return source


@pytest.fixture
async def connection(empty_database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(empty_database_url)
    yield connection
    await connection.close()
