"""What enters a lane behind its head is found at once, whatever a session remembers, or is told to remember."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from pgjobs.contrib.manager import JobManager
from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.queue import Queue
from tests.postgres.crowd import Connection

JOB, OTHER = "@global:tests:Work", "@global:tests:Other"
MINUTE = timedelta(minutes=1)
FAR = 99_999_999_999_999
EXPENSIVE = "select pgjobs._floor_set('look_cost', 1000, pgjobs._clock_ms() + 9000)"
"""What a session remembers when looking from the bottom has just taken a second."""


@pytest.fixture
async def session(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def queue(session: Connection) -> Queue:
    queue = Queue(BoundDriver(session))
    for job in (JOB, OTHER):
        await queue.register_job(*job.split(":"))
    return queue


@pytest.fixture
async def elsewhere(database_url: str, queue: Queue) -> AsyncIterator[Queue]:
    connection = await asyncpg.connect(database_url)
    yield Queue(BoundDriver(connection))
    await connection.close()


async def take(queue: Queue) -> int | None:
    leases = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    return leases[0].task_id if leases else None


def ago(**parts: float) -> datetime:
    return datetime.now(UTC) - timedelta(**parts)


@pytest.mark.parametrize("by", ["queue", "elsewhere"])
@pytest.mark.parametrize("job", [JOB, OTHER])
async def test_a_task_submitted_for_the_past_is_next_in_a_session_that_just_looked(queue, elsewhere, by, job):
    waiting = [(await queue.submit_task(job)).task_id for _ in range(3)]
    assert await take(queue) == waiting[0]
    submitter = queue if by == "queue" else elsewhere
    older = await submitter.submit_task(JOB, available_at=ago(hours=1))
    oldest = await submitter.submit_task(JOB, available_at=ago(hours=2))
    assert [await take(queue) for _ in range(4)] == [oldest.task_id, older.task_id, *waiting[1:]]


async def test_a_task_submitted_for_the_past_is_found_where_looking_is_expensive(queue, elsewhere, session):
    await queue.submit_task(JOB)
    assert await take(queue) is not None
    assert await take(queue) is None
    await session.execute(EXPENSIVE)
    older = await elsewhere.submit_task(JOB, available_at=ago(hours=1))
    assert await take(queue) == older.task_id


async def test_the_manager_acquires_a_job_made_available_in_the_past(session):
    manager = JobManager(Queue(BoundDriver(session)))
    named = ("chatbooks", "default", "export")
    await manager.create_job(*named, {}, "ada")
    assert await manager.acquire_next_job("chatbooks", "default", 30, "w") is not None
    assert await manager.acquire_next_job("chatbooks", "default", 30, "w") is None
    await session.execute(EXPENSIVE)
    made = await manager.create_job(*named, {}, "ada", available_at=ago(hours=1))
    acquired = await manager.acquire_next_job("chatbooks", "default", 30, "w")
    assert acquired is not None
    assert acquired.id == made.id


async def test_a_task_given_back_is_next_in_a_session_that_just_looked(queue, elsewhere, session):
    first, second, third = [(await queue.submit_task(JOB)).task_id for _ in range(3)]
    (lease,) = await elsewhere.claim_tasks(holder="other", lease=MINUTE, in_room="@global")
    assert await take(queue) == second
    await session.execute("update pgjobs.test_clock set shift = interval '30 seconds'")
    assert await take(queue) == third
    newer = await queue.submit_task(JOB)
    await elsewhere.release_task(lease)
    assert [await take(queue), await take(queue)] == [first, newer.task_id]


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(f"{FAR}0000/0/{FAR}", id="without when it was noted"),
        pytest.param(f"{FAR}00/0/{FAR}/{FAR}", id="expires in the far future"),
        pytest.param("nonsense", id="no floor at all"),
        pytest.param("9" * 30 + "/0/0/0", id="a number too large"),
        pytest.param("1/2/3", id="too few numbers"),
        pytest.param("////", id="no numbers"),
        pytest.param("", id="reset"),
    ],
)
async def test_a_forged_floor_starves_nobody(queue, session, forged):
    """As a neighbour behind a pooler can leave one."""
    job = (await queue.get_job(JOB)).id
    first = await queue.submit_task(JOB)
    for name in (f"floor_{job}_5", "floor_scheduled", "floor_waiting", "floor_lapsed"):
        await session.execute(f"select set_config('pgjobs.{name}', '{forged}', false)")
    await session.execute(f"select set_config('pgjobs.floor_look_cost', '{FAR}/0/{FAR}/1', false)")
    assert await take(queue) == first.task_id
    delayed = await queue.submit_task(JOB, delay=timedelta(seconds=10))
    await session.execute("update pgjobs.test_clock set shift = interval '20 seconds'")
    assert await take(queue) == delayed.task_id


async def test_a_floor_above_the_present_is_not_believed(queue, session):
    job = (await queue.get_job(JOB)).id
    first = await queue.submit_task(JOB)
    await session.execute(
        f"""
        select pgjobs._floor_set('look_cost', 1000, c.clock + 9000),
          set_config('pgjobs.floor_{job}_5', '{FAR}00/0/' || c.clock + 9000 || '/' || c.clock, false)
        from (select pgjobs._clock_ms() as clock) as c
        """
    )
    assert await take(queue) == first.task_id


@pytest.mark.parametrize("cost", ["nonsense", f"{FAR}/0/{FAR}/1", "9" * 30 + "/0/1/1", ""])
async def test_a_forged_cost_of_looking_hides_nothing(queue, elsewhere, session, cost):
    (late,) = await elsewhere.submit_tasks(JOB, [{}])
    (lease,) = await elsewhere.claim_tasks(holder="other", lease=MINUTE, in_room="@global")
    assert await take(queue) is None
    await session.execute(f"select set_config('pgjobs.floor_look_cost', '{cost}', false)")
    await elsewhere.release_task(lease)
    assert await take(queue) == late.task_id


async def test_one_slow_look_hides_no_late_commit(queue, session, elsewhere):
    """It may have waited for a processor; only the second in a row says that looking is expensive."""
    for looks, found in ((1, True), (2, False)):
        await session.execute("reset all")
        async with elsewhere.driver.connection.transaction():
            late = await elsewhere.submit_task(JOB)
            await session.execute("update pgjobs.test_clock set shift = shift + interval '10 seconds'")
            assert await take(queue) is None
            for _ in range(looks):
                await session.execute("select pgjobs._floor_note_cost(pgjobs._clock_ms() - 500)")
        assert await take(queue) == (late.task_id if found else None)
