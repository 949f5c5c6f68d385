"""Rows change through verbs only, whoever asks: these tests ask as the superuser who owns the tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest

from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue as Queue

GUARDED = (
    "tasks", "ready", "scheduled", "leases", "outcomes", "ignored", "attempts", "idempotency_keys", "events",
    "targets", "run_targets",
)  # fmt: skip
FIRST_COLUMN = """
select a.attname
from pg_attribute as a
where a.attrelid = $1::text::regclass and a.attnum > 0 and a.attidentity = ''
order by a.attnum
limit 1
"""
JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)

Connection: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    """A queue with a row in every guarded table."""
    async with await Queue.connect(database_url, max_size=1) as queue:
        await queue.register_job("@global", "tests", "Echo", max_attempts=2)
        await queue.set_job_target(JOB, {"type": "local_dir", "base_dir": "/nowhere"}, node_id="here")
        tasks = await queue.submit_tasks(JOB, [{}] * 6, idempotency_keys=[f"key {n}" for n in range(6)])
        done, failed, _ = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=3)
        await queue.start_tasks([done])
        await queue.complete_task(done, {"ok": True})
        await queue.fail_task(failed, "no route to host")
        await queue.ignore_task(tasks[3].task_id)
        yield queue
        assert {rule.violations for rule in await queue.check()} == {0}


@pytest.fixture
async def psql(database_url: str, queue: Queue) -> AsyncIterator[Connection]:
    """A superuser's session."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def pretender(psql: Connection) -> Connection:
    """A superuser's session that pretends to be inside a verb."""
    await psql.execute("set search_path = pg_catalog, pgjobs, pg_temp")
    return psql


async def assert_refused(connection: Connection, statement: str) -> None:
    with pytest.raises(asyncpg.PostgresError) as refusal:
        await connection.execute(statement)
    assert refusal.value.sqlstate == "PJ020", refusal.value
    assert refusal.value.hint


@pytest.mark.parametrize("table", GUARDED)
async def test_rows_are_not_changed_by_hand(psql, table):
    column = await psql.fetchval(FIRST_COLUMN, f"pgjobs.{table}")
    assert await psql.fetchval(f"select count(*) from pgjobs.{table}") > 0
    await assert_refused(psql, f"update pgjobs.{table} set {column} = {column}")
    await assert_refused(psql, f"delete from pgjobs.{table}")
    await assert_refused(psql, f"insert into pgjobs.{table} default values")
    await assert_refused(psql, f"truncate pgjobs.{table}")
    await assert_refused(psql, f"with gone as (delete from pgjobs.{table} returning 1) select * from gone")


async def test_neither_copy_nor_merge_goes_around_the_guards(psql):
    with pytest.raises(asyncpg.PostgresError, match="refused") as refusal:
        await psql.copy_records_to_table(
            "ignored", schema_name="pgjobs", columns=["task_id", "job_id"], records=[(1, 1)]
        )
    assert refusal.value.sqlstate == "PJ020"
    merge = (
        "merge into pgjobs.leases as l using pgjobs.tasks as t on t.id = l.task_id when matched then delete"
    )
    await assert_refused(psql, merge)


async def test_the_mark_of_a_verb_ends_with_the_verb(psql):
    async with psql.transaction():
        await psql.execute("select * from pgjobs.submit_task($1)", JOB)
        assert await psql.fetchval("show search_path") != "pg_catalog, pgjobs, pg_temp"
        with pytest.raises(asyncpg.PostgresError, match="refused"):
            async with psql.transaction():
                await psql.execute("delete from pgjobs.ready")


@pytest.mark.parametrize("table", GUARDED)
async def test_nothing_is_truncated_even_by_who_pretends_to_be_a_verb(pretender, table):
    await assert_refused(pretender, f"truncate pgjobs.{table}")
    await assert_refused(pretender, f"truncate pgjobs.{table} cascade")


@pytest.mark.parametrize(
    "change",
    [
        "token = gen_random_uuid()",
        "task_id = task_id + 100",
        "job_id = job_id + 1",
        "attempt = attempt + 1",
        "holder = 'somebody else'",
        "holder = null, worker_id = gen_random_uuid()",
        "claimed_at = claimed_at + interval '1 second'",
        "until = until - interval '1 microsecond'",
        "until = null",
    ],
)
async def test_a_lease_keeps_its_identity_and_is_never_shortened(pretender, change):
    before = await pretender.fetchrow("select * from pgjobs.leases")
    await assert_refused(pretender, f"update pgjobs.leases set {change}")
    assert await pretender.fetchrow("select * from pgjobs.leases") == before


async def test_a_lease_may_be_extended_and_started_once(pretender):
    await pretender.execute(
        "update pgjobs.leases set until = until + interval '1 second', started_at = now()"
    )
    await assert_refused(pretender, "update pgjobs.leases set started_at = started_at + interval '1 second'")
    await assert_refused(pretender, "update pgjobs.leases set started_at = null")


@pytest.mark.parametrize(
    "statement",
    [
        "update pgjobs.outcomes set result = '{\"forged\": true}'",
        "update pgjobs.outcomes set ended_at = ended_at",
        "update pgjobs.tasks set payload = '{}', priority = 1",
        "update pgjobs.attempts set error = 'forged'",
        "update pgjobs.events set message = 'forged'",
    ],
)
async def test_what_is_written_once_stays_even_for_who_pretends_to_be_a_verb(pretender, statement):
    await assert_refused(pretender, statement)


async def test_an_acknowledgement_without_the_token_changes_nothing(queue, psql):
    (lease,) = await psql.fetch("select task_id, token from pgjobs.leases")
    answer = await psql.fetchrow(
        "select status, problem from pgjobs.complete_tasks(array[$1::bigint], array[gen_random_uuid()])",
        lease["task_id"],
    )
    assert tuple(answer) == (None, "PJ007")
    assert (await queue.get_task(lease["task_id"])).status == "claimed"
    forged = Lease.of({**dict.fromkeys(Lease.__dataclass_fields__), **dict(lease)})
    assert (await queue.complete_task(forged)).status == "completed"
