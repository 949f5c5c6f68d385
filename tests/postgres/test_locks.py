"""What `pgjobs migrate --dry-run` says of locks is what Postgres takes."""

from __future__ import annotations

import re
from dataclasses import replace

import asyncpg
import pytest

from pgjobs.schema.locks import lock_of
from pgjobs.schema.migrate import migrate, plan
from pgjobs.schema.release import read_release
from pgjobs.schema.script import IN_TRANSACTION, Script

RELEASE = read_release(roles=False)
TABLES = "select array_agg(oid) from pg_class where relnamespace = 'pgjobs'::regnamespace and relkind in ('r', 'p')"
TAKEN = """
select distinct c.relname::text
from pg_locks as l
join pg_class as c on c.oid = l.relation
where l.pid = pg_backend_pid() and l.mode = any ($1) and c.oid = any ($2) and not c.relispartition
"""
STOPS_ALL = ["AccessExclusiveLock", "ExclusiveLock"]
STOPS_WRITES = ["ShareRowExclusiveLock", "ShareLock"]


def named(text: str | None, does: str) -> set[str]:
    found = re.search(rf"{does} ([\w, ]+?) for a moment", text or "")
    return set(found[1].split(", ")) if found else set()


async def test_every_migration_locks_what_the_plan_says_and_nothing_else(empty_database_url: str):
    connection = await asyncpg.connect(empty_database_url)
    await migrate(connection, replace(RELEASE, migrations=RELEASE.migrations[:1], code=()))
    seen = 0
    for place, script in enumerate(RELEASE.migrations[1:], 2):
        if script.runs == IN_TRANSACTION:
            async with connection.transaction():
                tables = await connection.fetchval(TABLES)
                await connection.execute(script.sql)
                everything = {row[0] for row in await connection.fetch(TAKEN, STOPS_ALL, tables)}
                writes = {row[0] for row in await connection.fetch(TAKEN, STOPS_WRITES, tables)} - everything
            assert named(lock_of(script), "locks") == everything, script.name
            assert named(lock_of(script), "stops writes to") == writes, script.name
            await connection.execute(
                "insert into pgjobs.migrations (number, name, checksum) values ($1, $2, $3)",
                script.number, script.name, script.checksum,
            )  # fmt: skip
            seen += len(everything)
        else:
            await migrate(connection, replace(RELEASE, migrations=RELEASE.migrations[:place], code=()))
    assert seen > 5
    await connection.close()


@pytest.mark.parametrize(
    ("sql", "lock"),
    [
        ("alter table pgjobs.tasks add column note text;", "locks tasks for a moment"),
        ("alter table if exists only pgjobs.tasks add column note text;", "locks tasks for a moment"),
        ("drop table pgjobs.notes;", "locks notes for a moment"),
        ("create table pgjobs.notes (id bigint); alter table pgjobs.notes add column note text;", None),
        ("create table pgjobs.notes (job_id integer references pgjobs.jobs);", "stops writes to jobs for a moment"),
        ("create table pgjobs.notes (id bigint); create index of_notes on pgjobs.notes (id);", None),
        ("alter table pgjobs.jobs validate constraint jobs_are_named;", None),
        ("comment on table pgjobs.jobs is 'Jobs; alter table pgjobs.tasks is not meant.';", None),
        ("-- runs: in batches\ndelete from pgjobs.notes limit 5;", "in batches, which lock only their rows"),
        (
            "-- runs: outside a transaction\ncreate index concurrently if not exists a on pgjobs.tasks (id);",
            "while everybody works",
        ),
        ("drop index pgjobs.of_notes;", "locks the table of index of_notes for a moment"),
    ],
)  # fmt: skip
def test_a_migration_says_in_a_few_words_whom_it_stops(sql: str, lock: str | None):
    assert lock_of(Script("0002_more.sql", sql, "")) == lock


async def test_a_plan_lists_the_locks_of_an_upgrade_and_none_of_a_fresh_schema(empty_database_url: str):
    connection = await asyncpg.connect(empty_database_url)
    assert not any("(" in step for step in (await plan(connection, RELEASE)).steps)
    await migrate(connection, replace(RELEASE, migrations=RELEASE.migrations[:1], code=()))
    steps = (await plan(connection, RELEASE)).steps
    assert "migrations/0005_sharing.sql (locks jobs, tasks, ready, scheduled, leases for a moment)" in steps
    assert "migrations/0006_indexes_for_sharing.sql (while everybody works)" in steps
    await connection.close()
