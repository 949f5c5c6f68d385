"""Partitions: made ahead, dropped when empty, never waited for, and missed by nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.migrate import migrate, read_release

JOB = "@global:tests:Parted"
HOUR = timedelta(hours=1)
ROOMY = 250_000

Connection: TypeAlias = "asyncpg.Connection[Any]"


@pytest.fixture
async def psql(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def queue(psql: Connection) -> Queue:
    queue = Queue(BoundDriver(psql))
    await queue.register_job(*JOB.split(":"))
    return queue


async def bounds(psql: Connection, table: str = "outcomes") -> list[tuple[int, int]]:
    rows = await psql.fetch("select lower, upper from pgjobs._partitions() where parent = $1", table)
    return [(row["lower"], row["upper"]) for row in rows if row["lower"] is not None]


async def home_of(psql: Connection, task_id: int) -> str:
    home: str = await psql.fetchval(
        "select tableoid::regclass::text from pgjobs.outcomes where task_id = $1", task_id
    )
    return home


async def jump_to(psql: Connection, number: int, *, sequence: str = "tasks_id_seq") -> None:
    await psql.execute(f"select setval('pgjobs.{sequence}', $1)", number - 1)


async def claimed(queue: Queue, quantity: int = 1) -> list[Any]:
    await queue.submit_tasks(JOB, [{}] * quantity)
    return await queue.claim_tasks(holder="me", lease=HOUR, in_room="@global", quantity=quantity)


async def ended(queue: Queue, quantity: int = 1) -> list[int]:
    leases = await claimed(queue, quantity)
    await queue.complete_tasks(leases)
    return [lease.task_id for lease in leases]


async def sweep_storage(queue: Queue) -> int:
    [swept] = await queue.sweep("storage")
    assert swept.error is None
    return swept.changed


async def test_a_fresh_schema_has_a_partition_in_use_and_one_ahead(psql):
    for table in ("outcomes", "events"):
        assert await bounds(psql, table) == [(0, ROOMY), (ROOMY, 2 * ROOMY)]


@pytest.mark.parametrize(
    ("table", "sequence"), [("outcomes", "tasks_id_seq"), ("events", "events_id_seq")], ids=str
)
async def test_a_sweep_keeps_one_partition_ahead_of_the_numbers(queue, psql, table, sequence):
    assert await sweep_storage(queue) == 0
    await jump_to(psql, ROOMY + 1, sequence=sequence)
    assert await sweep_storage(queue) >= 1
    assert (2 * ROOMY, 3 * ROOMY) in await bounds(psql, table)
    before = await bounds(psql, table)
    await sweep_storage(queue)
    assert (await bounds(psql, table))[-1] == before[-1]


async def test_partitions_grow_with_what_is_kept_so_that_they_stay_few(queue, psql):
    [kept] = await claimed(queue)
    number = 1
    while number < 100_000_000:
        await sweep_storage(queue)
        number = (await bounds(psql))[-1][1] - 1
        await jump_to(psql, number)
        await queue.complete_tasks(await claimed(queue))
    widths = [upper - lower for lower, upper in await bounds(psql)]
    assert widths[0] == ROOMY
    assert widths[-1] > 10_000_000
    assert len(widths) < 60
    await queue.complete_task(kept)
    assert await home_of(psql, kept.task_id) == "pgjobs.outcomes_from_0"


async def test_a_missing_partition_stops_nobody(queue, psql):
    await jump_to(psql, 10 * ROOMY)
    [task_id] = await ended(queue)
    assert await home_of(psql, task_id) == "pgjobs.outcomes_default"
    assert (await queue.get_task(task_id)).status == "completed"
    assert [task.id for task in await queue.list_tasks()] == [task_id]
    assert {rule.violations for rule in await queue.check()} == {0}


async def test_the_next_sweep_begins_above_what_found_no_partition(queue, psql):
    await jump_to(psql, 10 * ROOMY)
    [astray] = await ended(queue)
    assert await sweep_storage(queue) >= 1
    lower, upper = (await bounds(psql))[0]
    assert astray < lower
    await jump_to(psql, lower)
    [task_id] = await ended(queue)
    assert await home_of(psql, task_id) == f"pgjobs.outcomes_from_{lower}"
    assert await home_of(psql, astray) == "pgjobs.outcomes_default"
    assert (upper - lower) >= ROOMY


async def test_retention_drops_a_partition_once_it_is_empty(queue, psql):
    await ended(queue, 500)
    await jump_to(psql, ROOMY + 1)
    await ended(queue, 3)
    size = await psql.fetchval("select pg_total_relation_size('pgjobs.outcomes_from_0')")
    await sweep_storage(queue)
    assert (0, ROOMY) in await bounds(psql)
    while await queue.prune_tasks(older_than=timedelta(), batch=100):
        pass
    before = await disk(psql)
    assert await sweep_storage(queue) == 1
    assert (await bounds(psql))[0][0] == ROOMY
    assert before - await disk(psql) >= size


async def disk(psql: Connection) -> int:
    total: int = await psql.fetchval(
        "select sum(pg_total_relation_size(p.partition::regclass))::bigint"
        " from (select 'pgjobs.' || partition as partition from pgjobs._partitions()) as p"
    )
    return total


async def test_a_partition_stays_while_a_task_of_its_numbers_can_still_end(queue, psql):
    [late] = await claimed(queue)
    await jump_to(psql, ROOMY + 1)
    await ended(queue)
    await sweep_storage(queue)
    assert (0, ROOMY) in await bounds(psql)
    await queue.complete_task(late)
    assert await home_of(psql, late.task_id) == "pgjobs.outcomes_from_0"


async def test_a_partition_that_still_keeps_one_task_stays(queue, psql):
    kept, gone = await ended(queue, 2)
    await queue.register_job("@global", "tests", "Kept", retain_completed=timedelta(0))
    await jump_to(psql, ROOMY + 1)
    await ended(queue)
    await psql.execute("set search_path = pg_catalog, pgjobs, pg_temp")
    await psql.execute("delete from pgjobs.outcomes where task_id = $1", gone)
    await psql.execute("delete from pgjobs.tasks where id = $1", gone)
    await psql.execute("reset search_path")
    await sweep_storage(queue)
    assert (await queue.get_task(kept)).status == "completed"


async def test_events_that_are_kept_no_longer_take_their_partition_along(queue, psql):
    await queue.retire_job(JOB)
    await jump_to(psql, ROOMY + 1, sequence="events_id_seq")
    await queue.register_job(*JOB.split(":"))
    await psql.execute("update pgjobs.test_clock set shift = $1", timedelta(days=8))
    await queue.retire_job(JOB)
    await queue.sweep("retention")
    await sweep_storage(queue)
    assert (await bounds(psql, "events"))[0][0] == ROOMY
    assert [event.kind for event in await queue.list_events()][-1:] == ["job_retired"]
    assert await psql.fetchval("select min(id) from pgjobs.events") > ROOMY


async def test_a_table_in_use_is_not_waited_for(queue, psql, other):
    await ended(queue)
    await jump_to(psql, ROOMY + 1)
    await ended(queue)
    await queue.prune_tasks(older_than=timedelta())
    async with other.transaction():
        await other.execute("lock table pgjobs.outcomes in row exclusive mode")
        await psql.execute("set statement_timeout = '5s'")
        await sweep_storage(queue)
        assert (0, ROOMY) in await bounds(psql)
    assert await sweep_storage(queue) >= 1
    assert (0, ROOMY) not in await bounds(psql)


async def test_two_sweeps_at_once_make_one_partition(queue, psql, other):
    await jump_to(psql, ROOMY + 1)
    async with psql.transaction():
        assert await sweep_storage(queue) >= 1
        made = await bounds(psql)
        assert await sweep_storage(Queue(BoundDriver(other))) == 0
    assert await bounds(psql) == made


async def test_a_partition_made_by_a_sweep_is_guarded_and_explained(queue, psql):
    await jump_to(psql, ROOMY + 1)
    await sweep_storage(queue)
    made = f"outcomes_from_{2 * ROOMY}"
    for change in ("delete from pgjobs.{}", "update pgjobs.{} set status = 'failed'", "truncate pgjobs.{}"):
        with pytest.raises(asyncpg.PostgresError) as refusal:
            await psql.execute(change.format(made))
        assert refusal.value.sqlstate == "PJ020"
    assert await psql.fetchval("select obj_description($1::text::regclass, 'pg_class')", f"pgjobs.{made}")
    missing = await psql.fetchval(
        "select count(*) from pg_attribute where attrelid = $1::text::regclass and attnum > 0"
        " and col_description(attrelid, attnum) is null",
        f"pgjobs.{made}",
    )
    assert missing == 0


async def test_code_is_installed_again_with_partitions_that_sweeps_have_made(queue, psql):
    await jump_to(psql, ROOMY + 1)
    await sweep_storage(queue)
    await migrate(psql, read_release(), recreate=True)
    with pytest.raises(asyncpg.PostgresError) as refusal:
        await psql.execute(f"delete from pgjobs.outcomes_from_{2 * ROOMY}")
    assert refusal.value.sqlstate == "PJ020"


async def test_missing_partitions_are_a_finding_that_a_sweep_mends(queue, psql):
    await jump_to(psql, 10 * ROOMY)
    await ended(queue)
    [found] = [found for found in await queue.findings() if found.subject == "table outcomes"]
    assert (found.severity, found.advice) == ("warning", "select * from pgjobs.sweep('storage')")
    await psql.execute(found.advice)
    assert [found for found in await queue.findings() if found.subject == "table outcomes"] == []


async def test_a_missing_default_partition_is_a_finding_with_the_statement_that_mends_it(queue, psql):
    await psql.execute("drop table pgjobs.outcomes_default")
    [found] = [found for found in await queue.findings() if found.subject == "table outcomes"]
    assert found.severity == "error"
    await psql.execute(found.advice)
    assert [found for found in await queue.findings() if found.subject == "table outcomes"] == []


async def test_a_large_default_partition_is_read_through_only_when_somebody_asks(queue, psql):
    await jump_to(psql, 10 * ROOMY)
    await ended(queue)
    assert await psql.fetchval("select pgjobs._extend_partitions('outcomes', most_bytes => 1)") == 0
    assert await psql.fetchval("select pgjobs._extend_partitions('outcomes')") >= 1


async def test_a_look_at_one_task_opens_its_partition_only(queue, psql):
    await jump_to(psql, ROOMY + 1)
    [task_id] = await ended(queue)
    await psql.execute("set plan_cache_mode = force_generic_plan")
    await psql.execute("prepare look (bigint) as select status from pgjobs.task where id = $1")
    plan = "\n".join(row[0] for row in await psql.fetch(f"explain execute look ({task_id})"))
    assert f"outcomes_from_{ROOMY}" in plan
    assert "outcomes_from_0" not in plan
    assert "outcomes_default" not in plan
