"""How commands reach several databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from pgjobs.cli.database import drive, opened

if TYPE_CHECKING:
    from pgjobs.queue.cells import Cells
    from pgjobs.queue.server import ServerQueue
    from pgjobs.settings import CellAddress

Result = TypeVar("Result")


_GOODBYE = 5.0
"""Seconds that saying goodbye to a cell may take, which may not be there any more."""


@asynccontextmanager
async def opened_apart(cells: Sequence[CellAddress], **options: Any) -> AsyncIterator[dict[str, ServerQueue]]:
    """The queues of all cells by name, whether they can be reached now or not."""
    async with AsyncExitStack() as stack:
        queues = {}
        for cell in cells:
            opening = opened(cell.url.get_secret_value(), min_size=0, **options)
            queues[cell.name] = await stack.enter_async_context(_briefly_closed(opening))
        yield queues


@asynccontextmanager
async def _briefly_closed(opening: AbstractAsyncContextManager[ServerQueue]) -> AsyncIterator[ServerQueue]:
    import asyncio

    queue = await opening.__aenter__()
    try:
        yield queue
    finally:
        with suppress(Exception):
            async with asyncio.timeout(_GOODBYE):
                await opening.__aexit__(None, None, None)


def with_cells(cells: Sequence[CellAddress], call: Callable[[Cells], Awaitable[Result]]) -> Result:
    """Runs one conversation with several queues."""

    async def run() -> Result:
        from pgjobs.queue.cells import Cells

        async with opened_apart(cells) as queues:
            return await call(Cells(queues))

    return drive(run())
