"""A queue in a file of the test's own."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pgjobs.queue.server import ServerQueue as Queue

JOB = "@global:tests:Work"


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def advance(self, **parts: float) -> None:
        self.time += timedelta(**parts)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue.db"


@pytest.fixture
async def queue(sqlite_url: str, clock: Clock) -> AsyncIterator[Queue]:
    async with await Queue.connect(sqlite_url, clock=clock.now) as queue:
        await queue.register_job(*JOB.split(":"), max_attempts=3, jitter_share=0.0)
        yield queue
        assert {rule.violations for rule in await queue.check()} == {0}


@pytest.fixture
def job(queue: Queue) -> str:
    return JOB


@pytest.fixture
def connection(path: Path, queue: Queue) -> Iterator[sqlite3.Connection]:
    """A connection of the caller's own to the queue's file, as Python opens it."""
    connection = sqlite3.connect(path, timeout=0.2)
    yield connection
    connection.close()
