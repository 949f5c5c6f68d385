"""A queue on every driver, and jobs to register in it."""

from __future__ import annotations

import pytest

from pgjobs import Jobs, Queue


@pytest.fixture(params=["database_url", "sqlite_url"], ids=["postgres", "sqlite"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
async def queue(url: str):
    async with await Queue.connect(url) as queue:
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)
