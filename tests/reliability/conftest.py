"""Servers of their own for tests that kill them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.binaries import EmbeddedPostgresError
from tests.reliability.nodes import Pair


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    """A primary with a queue in it, and its synchronous standby."""
    try:
        async with Pair() as pair:
            async with await Queue.connect(pair.url) as queue:
                await queue.migrate()
            yield pair
    except EmbeddedPostgresError as error:
        pytest.skip(str(error))
