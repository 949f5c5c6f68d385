"""`pgjobs.generic_jobs` as psql shows it: for reading, in the words and columns of the manager."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from pgjobs.contrib.manager import GenericJob, JobManager

COLUMNS = """
id bigint, uuid uuid, domain text, queue text, job_type text, owner_user_id text, project_id bigint,
idempotency_key text, payload jsonb, result jsonb, status text, priority integer, max_retries integer,
retry_count integer, available_at timestamptz, leased_until timestamptz, lease_id text, worker_id text,
acquired_at timestamptz, error_message text, last_error text, cancel_requested_at timestamptz,
cancelled_at timestamptz, cancellation_reason text, created_at timestamptz, updated_at timestamptz,
completed_at timestamptz
"""
SHOWN = """
select string_agg(a.attname || ' ' || replace(t.name, 'timestamp with time zone', 'timestamptz'), ', ' order by a.attnum)
from pg_attribute as a, format_type(a.atttypid, null) as t (name)
where a.attrelid = 'pgjobs.generic_jobs'::regclass and a.attnum > 0
"""


@pytest_asyncio.fixture(loop_scope="session")
async def psql(database_url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest_asyncio.fixture(loop_scope="session")
async def manager(database_url: str) -> AsyncIterator[JobManager]:
    async with JobManager(database_url) as manager:
        yield manager


async def test_the_view_has_exactly_the_known_columns(psql):
    assert await psql.fetchval(SHOWN) == " ".join(COLUMNS.split())
    assert [piece.split()[0] for piece in COLUMNS.split(",")] == list(GenericJob.__dataclass_fields__)


async def test_every_status_has_its_word(psql, manager):
    created = await manager.create_jobs("a", "q", "t", [{} for _ in range(6)], max_retries=0)
    jobs = await manager.acquire_jobs("a", "q", 60, "w", 4)
    await manager.complete_job(jobs[0].id, "w", jobs[0].lease_id or "", {"ok": True})
    await manager.fail_job(jobs[1].id, "w", jobs[1].lease_id or "", "no")
    await manager.cancel_job(jobs[2].id, force=True)
    await manager.queue.ignore_task(created[5].id, reason="later")
    rows = await psql.fetch("select id, status from pgjobs.generic_jobs order by id")
    words = ["completed", "failed", "cancelled", "processing", "queued", "cancelled"]
    assert [(row["id"], row["status"]) for row in rows] == list(
        zip([job.id for job in created], words, strict=True)
    )


async def test_queries_written_for_a_jobs_table_find_what_they_look_for(psql, manager):
    await manager.create_job("chatbooks", "default", "export", {"name": "weekly"}, "ann", 7)
    await psql.execute("create view jobs as select * from pgjobs.generic_jobs")
    found = await psql.fetchrow(
        "select payload ->> 'name' as name from jobs where domain = 'chatbooks' and queue = 'default'"
        " and status = 'queued' and (available_at is null or available_at <= now() + interval '1 minute')"
        " and owner_user_id = 'ann' and project_id = 7"
        " order by priority asc, available_at asc nulls first, created_at asc"
    )
    assert found is not None
    assert found["name"] == "weekly"


@pytest.mark.parametrize(
    ("statement", "verb"),
    [
        ("update pgjobs.generic_jobs set status = 'completed'", "complete_tasks"),
        ("update pgjobs.generic_jobs set status = 'completed' where false", "cancel_task"),
        ("delete from pgjobs.generic_jobs", "prune_tasks"),
        ("insert into pgjobs.generic_jobs (domain) values ('a')", "create_generic_jobs"),
    ],
)
async def test_direct_changes_are_refused_with_a_hint_to_the_verb(psql, manager, statement, verb):
    job = await manager.create_job("a", "q", "t", {})
    with pytest.raises(asyncpg.PostgresError) as refused:
        await psql.execute(statement)
    assert refused.value.sqlstate == "PJ020"
    assert f"pgjobs.{verb}(" in (refused.value.hint or "") or verb in (refused.value.hint or "")
    assert await manager.list_jobs() == [job]


async def test_roles_that_may_see_payloads_read_the_view_and_no_table(psql, manager):
    await manager.create_job("a", "q", "t", {})
    for role in ("pgjobs_producer", "pgjobs_worker", "pgjobs_operator", "pgjobs_api"):
        async with psql.transaction():
            await psql.execute(f"set local role {role}")
            assert await psql.fetchval("select count(payload) from pgjobs.generic_jobs") == 1
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with psql.transaction():
                    await psql.execute("select from pgjobs.tasks")
    async with psql.transaction():
        await psql.execute("set local role pgjobs_readonly")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with psql.transaction():
                await psql.execute("select payload from pgjobs.generic_jobs")


async def test_a_worker_login_needs_functions_only(psql, manager):
    await manager.create_job("a", "q", "t", {})
    async with psql.transaction():
        await psql.execute("set local role pgjobs_worker")
        mine = manager.bound_to(psql)
        job = await mine.acquire_next_job("a", "q", 60, "w")
        assert job is not None
        await mine.complete_job(job.id, "w", job.lease_id or "")
    assert (await manager.get_job(job.id)).status == "completed"


async def test_a_job_created_in_a_transaction_exists_if_and_only_if_it_commits(psql, manager):
    transaction = psql.transaction()
    await transaction.start()
    job = await manager.bound_to(psql).create_job("a", "q", "t", {})
    assert await manager.list_jobs() == []
    await transaction.rollback()
    assert await manager.list_jobs() == []
    async with psql.transaction():
        job = await manager.bound_to(psql).create_job("a", "q", "t", {})
    assert await manager.get_job(job.id) == job
