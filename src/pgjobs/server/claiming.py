"""Claims that wait for work."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from pgjobs.queue.records import ClaimAnswer
from pgjobs.queue.server import ServerQueue
from pgjobs.server.long_poll import Waiters

POLL_SECONDS = 3.0

Claim = Callable[[], Awaitable[ClaimAnswer | None]]
HasLeft = Callable[[], Awaitable[bool]]


async def claim_within(
    seconds: float, worker_id: UUID, claim: Claim, queue: ServerQueue, waiters: Waiters, has_left: HasLeft
) -> ClaimAnswer | None:
    """A task as soon as one is due, or none when the time is over or the caller has left."""
    deadline = time.monotonic() + seconds
    mark: int | None = None
    try:
        while True:
            mark = (await queue.mark_waiting(worker_id, previous=mark, remote=True)).mark
            # A submit that committed before the mark has woken nobody.
            task = await claim()
            left = deadline - time.monotonic()
            if task is not None or left <= 0 or waiters.is_closed:
                return task
            poll = POLL_SECONDS * random.uniform(0.7, 1.3)  # noqa: S311
            await waiters.work_due(mark, min(left, poll))
            # Nobody would run what is claimed for a caller who has left.
            if await has_left():
                return None
    finally:
        if mark is not None:
            await queue.unmark_waiting(mark)
