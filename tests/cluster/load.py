"""Programs that go on submitting, by SQL and over HTTP, whatever happens to the leader."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx

from pgjobs import Queue
from pgjobs.drivers.transient import is_away
from tests.reliability.ledger_worker import record

Submit = Callable[[int], Awaitable[bool]]
"""Submits a number under a key of its own; whether that was acknowledged."""


def by_sql(queue: Queue) -> Submit:
    async def submit(number: int) -> bool:
        try:
            await queue.submit_task(record.address, {"number": number}, idempotency_key=str(number))
        except Exception as error:
            if not is_away(error):
                raise
            return False
        return True

    return submit


def by_http(client: httpx.AsyncClient) -> Submit:
    async def submit(number: int) -> bool:
        room, _, _ = record.address.partition(":")
        try:
            answer = await client.post(
                f"/v1/joblib/rooms/{room}/tasks/{record.address}",
                json={"payload": {"number": number}},
                headers={"Idempotency-Key": str(number)},
            )
        except httpx.HTTPError:
            return False
        assert answer.status_code in (202, 500, 503), answer.text
        return answer.status_code == 202

    return submit


class Submitters:
    """Each submits one number after the other until it is acknowledged; they share the numbers."""

    def __init__(self, doors: list[Submit], *, pause: float) -> None:
        self.acknowledged: set[int] = set()
        self.gaps: dict[Submit, float] = dict.fromkeys(doors, 0.0)
        self._doors, self._pause = doors, pause
        self._numbers = itertools.count()

    @property
    def longest_gap(self) -> float:
        """For how long the one that waited longest got no acknowledgement."""
        return max(self.gaps.values())

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        stopped = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for door in self._doors:
                group.create_task(self._submit_on(door, stopped))
            try:
                yield
            finally:
                stopped.set()

    async def have_acknowledged(self, count: int, patience: float) -> None:
        async with asyncio.timeout(patience):
            while len(self.acknowledged) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def _submit_on(self, door: Submit, stopped: asyncio.Event) -> None:
        acknowledged_at = time.monotonic()
        while not stopped.is_set():
            number = next(self._numbers)
            while not await door(number):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            self.acknowledged.add(number)
            now = time.monotonic()
            self.gaps[door] = max(self.gaps[door], now - acknowledged_at)
            acknowledged_at = now
            await asyncio.sleep(random.uniform(0, 2 * self._pause))
