"""A queue on every driver, and jobs to register in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgjobs import Jobs, Queue


@pytest.fixture(params=["postgres", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'queue.db'}"
    database_url: str = request.getfixturevalue("database_url")
    return database_url


@pytest.fixture
async def queue(url: str):
    async with await Queue.connect(url) as queue:
        if url.startswith("sqlite"):
            await queue.migrate()
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)
