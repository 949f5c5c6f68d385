"""A stage for tests that step two transactions by hand."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.postgres.stage import JOB, Stage


@pytest.fixture
async def stage(database_url):
    async with await Queue.connect(database_url) as queue:
        await queue.register_job(*JOB.split(":"), max_attempts=3)
        stage = Stage(database_url, queue, await asyncpg.connect(database_url))
        yield stage
        await stage.close()
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def queue(stage):
    return stage.queue


@pytest.fixture
async def worker(queue):
    return await queue.register_worker(jobs=[JOB])


@pytest.fixture
async def lease(queue):
    """A task held for a minute by somebody who is not registered."""
    await queue.submit_task(JOB)
    return (await queue.claim_tasks(holder="somebody", lease=timedelta(minutes=1), in_room="@global"))[0]


@pytest.fixture
async def first(stage):
    return await stage.enter()


@pytest.fixture
async def second(stage, first):
    return await stage.enter()
