"""The runner, on a small set of files of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from pgjobs import __version__
from pgjobs.errors import MigrationFailed, SchemaAhead, SchemaBehind
from pgjobs.schema.migrate import dump, migrate, plan, require_current
from tests.postgres.sources import (
    INSTALLED,
    LENGTH,
    TABLES,
    TRIGGERS,
    VIEWS,
    WAITS,
    WIDER_VIEWS,
    connection,
    source,
)

__all__ = ["connection", "source"]


async def test_a_run_installs_everything_in_order_and_a_second_does_nothing(connection, source):
    done = await migrate(connection, source.release())
    assert done.steps == [
        "migrations/0001_tables.sql",
        "create function pgjobs.length_of",
        "create view pgjobs.note",
        "create function pgjobs.list_notes",
        "create function pgjobs.refuse_deletes",
        "create trigger notes_are_kept on pgjobs.notes",
    ]
    assert await connection.fetchval("select length from pgjobs.note") == 5
    assert not await migrate(connection, source.release())
    await require_current(connection, source.release())


async def test_twenty_runs_at_once_apply_each_step_once(empty_database_url, connection, source):
    async def run() -> bool:
        own = await asyncpg.connect(empty_database_url)
        try:
            return bool(await migrate(own, source.release()))
        finally:
            await own.close()

    assert sorted(await asyncio.gather(*(run() for _ in range(20)))) == [False] * 19 + [True]
    assert await connection.fetchval("select count(*) from pgjobs.notes") == 1


async def test_a_plan_changes_nothing(connection, source):
    assert (await plan(connection, source.release())).steps[0] == "migrations/0001_tables.sql"
    assert await connection.fetchval("select to_regnamespace('pgjobs')") is None


async def test_only_new_migrations_are_applied(connection, source):
    await migrate(connection, source.release())
    source.write("migrations/0002_more.sql", "alter table pgjobs.notes add column author text;")
    done = await migrate(connection, source.release())
    assert [script.name for script in done.migrations] == ["0002_more.sql"]
    assert await connection.fetchval("select author from pgjobs.notes") is None


async def test_a_migration_may_alter_a_column_that_a_view_shows(connection, source):
    await migrate(connection, source.release())
    source.write(
        "migrations/0002_wider.sql",
        "-- runs: with the code\ndrop function pgjobs.list_notes; drop view pgjobs.note;\n"
        "alter table pgjobs.notes alter column id type bigint;",
    )
    await connection.execute("create role reader_of_tests; grant select on pgjobs.note to reader_of_tests")
    await migrate(connection, source.release())
    readable = "select has_table_privilege('reader_of_tests', 'pgjobs.note', 'select')"
    assert await connection.fetchval(readable)
    await connection.execute("drop owned by reader_of_tests; drop role reader_of_tests")
    assert await connection.fetchval("select pg_typeof(id)::text from pgjobs.note") == "bigint"


async def test_an_applied_migration_that_changed_is_refused_by_name(connection, source):
    await migrate(connection, source.release())
    source.write("migrations/0001_tables.sql", TABLES + "-- a harmless remark")
    with pytest.raises(MigrationFailed, match=r"0001_tables\.sql was changed"):
        await migrate(connection, source.release())


async def test_line_endings_do_not_count_as_a_change(connection, source):
    await migrate(connection, source.release())
    (source.directory / "migrations/0001_tables.sql").write_bytes(TABLES.replace("\n", "\r\n").encode())
    assert not await migrate(connection, source.release())


async def test_a_database_newer_than_the_program_is_refused(connection, source):
    source.write("migrations/0002_more.sql", "alter table pgjobs.notes add column author text;")
    await migrate(connection, source.release())
    (source.directory / "migrations/0002_more.sql").unlink()
    with pytest.raises(SchemaAhead, match=r"newer.*0002_more\.sql"):
        await migrate(connection, source.release())


@pytest.mark.parametrize("version", ["0.2.0", "0.10.0rc1", "1.0"])
async def test_code_of_a_newer_version_is_not_taken_back(connection, source, version):
    source.write("operators.sql", INSTALLED)
    ours = replace(source.release(), version="0.1.9")
    source.write("helpers/length_of.sql", LENGTH.replace("length(length_of.note)", "-1"))
    await migrate(connection, replace(source.release(), version=version))
    with pytest.raises(SchemaAhead, match=f"newer.*{version}"):
        await migrate(connection, ours)
    assert await connection.fetchval("select pgjobs.length_of('note')") == -1


async def test_a_program_goes_on_with_a_newer_database(connection, source):
    source.write("operators.sql", INSTALLED)
    ours = replace(source.release(), version="0.1.9")
    await migrate(connection, ours)
    await require_current(connection, ours)
    source.write("helpers/length_of.sql", LENGTH.replace("length(length_of.note)", "-1"))
    await migrate(connection, replace(source.release(), version="0.2.0"))
    await require_current(connection, ours)
    source.write("migrations/0002_more.sql", "alter table pgjobs.notes add column author text;")
    await migrate(connection, replace(source.release(), version="0.3.0"))
    await require_current(connection, ours)


async def test_other_code_of_the_same_version_is_installed(connection, source):
    await migrate(connection, source.release())
    source.write("helpers/length_of.sql", LENGTH.replace("length(length_of.note)", "-1"))
    with pytest.raises(SchemaBehind):
        await require_current(connection, source.release())
    assert (await migrate(connection, source.release())).code
    assert await connection.fetchval("select version from pgjobs.installed_code") == __version__


async def test_a_database_behind_the_program_is_refused(connection, source):
    with pytest.raises(SchemaBehind):
        await require_current(connection, source.release())
    await migrate(connection, source.release())
    source.write("views/tasks.sql", WIDER_VIEWS)
    with pytest.raises(SchemaBehind):
        await require_current(connection, source.release())


async def test_changed_code_is_recreated_and_removed_code_goes(connection, source):
    await migrate(connection, source.release())
    source.write("views/tasks.sql", VIEWS.replace("n.id, ", ""))
    (source.directory / "triggers.sql").unlink()
    (source.directory / "verbs/refuse_deletes.sql").unlink()
    done = await migrate(connection, source.release())
    assert not done.migrations
    assert done.code
    assert list(await connection.fetchrow("select * from pgjobs.note")) == ["first", 5]
    assert await connection.fetchval("select to_regproc('pgjobs.refuse_deletes')") is None
    assert await connection.execute("delete from pgjobs.notes") == "DELETE 1"


async def test_triggers_and_views_of_others_survive_or_stop_an_upgrade(connection, source):
    await migrate(connection, source.release())
    await connection.execute("""
        create function public.mine() returns trigger language plpgsql as $$ begin return new; end $$;
        create trigger mine before insert on pgjobs.notes for each row execute function public.mine();
    """)
    source.write("views/tasks.sql", WIDER_VIEWS)
    await migrate(connection, source.release())
    assert await connection.fetchval("select count(*) from pg_trigger where tgname = 'mine'") == 1

    await connection.execute("create view public.mine as select * from pgjobs.note")
    source.write("views/tasks.sql", VIEWS.replace("n.id, ", ""))
    with pytest.raises(
        MigrationFailed, match=r"view pgjobs\.note .* view public\.mine depends on it"
    ) as refusal:
        await migrate(connection, source.release())
    assert refusal.value.hint == "Drop view public.mine, run pgjobs migrate, then create it again"
    assert await connection.fetchval("select count(*) from public.mine") == 1


async def test_a_failing_run_leaves_nothing_and_names_the_line(connection, source):
    source.write("verbs/list_notes.sql", "select 1;\n\nselect oops;\n")
    with pytest.raises(MigrationFailed, match=r'verbs/list_notes\.sql, line 3: column "oops"'):
        await migrate(connection, source.release())
    assert await connection.fetchval("select to_regnamespace('pgjobs')") is None


async def test_two_schemas_live_side_by_side(connection, source):
    await migrate(connection, source.release())
    await migrate(connection, source.release("other"))
    await connection.execute("insert into other.notes values (2, 'second')")
    assert await connection.fetchval("select count(*) from other.note") == 2
    assert await connection.fetchval("select count(*) from pgjobs.note") == 1

    source.write("views/tasks.sql", WIDER_VIEWS)
    await migrate(connection, source.release("other"))
    assert (await plan(connection, source.release())).code
    assert not await plan(connection, source.release("other"))


async def test_a_schema_that_holds_something_else_is_refused(connection, source):
    await connection.execute("create schema shop; create view shop.orders as select 1 as id")
    with pytest.raises(MigrationFailed, match="shop already holds something else"):
        await migrate(connection, source.release("shop"))
    assert await connection.fetchval("select count(*) from shop.orders") == 1


async def test_a_reserved_word_is_refused_as_schema(connection, source):
    with pytest.raises(MigrationFailed, match="user is a reserved word"):
        await migrate(connection, source.release("user"))


async def test_roles_are_granted_unless_left_to_others(connection, source):
    await migrate(connection, source.release(roles=False))
    assert await connection.fetchval("select to_regrole('pgjobs_of_tests_worker')") is None
    done = await migrate(connection, source.release(roles=True))
    try:
        assert done.steps[-1] == "grants.sql"
        allowed = "has_function_privilege('pgjobs_of_tests_worker', 'pgjobs.list_notes()', 'execute')"
        assert await connection.fetchval(f"select {allowed}")
        assert not await migrate(connection, source.release(roles=False))
        await require_current(connection, source.release(roles=False))
    finally:
        await connection.execute("drop owned by pgjobs_of_tests_worker; drop role pgjobs_of_tests_worker")


async def test_a_dump_is_the_whole_run_and_makes_migrate_a_no_op(connection, source):
    await connection.execute(dump(source.release()))
    assert await connection.fetchval("select length from pgjobs.note") == 5
    assert not await migrate(connection, source.release())


async def test_a_dump_after_a_number_upgrades_what_is_there(connection, source):
    await migrate(connection, source.release())
    source.write("migrations/0002_more.sql", "alter table pgjobs.notes add column author text;")
    source.write("views/tasks.sql", VIEWS.replace("n.id", "n.author"))
    await connection.execute(dump(source.release(), after=1))
    assert await connection.fetchval("select author from pgjobs.note") is None
    assert not await migrate(connection, source.release())


async def test_a_lock_held_elsewhere_ends_the_run_with_a_clear_error(empty_database_url, connection, source):
    await migrate(connection, source.release())
    source.write("views/tasks.sql", WIDER_VIEWS)
    holder = await asyncpg.connect(empty_database_url)
    async with holder.transaction():
        await holder.execute("select from pgjobs.note")
        with pytest.raises(MigrationFailed, match="gave up waiting for a lock"):
            async with asyncio.timeout(30):
                await migrate(connection, source.release(), lock_timeout=timedelta(milliseconds=50))
        assert await connection.fetchval("select length from pgjobs.note") == 5
    await holder.close()
    assert await migrate(connection, source.release())


@pytest.mark.parametrize("wanted", ["notes", "other"])
async def test_an_upgrade_makes_way_for_a_transaction_that_needs_what_it_has_locked(
    empty_database_url, connection, source, wanted
):
    source.write("migrations/0001_tables.sql", f"{TABLES}create table pgjobs.other (id integer);")
    source.write("triggers.sql", TRIGGERS + TRIGGERS.replace("pgjobs.notes", "pgjobs.other"))
    await migrate(connection, source.release())
    source.write(
        "triggers.sql",
        (TRIGGERS + TRIGGERS.replace("pgjobs.notes", "pgjobs.other")).replace(
            "delete on", "delete or truncate on"
        ),
    )
    held = {"notes": "other", "other": "notes"}[wanted]
    holder = await asyncpg.connect(empty_database_url)
    async with holder.transaction():
        await holder.execute(f"lock table pgjobs.{held} in row exclusive mode")
        upgrade = asyncio.create_task(migrate(connection, source.release()))
        async with asyncio.timeout(20):
            while not await holder.fetchval(WAITS, connection.get_server_pid()):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            await holder.execute(f"lock table pgjobs.{wanted} in row exclusive mode")
            # Both are ours, so it still has to wait, and takes neither away from us.
            assert not upgrade.done()
    await holder.close()
    assert await upgrade


async def test_an_upgrade_makes_way_for_whoever_reads_a_view(empty_database_url, connection, source):
    await migrate(connection, source.release())
    source.write("views/tasks.sql", WIDER_VIEWS)
    source.write("triggers.sql", TRIGGERS.replace("delete on", "delete or truncate on"))
    reader = await asyncpg.connect(empty_database_url)
    async with reader.transaction():
        await reader.execute("comment on view pgjobs.note is 'in hand'")
        upgrade = asyncio.create_task(migrate(connection, source.release()))
        async with asyncio.timeout(20):
            while not await reader.fetchval(WAITS, connection.get_server_pid()):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            # It waits for the view, and must not have the table in hand when we come for it.
            assert len(await reader.fetch("select * from pgjobs.note")) == 1
            assert not upgrade.done()
    await reader.close()
    assert await upgrade


HAS_AND_WAITS = """
select
  coalesce(bool_or(not l.granted), false) as waits,
  coalesce(bool_or(l.granted and l.relation = 'pgjobs.note'::regclass and l.mode = 'AccessExclusiveLock'), false) as has
from pg_locks as l
where l.pid = $1
"""


async def test_an_upgrade_makes_way_for_whoever_writes_and_then_reads_a_view(
    empty_database_url, connection, source
):
    await migrate(connection, source.release())
    source.write("views/tasks.sql", WIDER_VIEWS)
    source.write("triggers.sql", TRIGGERS.replace("delete on", "delete or truncate on"))
    writer = await asyncpg.connect(empty_database_url)
    async with writer.transaction():
        await writer.execute("insert into pgjobs.notes values (2, 'second')")
        upgrade = asyncio.create_task(migrate(connection, source.release()))
        async with asyncio.timeout(20):
            [seen] = await writer.fetch(HAS_AND_WAITS, connection.get_server_pid())
            while not seen["waits"]:
                await asyncio.sleep(0.002)
                [seen] = await writer.fetch(HAS_AND_WAITS, connection.get_server_pid())
            # It waits for the table, and must not have the view in hand when we come to read.
            assert not seen["has"]
            assert len(await writer.fetch("select * from pgjobs.note")) == 2
            assert not upgrade.done()
    await writer.close()
    assert await upgrade


async def test_an_up_to_date_schema_needs_no_rights_to_create(connection, source):
    await migrate(connection, source.release())
    await connection.execute("""
        create role looker_of_tests; grant usage on schema pgjobs to looker_of_tests;
        grant select on all tables in schema pgjobs to looker_of_tests; set role looker_of_tests;
    """)
    try:
        assert not await migrate(connection, source.release())
    finally:
        await connection.execute("reset role; drop owned by looker_of_tests; drop role looker_of_tests")


@pytest.mark.parametrize("name", ["1_short.sql", "0002-dashes.sql"])
def test_a_file_that_is_not_numbered_is_refused(source, name):
    source.write(f"migrations/{name}", "select 1;")
    with pytest.raises(MigrationFailed, match=name):
        source.release()


def test_two_files_with_one_number_are_refused(source):
    source.write("migrations/0001_other.sql", "select 1;")
    with pytest.raises(MigrationFailed, match="same number"):
        source.release()
