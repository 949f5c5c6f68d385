"""Cleaners that only remember, and waiting for real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pgjobs.contrib.cleanup import Outcome, Run


async def eventually(holds: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


class Recording:
    """A cleaner that only remembers."""

    def __init__(self, *, pause: float = 0, error: Exception | None = None) -> None:
        self.runs: list[str] = []
        self.error = error
        self._pause = pause

    async def clean(self, run: Run) -> Outcome:
        self.runs.append(run.run_id)
        await asyncio.sleep(self._pause)
        if self.error is not None:
            raise self.error
        return Outcome("deleted")
