"""Retention at any size: each batch costs the same, and what becomes old late is found."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.queue import Queue
from tests.postgres.crowd import JOB, buffers_of, fill

DAY = timedelta(days=1)
PRUNE = "select count(*) from pgjobs.prune_tasks(older_than => '0', batch => 100)"


@pytest.fixture
async def connection(database_url):
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def test_a_batch_costs_the_same_after_many_others(connection):
    for table in ("tasks", "outcomes_from_0"):
        await connection.execute(f"alter table pgjobs.{table} set (autovacuum_enabled = off)")
    await fill(connection, ready=0, completed=10_000)
    touched = [await buffers_of(connection, PRUNE) for _ in range(80)]
    # The first plans and has no floor; nothing is vacuumed meanwhile.
    assert max(touched[-10:]) <= 2 * min(touched[1:11])
    assert await connection.fetchval("select count(*) from pgjobs.outcomes") < 2_500


async def test_a_late_ending_below_the_floor_is_pruned_when_asked_for(connection):
    queue = Queue(BoundDriver(connection))
    await queue.register_job(*JOB.split(":"))
    late = (await queue.submit_task(JOB)).task_id
    [held] = await queue.claim_tasks(holder="me", lease=timedelta(hours=1), in_room="@global")
    await queue.submit_task(JOB)
    [lease] = await queue.claim_tasks(holder="me", lease=timedelta(hours=1), in_room="@global")
    await queue.complete_task(lease)
    assert [task.task_id for task in await queue.prune_tasks(older_than=timedelta())] == [lease.task_id]
    await queue.complete_task(held)
    assert [task.task_id for task in await queue.prune_tasks(older_than=timedelta())] == [late]


async def test_a_late_ending_below_the_floor_is_swept_within_the_hour(connection):
    queue = Queue(BoundDriver(connection))
    await queue.register_job(*JOB.split(":"), retain_completed=timedelta(seconds=1))
    for _ in range(2):
        await queue.submit_task(JOB)
    held, lease = await queue.claim_tasks(
        holder="me", lease=timedelta(hours=1), in_room="@global", quantity=2
    )
    await queue.complete_task(lease)
    await advance(connection, timedelta(minutes=1))
    assert [step.changed for step in await queue.sweep("retention")] == [1]
    await queue.complete_task(held)
    await advance(connection, timedelta(minutes=2))
    assert [step.changed for step in await queue.sweep("retention")] == [0]
    await advance(connection, timedelta(minutes=90))
    assert [step.changed for step in await queue.sweep("retention")] == [1]


async def advance(connection, shift):
    await connection.execute("update pgjobs.test_clock set shift = $1", shift)


@pytest.mark.parametrize("tasks", [0, 1, 2, 3, 10])
async def test_the_last_task_before_a_moment_is_found_by_halves(connection, tasks):
    queue = Queue(BoundDriver(connection))
    await queue.register_job(*JOB.split(":"))
    made = []
    for number in range(tasks):
        await advance(connection, number * DAY)
        made.append(await queue.get_task((await queue.submit_task(JOB)).task_id))
    for number, task in enumerate(made):
        found = await connection.fetchval("select pgjobs._last_task_before($1)", task.created_at)
        assert found == (made[number - 1].id if number else task.id - 1)
    everything = await connection.fetchval("select pgjobs._last_task_before('infinity')")
    assert everything == (made[-1].id if made else -1)
