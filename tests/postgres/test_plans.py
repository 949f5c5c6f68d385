"""How much verbs read when very many tasks wait: a few rows by index, whatever the planner believes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from statistics import median
from typing import Any

import asyncpg
import pytest
from pytest_postgresql.executors import NoopExecutor

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease
from tests.postgres.crowd import (
    BIG_TABLES,
    CLAIM,
    JOB,
    READY,
    Connection,
    Reads,
    buffers_of,
    fill,
    reads_counted,
)
from tests.server import PostgresServer

HOUR = timedelta(hours=1)
RARE = "@global:tests:Seldom"
# Rows of one table a verb may read: mark_waiting looks at the next 1,000 scheduled tasks.
FEW = 1_100
# A list of one status looks at up to 20,000 pending tasks, retention at the newest range of its BRIN index.
BOUNDED = 25_000

FORGET = """
delete from pg_statistic where starelid = any (
  select c.oid from pg_class as c where c.relnamespace = to_regnamespace('pgjobs')
)
"""
GENERIC = "set local plan_cache_mode = force_generic_plan"
SCENARIOS = {
    "fresh statistics": (),
    "no statistics": (FORGET,),
    "generic plans": (GENERIC,),
    "generic plans without statistics": (FORGET, GENERIC),
}


async def claim(queue: Queue) -> list[Lease]:
    return await queue.claim_tasks(holder="me", lease=HOUR, in_room="@global", quantity=10)


Verb = Callable[[Queue, list[Lease]], Awaitable[Any]]
VERBS: dict[str, Verb] = {
    "claim_tasks": lambda queue, _: claim(queue),
    "start_tasks": lambda queue, held: queue.start_tasks(held),
    "report_progress": lambda queue, held: queue.report_progress(held, [{"done": 0.5}] * len(held)),
    "renew_tasks": lambda queue, held: queue.renew_tasks(held, 2 * HOUR),
    "complete_tasks": lambda queue, held: queue.complete_tasks(held),
    "complete_tasks again": lambda queue, held: twice(queue.complete_tasks, held),
    "fail_tasks": lambda queue, held: queue.fail_tasks(held, ["broken"] * len(held)),
    "release_tasks": lambda queue, held: queue.release_tasks(held),
    "cancel_task claimed": lambda queue, held: queue.cancel_task(held[0].task_id),
    "cancel_task pending": lambda queue, held: queue.cancel_task(held[-1].task_id + 500),
    "ignore_task": lambda queue, held: queue.ignore_task(held[-1].task_id + 500),
    "cancel_tasks": lambda queue, held: queue.cancel_tasks([held[-1].task_id + n for n in range(100)]),
    "ignore_tasks": lambda queue, held: queue.ignore_tasks([held[-1].task_id + n for n in range(100)]),
    "retry_tasks": lambda queue, held: queue.retry_tasks([held[-1].task_id + n for n in range(100)]),
    "submit_tasks": lambda queue, _: queue.submit_tasks(JOB, [{}] * 10),
    "submit_tasks with keys": lambda queue, _: queue.submit_tasks(JOB, [{}] * 2, idempotency_keys=["a", "b"]),
    "submit_tasks for later": lambda queue, _: queue.submit_tasks(JOB, [{}], delay=HOUR),
    "get_task": lambda queue, held: queue.get_task(held[0].task_id),
    "get_task by public id": lambda queue, held: get_by_public_id(queue, held[0].task_id),
    "list_attempts": lambda queue, held: queue.list_attempts(held[0].task_id),
    "list_task_events": lambda queue, held: queue.list_task_events(held[0].task_id),
    "list_tasks": lambda queue, _: queue.list_tasks(),
    "list_tasks of a busy room": lambda queue, _: queue.list_tasks(room="@global"),
    "list_tasks of a quiet room": lambda queue, _: queue.list_tasks(room="quiet"),
    "list_tasks of a busy job": lambda queue, _: queue.list_tasks(job=JOB),
    "list_tasks of a rare job": lambda queue, _: queue.list_tasks(job=RARE),
    "list_tasks of a rare job, completed": lambda queue, _: queue.list_tasks(job=RARE, status="completed"),
    "list_tasks of a rare job, pending": lambda queue, _: queue.list_tasks(job=RARE, status="pending"),
    "list_tasks of an owner in a room": lambda queue, _: queue.list_tasks(room="quiet", owner="ann"),
    "list_tasks of nobody in a room": lambda queue, _: queue.list_tasks(room="quiet", owner="nobody"),
    "list_tasks deep in the past": lambda queue, held: queue.list_tasks(before=held[0].task_id),
    "mark_waiting": lambda queue, _: queue.mark_waiting(in_room="@global"),
    "the view of one task": lambda queue, held: look_at(queue, held[0].task_id),
}
LISTS_OF_A_STATUS: dict[str, Verb] = {
    "list_tasks pending": lambda queue, _: queue.list_tasks(room="@global", status="pending"),
    "list_tasks running": lambda queue, _: queue.list_tasks(room="@global", status="running"),
    "list_tasks completed": lambda queue, _: queue.list_tasks(room="@global", status="completed"),
    "list_tasks failed": lambda queue, _: queue.list_tasks(room="@global", status="failed"),
}
UPKEEP: dict[str, Verb] = {
    "retire_worker": lambda queue, _: hire_and_retire(queue),
    "sweep": lambda queue, _: queue.sweep(),
}


async def twice(verb: Callable[..., Awaitable[Any]], held: list[Lease]) -> None:
    await verb(held)
    await verb(held)


async def get_by_public_id(queue: Queue, task_id: int) -> None:
    connection = queue.driver.connection  # type: ignore[attr-defined]
    public_id = await connection.fetchval("select pgjobs.task_uuid($1)", task_id)
    assert (await queue.get_task(task_uuid=public_id)).id == task_id


async def look_at(queue: Queue, task_id: int) -> None:
    connection = queue.driver.connection  # type: ignore[attr-defined]
    assert await connection.fetchval("select status from pgjobs.task where id = $1", task_id) == "claimed"


async def hire_and_retire(queue: Queue) -> None:
    await queue.register_job("@global", "tests", "Rare")
    worker = await queue.register_worker(jobs=["@global:tests:Rare"])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1


@pytest.fixture(scope="module")
def crowded_url(postgres_server: PostgresServer, migrated_template: NoopExecutor) -> str:
    """Filled once per server, for every worker of pytest; whoever comes second waits."""

    async def make() -> None:
        cluster = await asyncpg.connect(postgres_server.url())
        await cluster.execute("select pg_advisory_lock(2)")
        if not await cluster.fetchval("select exists (select from pg_database where datname = 'crowded')"):
            await cluster.execute(f"create database unfinished template {migrated_template.template_dbname}")
            connection = await asyncpg.connect(postgres_server.url("unfinished"))
            few = max(READY // 10, 2 * BOUNDED)
            await fill(connection, ready=READY, scheduled=few, completed=few)
            await connection.execute("select pgjobs.sweep('rollups')")
            await connection.execute("vacuum analyze")
            await connection.close()
            await cluster.execute("alter database unfinished rename to crowded")
        await cluster.close()

    asyncio.run(make())
    return postgres_server.url("crowded")


@pytest.fixture
async def crowd(crowded_url: str) -> AsyncIterator[Connection]:
    """A session among all these tasks; what it does is rolled back."""
    connection = await asyncpg.connect(crowded_url)
    transaction = connection.transaction()
    await transaction.start()
    yield connection
    await transaction.rollback()
    await connection.close()


async def reads_of(connection: Connection, verb: Verb) -> Reads:
    queue = Queue(BoundDriver(connection))
    await connection.execute("set local statement_timeout = '3s'")
    held = await claim(queue)
    async with reads_counted(connection) as reads:
        await verb(queue, held)
    return reads


async def test_a_verb_that_reads_a_table_from_end_to_end_would_be_noticed(crowd):
    await crowd.execute("set local max_parallel_workers_per_gather = 0")
    async with reads_counted(crowd) as reads:
        await crowd.execute("select count(*) from pgjobs.tasks where payload = 'null'")
    assert reads.scans == {"tasks": 1}
    assert reads.rows["tasks"] > READY


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("verb", VERBS)
async def test_a_verb_reads_few_rows_and_scans_no_table(crowd, verb, scenario):
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    reads = await reads_of(crowd, VERBS[verb])
    assert reads.scans == {}
    assert {table: rows for table, rows in reads.rows.items() if rows > FEW} == {}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("verb", LISTS_OF_A_STATUS)
async def test_a_list_of_one_status_reads_a_bounded_number_of_rows(crowd, verb, scenario):
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    reads = await reads_of(crowd, LISTS_OF_A_STATUS[verb])
    assert {table: rows for table, rows in reads.rows.items() if rows > BOUNDED} == {}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("verb", UPKEEP)
async def test_upkeep_reads_a_bounded_number_of_rows(crowd, verb, scenario):
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    reads = await reads_of(crowd, UPKEEP[verb])
    assert {table: rows for table, rows in reads.rows.items() if rows > BOUNDED} == {}


async def test_plans_made_while_the_tables_were_small_stay_good(database_url):
    early, later = await asyncpg.connect(database_url), await asyncpg.connect(database_url)
    for table in (*BIG_TABLES, "outcomes_from_0"):
        if table != "outcomes":
            await early.execute(f"alter table pgjobs.{table} set (autovacuum_enabled = off)")
    await fill(early, ready=0)
    queue = Queue(BoundDriver(early))
    await queue.submit_tasks(JOB, [{}] * 3_000)
    verbs = {name: verb for name, verb in VERBS.items() if not name.startswith("list_tasks")}
    # Six times each: from then on a session may keep a plan for good.
    for verb in [verb for verb in verbs.values() for _ in range(6)]:
        await verb(queue, await claim(queue))
    await fill(later, ready=20_000, completed=10_000)
    async with early.transaction():
        reads = {name: await reads_of(early, verb) for name, verb in verbs.items()}
    await early.close()
    await later.close()
    assert {name: read.rows for name, read in reads.items() if max(read.rows.values(), default=0) > FEW} == {}


async def test_a_claim_touches_as_few_buffers_among_very_many_as_among_a_thousand(crowd, database_url):
    quiet = await asyncpg.connect(database_url)
    await fill(quiet, ready=0)
    await Queue(BoundDriver(quiet)).submit_tasks(JOB, [{}] * 1_000)
    async with quiet.transaction():
        among_a_thousand = [await buffers_of(quiet, CLAIM) for _ in range(11)]
    among_many = [await buffers_of(crowd, CLAIM) for _ in range(11)]
    await quiet.close()
    assert 0 < median(among_many) <= 2 * median(among_a_thousand)
