"""How a command that only looks reaches the database: by a standby, if one is named."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pgjobs.cli.database import drive, opened, settings_of

if TYPE_CHECKING:
    from pgjobs.drivers.postgres.standby import ReadFrom
    from pgjobs.queue.server import ServerQueue

Result = TypeVar("Result")


class Look(NamedTuple):
    """A queue to look at, and who answered last, in words: nothing where there is only one to ask."""

    queue: ServerQueue
    source: Callable[[], str] = str


def with_reader(url: str | None, call: Callable[[Look], Awaitable[Result]]) -> Result:
    """Runs one conversation with the queue, by `PGJOBS_READ_URL` unless a URL says where."""

    async def run() -> Result:
        settings = settings_of(url)
        async with opened(settings.url()) as queue:
            if url is not None or settings.read_url is None or queue.driver.dialect == "sqlite":
                return await call(Look(queue))
            from pgjobs.drivers.postgres.standby import ReadDriver, open_standby
            from pgjobs.queue.server import ServerQueue

            standby = await open_standby(queue.driver, settings)
            await standby.start()
            last: dict[str, ReadFrom] = {}
            reading = ServerQueue(ReadDriver(standby, answered=lambda source: last.update(source=source)))
            try:
                return await call(Look(reading, lambda: last["source"].words if last else ""))
            finally:
                await standby.close()

    return drive(run())
