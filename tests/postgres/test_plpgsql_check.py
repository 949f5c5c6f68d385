"""plpgsql_check reads what no linter sees: the bodies between the dollars."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

# A trigger function is checked once for each trigger, with the names its transition tables have there.
CHECKED = """
select
  p.proname || coalesce(' on ' || t.tgrelid::regclass::text, '') as what, p.oid as function,
  coalesce(t.tgrelid, 0) as relation, t.tgoldtable as old_rows, t.tgnewtable as new_rows
from pg_proc as p
join pg_language as l on l.oid = p.prolang and l.lanname = 'plpgsql'
left join pg_trigger as t on t.tgfoid = p.oid and not t.tgisinternal
where p.pronamespace = to_regnamespace('pgjobs')
order by 1
"""
# An assignment that casts text to a type of its own is not a mistake.
FINDINGS = """
select c.lineno, c.message
from plpgsql_check_function_tb(
  $1::oid::regprocedure, $2::oid, newtable => $3::name, oldtable => $4::name,
  fatal_errors => false, extra_warnings => true, performance_warnings => false, security_warnings => true
) as c
where c.message <> 'target type is different type than source type'
"""


@pytest.fixture
async def checker(database_url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(database_url)
    available = "select exists (select from pg_available_extensions where name = 'plpgsql_check')"
    if not await connection.fetchval(available):
        await connection.close()
        pytest.skip("this Postgres has no plpgsql_check (Debian: postgresql-15-plpgsql-check)")
    await connection.execute("create extension plpgsql_check schema public")
    yield connection
    await connection.close()


async def findings(checker: asyncpg.Connection[Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in await checker.fetch(CHECKED):
        rows = await checker.fetch(
            FINDINGS, row["function"], row["relation"], row["new_rows"], row["old_rows"]
        )
        found[row["what"]] = [f"line {problem['lineno']}: {problem['message']}" for problem in rows]
    return found


async def test_no_function_contains_an_error_or_a_warning(checker):
    found = await findings(checker)
    assert {
        "claim_tasks",
        "_announce_started on pgjobs.leases",
        "_refuse_direct_change on pgjobs.tasks",
    } <= set(found)
    assert {what: problems for what, problems in found.items() if problems} == {}


async def test_a_function_with_a_mistake_would_be_found(checker):
    await checker.execute(
        "create function pgjobs.mistaken() returns void language plpgsql as"
        " $$ declare v_unused integer; begin perform t.colour from pgjobs.tasks as t; end $$"
    )
    found = (await findings(checker))["mistaken"]
    assert [problem.partition(": ")[2] for problem in found] == [
        "column t.colour does not exist",
        'unused variable "v_unused"',
    ]
