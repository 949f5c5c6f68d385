"""A driver that is opened by its first call, so that a manager can be made before the event loop runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pgjobs.drivers import Driver, Row, Wake
from pgjobs.drivers.connect import connect
from pgjobs.settings import Settings


class OpenedLater(Driver):
    """The driver a URL asks for, once somebody needs it."""

    def __init__(self, url: str | None, **options: Any) -> None:
        self.schema: str = options.setdefault("schema", Settings().database_schema)
        self._url = url
        self._options = options
        self._driver: Driver | None = None
        self._opening = asyncio.Lock()

    @property
    def dialect(self) -> str:
        return "sqlite" if (self._url or Settings().url()).startswith("sqlite") else "postgres"

    async def _opened(self) -> Driver:
        async with self._opening:
            if self._driver is None:
                self._driver = await connect(self._url, **self._options)
            return self._driver

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        driver = self._driver or await self._opened()
        return await driver.call(verb, **arguments)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        return await (await self._opened()).listen(channel, wake)

    async def migrate(self) -> None:
        await (await self._opened()).migrate()

    async def close(self) -> None:
        if self._driver is not None:
            await self._driver.close()
