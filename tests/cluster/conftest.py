"""A cluster of one's own, where Debian's packages for it are installed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgjobs import Queue
from tests.cluster.patroni import Cluster, missing


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Three nodes under Patroni, with a queue in them."""
    if packages := missing():
        pytest.skip(f"not installed: {', '.join(packages)}")
    async with Cluster() as cluster:
        async with await Queue.connect(cluster.url) as queue:
            await queue.migrate()
        yield cluster
