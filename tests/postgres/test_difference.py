"""Code is installed by difference: what has not changed stays, and so does whatever others built on it."""

from __future__ import annotations

import asyncio
import os

import asyncpg
import pytest

from pgjobs.errors import MigrationFailed
from pgjobs.schema.migrate import migrate, plan
from tests.postgres.sources import (
    LENGTH,
    NOTES,
    REFUSE,
    TABLES,
    TRIGGERS,
    VIEWS,
    WIDER_VIEWS,
    connection,
    source,
)

__all__ = ["connection", "source"]

SHORTER = LENGTH.replace("length(length_of.note)", "length(length_of.note) - 1")
OTHER_ARGUMENTS = LENGTH.replace("(note text)", "(note text, more integer default 0)").replace(
    "length(length_of.note)", "length(length_of.note) + length_of.more"
)


@pytest.fixture
async def role(connection):
    name = f"guest_of_tests_{os.getpid()}"
    await connection.execute(f"drop role if exists {name}; create role {name}")
    yield name
    await connection.execute(f"drop owned by {name}; drop role {name}")


async def oids(connection) -> dict[str, int]:
    rows = await connection.fetch(
        "select proname as name, oid from pg_proc where pronamespace = 'pgjobs'::regnamespace"
        " union all select relname, oid from pg_class where relnamespace = 'pgjobs'::regnamespace and relkind = 'v'"
        " union all select tgname, oid from pg_trigger where not tgisinternal"
    )
    return {row["name"]: row["oid"] for row in rows}


async def may(connection, role: str, function: str) -> bool:
    return bool(await connection.fetchval("select has_function_privilege($1, $2, 'execute')", role, function))


async def test_a_remark_in_a_file_changes_nothing(connection, source):
    await migrate(connection, source.release())
    source.write("helpers/length_of.sql", f"-- A remark.\n{LENGTH}")
    assert not await migrate(connection, source.release())


async def test_only_what_changed_is_replaced_and_all_keeps_its_place(connection, source):
    await migrate(connection, source.release())
    before = await oids(connection)
    source.write("helpers/length_of.sql", SHORTER)
    source.write("views/tasks.sql", WIDER_VIEWS)
    done = await migrate(connection, source.release())
    assert done.steps == [
        "replace function pgjobs.length_of",
        "replace view pgjobs.note (locks the view for a moment)",
    ]
    assert await oids(connection) == before
    assert list(await connection.fetchrow("select * from pgjobs.note")) == [1, "first", 4, 1]


async def test_grants_views_and_functions_of_others_survive(connection, source, role):
    await migrate(connection, source.release())
    await connection.execute(f"""
        grant execute on function pgjobs.length_of to {role};
        grant select (text) on pgjobs.note to {role};
        grant select on pgjobs.note to public;
        create view public.mine as select id, length from pgjobs.note;
        create function public.longest() returns integer begin atomic select max(pgjobs.length_of(text)) from pgjobs.note; end;
    """)
    source.write("helpers/length_of.sql", SHORTER)
    source.write("views/tasks.sql", WIDER_VIEWS)
    source.write("verbs/list_notes.sql", NOTES.replace("stable", "volatile"))
    source.write("verbs/refuse_deletes.sql", REFUSE.replace("are kept", "stay"))
    await migrate(connection, source.release())
    assert await may(connection, role, "pgjobs.length_of(text)")
    assert await connection.fetchval("select has_column_privilege($1, 'pgjobs.note', 'text', 'select')", role)
    assert not await may(connection, "public", "pgjobs.list_notes()")
    assert await connection.fetchval("select has_table_privilege('public', 'pgjobs.note', 'select')")
    assert await connection.fetchval("select length from public.mine") == 4
    assert await connection.fetchval("select public.longest()") == 4


async def test_a_changed_signature_keeps_its_grants_and_what_is_built_on_it_is_made_again(
    connection, source, role
):
    await migrate(connection, source.release())
    await connection.execute(f"grant execute on function pgjobs.length_of to {role} with grant option")
    await connection.execute(f"grant select (length) on pgjobs.note to {role}")
    before = await oids(connection)
    source.write("helpers/length_of.sql", OTHER_ARGUMENTS)
    await migrate(connection, source.release())
    after = await oids(connection)
    assert await connection.fetchval("select pgjobs.length_of('note', 3)") == 7
    assert await connection.fetchval("select length from pgjobs.note") == 5
    assert await may(connection, role, "pgjobs.length_of(text, integer)")
    assert not await may(connection, "public", "pgjobs.length_of(text, integer)")
    assert await connection.fetchval(
        "select has_column_privilege($1, 'pgjobs.note', 'length', 'select')", role
    )
    assert {name for name in after if after[name] != before[name]} == {"length_of", "note", "list_notes"}
    assert not await migrate(connection, source.release())


async def test_a_view_with_other_columns_is_made_again_with_the_function_that_returns_its_rows(
    connection, source
):
    await migrate(connection, source.release())
    source.write("views/tasks.sql", VIEWS.replace("n.id, ", ""))
    await migrate(connection, source.release())
    assert list(await connection.fetchrow("select * from pgjobs.note")) == ["first", 5]
    assert await connection.fetchval("select count(*) from pgjobs.list_notes()") >= 0


PLANS = """
do $$ begin execute format('alter function %s set jit = off', to_regprocedure('pgjobs.list_notes()')); end $$;
"""


async def test_what_is_made_again_with_something_below_it_is_planned_as_before(connection, source):
    source.write("plans.sql", PLANS)
    await migrate(connection, source.release())
    planned = "select proconfig from pg_proc where proname = 'list_notes'"
    assert await connection.fetchval(planned) == ["jit=off"]
    before = await oids(connection)
    source.write("views/tasks.sql", VIEWS.replace("n.id, ", ""))
    await migrate(connection, source.release())
    assert (await oids(connection))["list_notes"] != before["list_notes"]
    assert await connection.fetchval(planned) == ["jit=off"]


async def test_how_functions_are_planned_locks_nothing(connection, source):
    source.write("plans.sql", PLANS)
    await migrate(connection, source.release())
    source.write("plans.sql", PLANS.replace("jit", "geqo"))
    assert [step.partition(" (")[2] for step in (await plan(connection, source.release())).steps] == [""]
    await migrate(connection, source.release())
    planned = "select proconfig from pg_proc where proname = 'list_notes'"
    assert await connection.fetchval(planned) == ["jit=off", "geqo=off"]


async def test_what_somebody_else_built_on_a_changed_signature_stops_the_run_by_name(connection, source):
    await migrate(connection, source.release())
    await connection.execute("create view public.lengths as select pgjobs.length_of('x') as length")
    source.write("helpers/length_of.sql", OTHER_ARGUMENTS)
    with pytest.raises(
        MigrationFailed, match=r"function pgjobs\.length_of .* view public\.lengths depends on it"
    ):
        await migrate(connection, source.release())
    assert await connection.fetchval("select length from public.lengths") == 1
    await connection.execute("drop view public.lengths")
    await migrate(connection, source.release())


async def test_a_view_that_needs_a_new_function_and_a_function_that_needs_the_view(connection, source):
    await migrate(connection, source.release())
    source.write(
        "helpers/doubled.sql",
        LENGTH.replace("length_of", "doubled").replace("length(doubled.note)", "2 * length(doubled.note)"),
    )
    source.write(
        "views/tasks.sql", VIEWS.replace("as length", "as length, pgjobs.doubled(n.text) as doubled")
    )
    source.write(
        "helpers/all_doubled.sql",
        "create function pgjobs.all_doubled() returns bigint language sql stable"
        " return (select sum(doubled) from pgjobs.note);",
    )
    await migrate(connection, source.release())
    assert await connection.fetchval("select pgjobs.all_doubled()") == 10


async def test_what_was_dropped_by_hand_comes_back(connection, source):
    await migrate(connection, source.release())
    await connection.execute("drop trigger notes_are_kept on pgjobs.notes")
    assert (await plan(connection, source.release())).steps == [
        "create trigger notes_are_kept on pgjobs.notes"
    ]
    await migrate(connection, source.release())
    assert "notes_are_kept" in await oids(connection)


async def test_everything_can_be_made_anew_with_its_grants(connection, source, role):
    await migrate(connection, source.release())
    await connection.execute(f"grant execute on function pgjobs.length_of to {role}")
    await connection.execute(
        "create or replace function pgjobs.length_of(note text) returns integer language sql return -7"
    )
    assert not await migrate(connection, source.release())
    before = await oids(connection)
    await migrate(connection, source.release(), recreate=True)
    assert await connection.fetchval("select length from pgjobs.note") == 5
    assert await may(connection, role, "pgjobs.length_of(text)")
    assert not set(before.values()) & set((await oids(connection)).values())


async def test_making_everything_anew_stops_before_what_somebody_else_built_on_it(connection, source):
    await migrate(connection, source.release())
    await connection.execute("create view public.mine as select * from pgjobs.note")
    before = await oids(connection)
    with pytest.raises(MigrationFailed) as refusal:
        await migrate(connection, source.release(), recreate=True)
    assert "view public.mine depends on view pgjobs.note" in str(refusal.value)
    assert "CASCADE" not in str(refusal.value)
    assert await oids(connection) == before
    assert await connection.fetchval("select count(*) from public.mine") == 1


async def test_code_waits_for_nobody_who_uses_a_table(empty_database_url, connection, source):
    """A replaced function needs no lock on what it reads, whoever holds one."""
    await migrate(connection, source.release())
    source.write("helpers/length_of.sql", SHORTER)
    holder = await asyncpg.connect(empty_database_url)
    async with holder.transaction():
        await holder.execute("select from pgjobs.note; lock table pgjobs.notes in access exclusive mode")
        async with asyncio.timeout(10):
            await migrate(connection, source.release())
    await holder.close()
    assert await connection.fetchval("select pgjobs.length_of('four')") == 3


BATCHES = """-- runs: in batches
insert into pgjobs.lengths (id, length)
select n.id, length(n.text)
from pgjobs.notes as n
where not exists (select from pgjobs.lengths as l where l.id = n.id)
order by n.id
limit 300;
"""
INDEX = """-- runs: outside a transaction
create index concurrently if not exists notes_by_text on pgjobs.notes (text);
"""


async def fill(connection, rows: int) -> None:
    await connection.execute(
        f"insert into pgjobs.notes select i, 'note ' || i from generate_series(2, {rows}) as i"
    )


def add_online_migrations(source) -> None:
    source.write(
        "migrations/0002_lengths.sql", "create table pgjobs.lengths (id integer primary key, length integer);"
    )
    source.write("migrations/0003_fill_lengths.sql", BATCHES)
    source.write("migrations/0004_index.sql", INDEX)


async def test_online_migrations_run_in_batches_and_outside_of_transactions(connection, source):
    await migrate(connection, source.release())
    await fill(connection, 1000)
    add_online_migrations(source)
    seen: list[tuple[int, int]] = []
    await migrate(connection, source.release(), watch=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert await connection.fetchval("select count(*) from pgjobs.lengths") == 1000
    assert await connection.fetchval("select count(distinct xmin::text) from pgjobs.lengths") == 4
    assert await connection.fetchval(
        "select indisvalid from pg_index where indexrelid = 'pgjobs.notes_by_text'::regclass"
    )
    assert not await migrate(connection, source.release())


async def test_a_run_that_broke_off_is_taken_up_by_the_next(connection, source):
    await migrate(connection, source.release())
    await fill(connection, 1000)
    add_online_migrations(source)
    source.write("migrations/0004_index.sql", INDEX.replace("(text)", "(oops)"))
    with pytest.raises(MigrationFailed, match=r"0004_index\.sql: column"):
        await migrate(connection, source.release())
    assert await connection.fetchval("select max(number) from pgjobs.migrations") == 3
    # What a build that was killed leaves behind.
    await connection.execute("insert into pgjobs.notes values (1001, 'note 1000')")
    with pytest.raises(Exception, match="could not create unique index"):
        await connection.execute("create unique index concurrently notes_by_text on pgjobs.notes (text)")
    source.write("migrations/0004_index.sql", INDEX)
    await migrate(connection, source.release())
    index = "select indisvalid and not indisunique from pg_index where indexrelid = 'pgjobs.notes_by_text'::regclass"
    assert await connection.fetchval(index)


async def test_twenty_runs_at_once_do_online_migrations_once(empty_database_url, connection, source):
    await migrate(connection, source.release())
    await fill(connection, 1000)
    add_online_migrations(source)

    async def run() -> None:
        own = await asyncpg.connect(empty_database_url)
        try:
            await migrate(own, source.release())
        finally:
            await own.close()

    async with asyncio.timeout(60):
        await asyncio.gather(*(run() for _ in range(20)))
    assert await connection.fetchval("select count(*) from pgjobs.lengths") == 1000
    assert await connection.fetchval("select array_agg(number order by number) from pgjobs.migrations") == [
        1,
        2,
        3,
        4,
    ]


async def test_a_fresh_schema_gets_online_migrations_in_one_transaction(connection, source):
    add_online_migrations(source)
    source.write(
        "verbs/list_notes.sql", "create function pgjobs.list_notes() returns oops language sql return 1;"
    )
    with pytest.raises(MigrationFailed, match="oops"):
        await migrate(connection, source.release())
    assert await connection.fetchval("select to_regnamespace('pgjobs')") is None
    source.write("verbs/list_notes.sql", NOTES)
    await migrate(connection, source.release())
    assert await connection.fetchval("select to_regclass('pgjobs.notes_by_text')") is not None


async def test_an_unknown_way_to_run_is_refused(connection, source):
    source.write("migrations/0002_more.sql", "-- runs: whenever\nselect 1;")
    with pytest.raises(MigrationFailed, match=r"0002_more\.sql: unknown way to run: whenever"):
        await migrate(connection, source.release())


async def test_a_trigger_that_changed_is_replaced_and_one_that_went_is_dropped(connection, source):
    source.write("migrations/0001_tables.sql", f"{TABLES}create table pgjobs.other (id integer);")
    other = TRIGGERS.replace("pgjobs.notes", "pgjobs.other").replace("notes_are", "others_are")
    source.write("triggers.sql", TRIGGERS + other)
    await migrate(connection, source.release())
    before = await oids(connection)
    source.write("triggers.sql", TRIGGERS.replace("delete on", "delete or truncate on"))
    done = await migrate(connection, source.release())
    assert done.steps == [
        "replace trigger notes_are_kept on pgjobs.notes (stops writes to its table for a moment)",
        "drop trigger others_are_kept on other (locks its table for a moment)",
    ]
    after = await oids(connection)
    assert "others_are_kept" not in after
    assert after["notes_are_kept"] == before["notes_are_kept"]
    with pytest.raises(Exception, match="Notes are kept"):
        await connection.execute("truncate pgjobs.notes")
