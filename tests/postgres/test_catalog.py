"""What the catalog says about the schema: everything is explained, nothing is left open."""

from __future__ import annotations

import re
import warnings
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from pgjobs.errors import BY_SQLSTATE
from pgjobs.schema.release import sql_directory

VERBS = sorted(path.stem for path in (sql_directory("postgres") / "verbs").rglob("*.sql"))
PINNED = "search_path=pg_catalog, pgjobs, pg_temp"
CHANGES_ROWS = re.compile(r"\b(insert\s+into|update\s+pgjobs\.|delete\s+from|setval\s*\()", re.IGNORECASE)
CALLS = re.compile(r"\bpgjobs\.(\w+)\s*\(")

FUNCTIONS = """
select
  p.proname as name, p.prosecdef as is_definer, coalesce(p.proconfig, '{}') as settings,
  coalesce(obj_description(p.oid, 'pg_proc'), '') as comment, pg_get_functiondef(p.oid) as definition
from pg_proc as p
where p.pronamespace = to_regnamespace('pgjobs') and p.prokind = 'f'
order by p.proname
"""
# A sequence behind an identity column is explained by its column.
RELATIONS = """
select
  c.relname as name, obj_description(c.oid, 'pg_class') as comment,
  exists (select from pg_depend as d where d.objid = c.oid and d.deptype = 'i') as is_internal
from pg_class as c
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = any ('{r,p,v,m,S}')
"""
COLUMNS = """
select
  c.relname as relation, c.relkind = 'v' as is_of_view, a.attname as name,
  col_description(c.oid, a.attnum) is not null as is_explained
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = any ('{r,p,v,m}')
"""
HELD_BY_PUBLIC = """
with objects (name, acl) as (
  select n.nspname::text, coalesce(n.nspacl, acldefault('n', n.nspowner))
  from pg_namespace as n
  where n.nspname = 'pgjobs'
  union all
  select p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner))
  from pg_proc as p
  where p.pronamespace = to_regnamespace('pgjobs')
  union all
  select
    c.relname,
    coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
  from pg_class as c
  where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = any ('{r,p,v,m,S}')
  union all
  select c.relname || '.' || a.attname, a.attacl
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid
  where c.relnamespace = to_regnamespace('pgjobs')
)
select o.name || ': ' || a.privilege_type as held
from objects as o
cross join aclexplode(o.acl) as a
where a.grantee = 0
"""
CONSTRAINTS = """
select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as truth
from pg_constraint as k
join pg_class as c on c.oid = k.conrelid
where c.relnamespace = to_regnamespace('pgjobs') and k.contype in ('c', 'u')
"""

COMMENTS = """
select p.proname as name, d.description as comment
from pg_proc as p
join pg_description as d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass
where p.pronamespace = to_regnamespace('pgjobs')
union all
select c.relname, d.description
from pg_class as c
join pg_description as d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind in ('r', 'p', 'v')
"""


@pytest.fixture
async def catalog(database_url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def functions(catalog: asyncpg.Connection[Any]) -> dict[str, Mapping[str, Any]]:
    return {row["name"]: row for row in await catalog.fetch(FUNCTIONS)}


async def test_every_verb_has_exactly_one_function(catalog):
    names = [row["name"] for row in await catalog.fetch(FUNCTIONS)]
    assert len(VERBS) > 30
    assert {verb: names.count(verb) for verb in VERBS} == dict.fromkeys(VERBS, 1)


async def test_the_schema_and_every_table_view_and_sequence_have_a_comment(catalog):
    rows = await catalog.fetch(RELATIONS)
    assert {row["name"] for row in rows} >= {"tasks", "ready", "leases", "outcomes", "task", "watched_until"}
    assert [row["name"] for row in rows if not row["comment"] and not row["is_internal"]] == []
    assert await catalog.fetchval("select obj_description(to_regnamespace('pgjobs'), 'pg_namespace')")


async def test_every_column_of_every_table_has_a_comment(catalog):
    rows = [row for row in await catalog.fetch(COLUMNS) if not row["is_of_view"]]
    assert len(rows) > 100
    assert [(row["relation"], row["name"]) for row in rows if not row["is_explained"]] == []


async def test_a_view_explains_all_of_its_columns(catalog):
    rows = [row for row in await catalog.fetch(COLUMNS) if row["is_of_view"]]
    assert {row["relation"] for row in rows} >= {"task", "job", "problems", "task_document"}
    # Nobody but get_task and get_schedule reads these, and their columns are those of others.
    shown = [row for row in rows if row["relation"] not in ("task_document", "schedule_document")]
    assert [(row["relation"], row["name"]) for row in shown if not row["is_explained"]] == []


async def test_every_function_has_a_comment_with_an_example(catalog):
    comments = {name: function["comment"] for name, function in (await functions(catalog)).items()}
    assert [name for name, comment in comments.items() if "Example:" not in comment] == []


async def test_the_example_of_a_verb_calls_it(catalog):
    known = await functions(catalog)
    examples = {verb: known[verb]["comment"].partition("Example:")[2] for verb in VERBS}
    assert [verb for verb, example in examples.items() if f"pgjobs.{verb}(" not in example] == []


async def test_every_example_can_be_run(catalog):
    """As far as Postgres can tell without running it; \\watch is for psql."""
    rows = await catalog.fetch(COMMENTS)
    examples = {
        (row["name"], example)
        for row in rows
        if (example := row["comment"].partition("Example: ")[2]).startswith(
            ("select ", "table ", "update ", "delete ")
        )
    }
    assert len(examples) > 150
    broken = {}
    for name, example in examples:
        try:
            await catalog.prepare(re.sub("<[a-z ]+>", str(uuid4()), example.removesuffix(r" \watch 2")))
        except asyncpg.PostgresError as error:
            broken[name, example] = str(error)
    assert broken == {}


async def test_every_security_definer_function_pins_its_search_path(catalog):
    definers = [function for function in (await functions(catalog)).values() if function["is_definer"]]
    assert {function["name"] for function in definers} >= set(VERBS)
    assert [function["name"] for function in definers if PINNED not in function["settings"]] == []


async def test_every_verb_that_changes_rows_has_the_rights_of_the_owner(catalog):
    known = await functions(catalog)
    changing = [verb for verb in VERBS if changes_rows(verb, known)]
    assert {"submit_task", "claim_tasks", "sweep", "watch_task", "heartbeat_worker"} <= set(changing)
    assert "list_tasks" not in changing
    assert [verb for verb in changing if not known[verb]["is_definer"]] == []


def changes_rows(name: str, known: Mapping[str, Mapping[str, Any]], *, through_verbs: bool = True) -> bool:
    """Whether the function, or one it calls, contains a statement that changes rows."""
    seen, text = {name}, body(known[name])
    while called := {other for other in CALLS.findall(text) if other in known} - seen:
        seen |= called
        text += "".join(body(known[other]) for other in called if through_verbs or other not in VERBS)
    return CHANGES_ROWS.search(text) is not None


def body(function: Mapping[str, Any]) -> str:
    """The function without its head and its comments."""
    head_ends = re.search(r"^(AS \$|BEGIN ATOMIC|\s*RETURN )", function["definition"], re.MULTILINE)
    assert head_ends is not None, function["name"]
    return re.sub(r"--.*", "", function["definition"][head_ends.start() :])


async def test_whoever_writes_outcomes_announces_them(catalog):
    bodies = {name: body(function) for name, function in (await functions(catalog)).items()}
    enders = {name for name, text in bodies.items() if re.search(r"insert into pgjobs\.outcomes\b", text)}
    assert {"complete_tasks", "cancel_tasks", "_end_attempts", "_end_leases"} <= enders
    announcers = {"_announce_endings", "_tell_ended"}
    assert [name for name in sorted(enders) if not announcers & set(CALLS.findall(bodies[name]))] == []


async def test_public_holds_nothing(catalog):
    assert [row["held"] for row in await catalog.fetch(HELD_BY_PUBLIC)] == []
    await catalog.execute("grant execute on function pgjobs._now to public")
    assert [row["held"] for row in await catalog.fetch(HELD_BY_PUBLIC)] == ["pgjobs._now(): EXECUTE"]


async def test_a_login_without_a_role_reaches_nothing(catalog):
    async with catalog.transaction():
        await catalog.execute("create role a_stranger")
        await catalog.execute("set local role a_stranger")
        for statement in (
            "select pgjobs._now()",
            "select * from pgjobs.task",
            "select * from pgjobs.problems",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with catalog.transaction():
                    await catalog.execute(statement)
        await catalog.execute("reset role; drop role a_stranger")


async def test_no_extension_but_plpgsql_is_needed(catalog):
    assert [row["extname"] for row in await catalog.fetch("select extname from pg_extension")] == ["plpgsql"]


async def test_every_problem_means_the_same_in_sql_and_in_python(catalog):
    rows = await catalog.fetch("select sqlstate, problem, status, title from pgjobs.problems")
    in_sql = {row["sqlstate"]: (row["problem"], row["status"]) for row in rows}
    in_python = {code: (error.problem, error.status) for code, error in BY_SQLSTATE.items()}
    assert in_sql == in_python
    assert len({row["sqlstate"] for row in rows}) == len({row["problem"] for row in rows}) == len(rows)
    assert all(row["title"] for row in rows)


async def test_functions_refuse_with_known_problems_only(catalog):
    bodies = [body(function) for function in (await functions(catalog)).values()]
    named = {problem for text in bodies for problem in re.findall(r"pgjobs\._refuse\(\s*'([^']*)'", text)}
    codes = {code for text in bodies for code in re.findall(r"'(PJ\w{3})'", text)}
    assert {"direct-change", "task-not-found", "validation-error"} <= named
    assert named - {error.problem for error in BY_SQLSTATE.values()} == set()
    assert {"PJ002", "PJ007"} <= codes <= set(BY_SQLSTATE)


async def test_constraints_are_named_after_the_truth_they_keep(catalog):
    names = [(row["table"], row["name"]) for row in await catalog.fetch(CONSTRAINTS)]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    generated = re.compile(r"_(check|key|excl)\d*$")
    assert [name for name in names if generated.search(name[1]) or "_" not in name[1]] == []


async def test_constraints_of_one_name_keep_one_truth(catalog):
    truths: dict[str, set[str]] = {}
    for row in await catalog.fetch(CONSTRAINTS):
        truths.setdefault(row["name"], set()).add(row["truth"])
    assert {name: kept for name, kept in truths.items() if len(kept) > 1} == {}


async def test_whoever_lists_functions_sees_verbs_only(catalog):
    """Each has a file of its name; the others begin with an underscore."""
    seen = {name for name in await functions(catalog) if not name.startswith("_")}
    assert seen == {*VERBS, "task_id", "task_uuid"}


async def test_no_function_outgrows_a_page(catalog):
    lengths = {
        name: len(body(function).splitlines()) for name, function in (await functions(catalog)).items()
    }
    if long := {name: lines for name, lines in lengths.items() if lines > 60}:
        warnings.warn(f"functions of more than 60 lines: {long}", stacklevel=1)
    assert {name: lines for name, lines in lengths.items() if lines > 100} == {}
