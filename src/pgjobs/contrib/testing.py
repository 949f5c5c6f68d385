"""For testing your own tasks: a clock to move, a queue that goes by it, and `drain`.

The fixtures are in `pgjobs.pytest_plugin`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from pgjobs.jobs.context import TaskContext
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.queue import Queue
from pgjobs.worker import Worker


class Clock:
    """Real time plus what the test has advanced."""

    def __init__(self) -> None:
        self.shift = timedelta()
        self._moved: Callable[[timedelta], Awaitable[None]] | None = None

    def now(self) -> datetime:
        return datetime.now(UTC) + self.shift

    async def advance(self, duration: timedelta | None = None, **parts: float) -> None:
        """Moves the queue's time forward: `await pgjobs_clock.advance(hours=1)`."""
        self.shift += timedelta(**parts) if duration is None else duration
        if self._moved is not None:
            await self._moved(self.shift)

    def drives(self, moved: Callable[[timedelta], Awaitable[None]]) -> None:
        self._moved = moved


async def drain(jobs: Jobs, *, queue: Queue | None = None, raise_errors: bool = False) -> int:
    """Runs everything that is due, and what that submits, here and now; how many runs ended or paused.

    With `raise_errors` the first exception of a handler is raised once all have run.
    """
    errors: list[Exception] = []

    async def notice(_task: TaskContext, call_next: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await call_next()
        except Exception as error:
            errors.append(error)
            raise

    worker = Worker(queue or await jobs.queue(), jobs, name="drain", lease=timedelta(hours=1))
    jobs.middleware.append(notice)
    try:
        ended = await worker.run_until_empty()
    finally:
        jobs.middleware.remove(notice)
    if errors and raise_errors:
        raise errors[0]
    return ended


@asynccontextmanager
async def open_queue(url: str, clock: Clock) -> AsyncIterator[Queue]:
    """A migrated queue with this clock. Only for databases that are thrown away."""
    if url.startswith("sqlite"):
        async with await Queue.connect(url, clock=clock.now) as queue:
            await queue.migrate()
            yield queue
        return
    import asyncpg

    connection = await asyncpg.connect(url)

    async def move(shift: timedelta) -> None:
        await connection.execute("update pgjobs.test_clock set shift = $1", shift)

    try:
        clock.drives(move)
        async with await Queue.connect(url, schema="pgjobs") as queue:
            yield queue
    finally:
        await connection.close()
