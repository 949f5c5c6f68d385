"""Somebody who listens over Socket.IO, and waits for what must come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import socketio

from tests.surfaces.rest_server import token_of

Heard = tuple[str, Any]

PATIENCE = 15.0


class Ear:
    """A Socket.IO client that remembers every event."""

    def __init__(self) -> None:
        self.client = socketio.AsyncClient()
        self.heard: list[Heard] = []
        self._news = asyncio.Condition()
        self.client.on("*", self._hear)

    async def _hear(self, name: str, data: Any = None) -> None:
        async with self._news:
            self.heard.append((name, data))
            self._news.notify_all()

    async def ask(self, event: str, **data: Any) -> dict[str, Any]:
        return dict(await self.client.call(event, data))

    async def join(self, *rooms: str) -> None:
        for room in rooms:
            assert await self.ask("join_room", room_id=room) == {"status": "ok"}

    async def until(self, is_enough: Callable[[list[Heard]], Any], patience: float = PATIENCE) -> None:
        """Waits until what was heard is enough."""
        async with self._news:
            try:
                async with asyncio.timeout(patience):
                    await self._news.wait_for(lambda: is_enough(self.heard))
            except TimeoutError:
                raise AssertionError(f"heard only {self.heard}") from None

    async def hears(self, *names: str) -> None:
        await self.until(lambda heard: set(names) <= {name for name, _ in heard})

    def named(self, name: str) -> list[Any]:
        return [data for heard, data in self.heard if heard == name]

    def statuses(self, task_id: str) -> list[str]:
        return [data["status"] for data in self.named("task_status_event") if data["id"] == task_id]

    async def hears_status(self, task_id: str, status: str) -> dict[str, Any]:
        await self.until(lambda _: status in self.statuses(task_id))
        told = self.named("task_status_event")
        return dict(next(data for data in told if (data["id"], data["status"]) == (task_id, status)))


@asynccontextmanager
async def listening(base: str, user: str = "ada", *rooms: str) -> AsyncIterator[Ear]:
    """A connected ear, in these rooms."""
    ear = Ear()
    await ear.client.connect(base, auth={"token": token_of(user)}, transports=["websocket"], wait_timeout=10)
    try:
        await ear.join(*rooms)
        yield ear
    finally:
        await ear.client.disconnect()


async def eventually(look: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Looks until there is something to see; `look` may be a coroutine function."""
    async with asyncio.timeout(patience):
        while True:
            seen = look()
            if asyncio.iscoroutine(seen):
                seen = await seen
            if seen:
                return seen
            await asyncio.sleep(0.02)
