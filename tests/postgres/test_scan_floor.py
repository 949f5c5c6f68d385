"""While a transaction is held open, taken entries cannot be removed; claims must not wade through them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.queue import Queue
from tests.postgres.crowd import CLAIM, COMPLETE, JOB, Connection, buffers_of, fill

DRAINED = 20_000
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Drained:
    """A session that took 20,000 tasks while a snapshot was held, and what its claims cost before."""

    session: Connection
    cost_before: float

    async def cost_now(self) -> float:
        return median([await buffers_of(self.session, CLAIM) for _ in range(21)])


@pytest.fixture
async def drained(database_url: str) -> AsyncIterator[Drained]:
    holder, session = await asyncpg.connect(database_url), await asyncpg.connect(database_url)
    await fill(session, ready=DRAINED + 10_000)
    async with holder.transaction(isolation="repeatable_read", readonly=True):
        await holder.execute("select count(*) from pgjobs.ready")
        cost_before = median([await buffers_of(session, CLAIM) for _ in range(21)])
        await session.execute(COMPLETE.format(batches=DRAINED // 500))
        yield Drained(session, cost_before)
    await holder.close()
    await session.close()


async def test_claims_cost_the_same_after_draining_many_tasks_under_a_long_transaction(drained):
    assert 0 < await drained.cost_now() <= 1.5 * drained.cost_before


async def test_a_session_that_forgets_its_floors_pays_for_every_taken_entry(drained, database_url):
    forgetful = await asyncpg.connect(database_url)
    costs = []
    for _ in range(21):
        await forgetful.execute("reset all")
        costs.append(await buffers_of(forgetful, CLAIM))
    await forgetful.close()
    assert median(costs) > 2 * drained.cost_before


async def test_a_session_that_comes_later_pays_once(drained, database_url):
    newcomer = await asyncpg.connect(database_url)
    first, *others = [await buffers_of(newcomer, CLAIM) for _ in range(21)]
    await newcomer.close()
    assert first > 2 * drained.cost_before
    assert median(others) <= 1.5 * drained.cost_before


async def test_a_task_that_comes_back_below_the_floor_is_found_before_a_claim_answers_nothing(database_url):
    connection, other = await asyncpg.connect(database_url), await asyncpg.connect(database_url)
    queue, elsewhere = Queue(BoundDriver(connection)), Queue(BoundDriver(other))
    await queue.register_job("@global", "tests", "Crowd")
    await queue.submit_tasks(JOB, [{}] * 3)
    (first,) = await elsewhere.claim_tasks(holder="other", lease=MINUTE, in_room="@global")
    assert len(await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=500)) == 2
    assert await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global") == []
    await elsewhere.release_task(first)
    (again,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    assert again.task_id == first.task_id
    await connection.close()
    await other.close()
