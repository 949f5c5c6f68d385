"""A driver in another thread's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pgjobs.drivers.base import Driver, Row, Wake


class BorrowedDriver(Driver):
    """Calls verbs in the event loop of their driver, for those that cannot be opened twice."""

    def __init__(self, driver: Driver, loop: asyncio.AbstractEventLoop) -> None:
        self.schema = driver.schema
        self._driver = driver
        self._loop = loop

    @property
    def dialect(self) -> str:
        return self._driver.dialect

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        call = asyncio.run_coroutine_threadsafe(self._driver.call(verb, **arguments), self._loop)
        return await asyncio.wrap_future(call)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        return await self._driver.listen(channel, wake)

    async def migrate(self) -> None:
        await self._driver.migrate()
