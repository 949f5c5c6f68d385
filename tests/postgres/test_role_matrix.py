"""Each role against each function and view, really tried: what the file of grants gives works, the rest is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.postgres.test_roles import ROLES, Connection, granted

FUNCTIONS = """
select p.proname as name, format(
  'select from pgjobs.%I(%s)', p.proname,
  (
    -- A subquery: a strict function of a constant null is not called at all.
    select string_agg(
      format(
        '%s(select null::%s)', case when p.provariadic <> 0 and t.place = p.pronargs then 'variadic ' end,
        format_type(t.kind, null)
      ),
      ', ' order by t.place
    )
    from unnest(p.proargtypes) with ordinality as t (kind, place)
  )
) as call
from pg_proc as p
where p.pronamespace = to_regnamespace('pgjobs') and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
order by 1
"""
RELATIONS = """
select c.relname as name, format('select from pgjobs.%I limit 1', c.relname) as call, c.relkind = 'v' as is_view
from pg_class as c
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = any ('{r,p,v,S}')
"""


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def reached(admin: Connection, role: str, calls: list[Any]) -> set[str]:
    """Which of the calls the role is not refused; what they do is rolled back, and may fail otherwise."""
    names = set()
    for row in calls:
        transaction = admin.transaction()
        await transaction.start()
        await admin.execute(f"set local role pgjobs_{role}")
        await admin.execute("set local statement_timeout = '10s'")
        try:
            await admin.execute(row["call"])
        except asyncpg.InsufficientPrivilegeError:
            continue
        except asyncpg.PostgresError:
            pass
        finally:
            await transaction.rollback()
        names.add(row["name"])
    return names


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_reaches_exactly_the_functions_it_was_granted(admin, role):
    calls = await admin.fetch(FUNCTIONS)
    expected = granted(role, "execute on function")
    assert expected <= {row["name"] for row in calls}
    assert await reached(admin, role, calls) == expected


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_reaches_exactly_the_views_it_was_granted_and_no_table(admin, role):
    calls = await admin.fetch(RELATIONS)
    expected = granted(role, "select on")
    assert expected <= {row["name"] for row in calls if row["is_view"]}
    assert await reached(admin, role, calls) == expected


async def test_whoever_may_see_a_view_may_call_the_function_behind_it(admin):
    functions = {row["name"] for row in await admin.fetch(FUNCTIONS)}
    for role in ROLES:
        views = granted(role, "select on") & functions
        assert views - granted(role, "execute on function") == set()


async def test_every_verb_and_view_is_granted_to_somebody(admin):
    verbs = await admin.fetch(
        "select p.proname as name from pg_proc as p where p.pronamespace = to_regnamespace('pgjobs')"
        " and p.prosecdef and p.prokind = 'f'"
    )
    views = {row["name"] for row in await admin.fetch(RELATIONS) if row["is_view"]}
    given = {name for role in ROLES for name in granted(role, "execute on function")}
    shown = {name for role in ROLES for name in granted(role, "select on")}
    assert {row["name"] for row in verbs} - given == {"_queue_position"}
    # What no role may look at holds payloads: verbs read it for them.
    assert {"task_document", "task_answer"} <= views - shown
    with_payload = await admin.fetch(
        "select c.relname as name from pg_class as c join pg_attribute as a on a.attrelid = c.oid"
        " where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v' and a.attname = 'payload'"
    )
    assert views - shown <= {row["name"] for row in with_payload}
