"""Who is next while others submit and claim at the same time, stepped by hand."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.queue import Queue
from tests.postgres.stage import JOB, Stage

OTHER = "@global:tests:Other"
STILL_CLOCK = """
create or replace function pgjobs._now() returns timestamptz
language sql volatile security definer set search_path = pg_catalog, pgjobs, pg_temp
return timestamptz '2030-01-01' + (select c.shift from pgjobs.test_clock as c)
"""
"""However slow the machine, what happens at once happens at one time; then age decides."""


@pytest.fixture
async def worker(stage: Stage):
    """Claims one task of two jobs at a time, always over the same session, and has found nothing before."""
    await stage.watcher.execute(STILL_CLOCK)
    await stage.queue.register_job(*OTHER.split(":"))
    connection = await asyncpg.connect(stage.url)
    worker = Queue(BoundDriver(connection))
    # Lanes exist once something was submitted.
    await worker.submit_task(JOB)
    await worker.submit_task(OTHER)
    assert len([await claim(worker) for _ in range(3)]) == 3
    yield worker
    await connection.close()


async def submit(queue: Queue, job: str, **options) -> int:
    return (await queue.submit_task(job, **options)).task_id


async def claim(queue: Queue) -> int | None:
    leases = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    return leases[0].task_id if leases else None


@pytest.mark.parametrize("later", [JOB, OTHER])
async def test_a_submit_that_was_on_its_way_during_a_claim_keeps_its_place(
    stage, queue, worker, first, later
):
    older = await submit(first.queue, JOB)
    await stage.advance(milliseconds=20)
    assert await claim(worker) is None
    await first.commit()
    newer = await submit(queue, later)
    assert [await claim(worker), await claim(worker)] == [older, newer]


@pytest.mark.parametrize("later", [JOB, OTHER])
async def test_a_task_older_than_one_taken_while_it_was_on_its_way_is_next(queue, worker, first, later):
    older = await submit(first.queue, JOB)
    taken = await submit(queue, JOB)
    assert await claim(worker) == taken
    await first.commit()
    newer = await submit(queue, later)
    assert [await claim(worker), await claim(worker)] == [older, newer]


async def test_a_late_commit_waits_until_the_floor_expires_or_nothing_else_is_found(
    stage, queue, worker, first
):
    late = await submit(first.queue, JOB)
    await stage.advance(seconds=10)
    assert await claim(worker) is None
    await first.commit()
    newer = await submit(queue, OTHER)
    assert [await claim(worker), await claim(worker)] == [newer, late]


async def test_a_task_whose_claim_was_rolled_back_is_next(queue, worker, first):
    ids = [await submit(queue, job) for job in (JOB, JOB, OTHER)]
    assert await claim(first.queue) == ids[0]
    assert await claim(worker) == ids[1]
    await first.rollback()
    assert [await claim(worker), await claim(worker)] == [ids[0], ids[2]]


@pytest.mark.parametrize("apart", [0, 60])
async def test_a_claim_beside_another_takes_the_best_that_is_left(stage, queue, worker, first, apart):
    ids = []
    for job in (JOB, OTHER, JOB):
        ids.append(await submit(queue, job))
        await stage.advance(seconds=apart)
    assert await claim(first.queue) == ids[0]
    assert [await claim(worker), await claim(worker)] == ids[1:]
    await first.commit()


async def test_a_claim_beside_another_stays_in_a_lane_that_is_better(queue, worker, first):
    ids = [await submit(queue, job) for job in (JOB, JOB, OTHER)]
    assert await claim(first.queue) == ids[0]
    assert [await claim(worker), await claim(worker)] == ids[1:]
    await first.commit()


async def test_a_claim_beside_others_takes_nothing_less_urgent(stage, queue, worker, first, second):
    await submit(queue, JOB, priority=1)
    await submit(queue, OTHER, priority=1)
    urgent = await submit(queue, JOB, priority=1)
    patient = await submit(queue, OTHER)
    assert None not in [await claim(first.queue), await claim(second.queue)]
    assert [await claim(worker), await claim(worker)] == [urgent, patient]
    await first.commit()
    await second.commit()


async def test_a_claim_takes_what_is_left_when_the_best_of_every_lane_is_held(queue, worker, first, second):
    ids = [await submit(queue, job) for job in (JOB, OTHER, JOB)]
    assert [await claim(first.queue), await claim(second.queue)] == ids[:2]
    assert [await claim(worker), await claim(worker)] == [ids[2], None]
    await first.commit()
    await second.commit()


@pytest.mark.parametrize("never", ["-infinity", "infinity"])
async def test_a_time_that_is_none_is_refused_and_stops_nobody(stage, queue, worker, never):
    with pytest.raises(asyncpg.PostgresError, match="available_at must be a time"):
        await stage.watcher.execute(
            "select pgjobs.submit_task($1, available_at => $2::text::timestamptz)", JOB, never
        )
    submitted = await submit(queue, JOB)
    assert await claim(worker) == submitted
