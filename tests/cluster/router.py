"""A coordinator and three nodes, as databases of one server, for tests of the product through a router."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.migrate import install_test_clock, migrate, read_release
from pgjobs.schema.router import cluster
from tests.conformance.homes import PostgresHome

NUMBERS = (1, 2, 3)


async def has_plproxy(url: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetchval(
            "select count(*) from pg_available_extensions where name = 'plproxy'"
        )
        return bool(found)
    finally:
        await connection.close()


async def make_cluster(coordinator_url: str, urls: dict[int, str], *, with_clock: bool = False) -> None:
    """Nodes under their numbers behind a coordinator."""
    release = read_release()
    nodes = []
    for number, url in urls.items():
        connection = await asyncpg.connect(url)
        await migrate(connection, release)
        if with_clock:
            await install_test_clock(connection, release)
        nodes.append((number, connection, cluster.address_of(url, with_password=True)))
    coordinator = await asyncpg.connect(coordinator_url)
    await migrate(coordinator, release)
    if with_clock:
        await install_test_clock(coordinator, release)
    await cluster.init(coordinator, nodes)
    for connection in (coordinator, *(node for _, node, _ in nodes)):
        await connection.close()


class RouterHome(PostgresHome):
    """What tests ask goes through the coordinator; what they arrange reaches every node."""

    def __init__(self, url: str, nodes: dict[int, str]) -> None:
        super().__init__(url)
        self._homes = [PostgresHome(node) for node in nodes.values()]

    async def open(self) -> None:
        await super().open()
        for home in self._homes:
            await home.open()

    async def settle(self) -> None:
        for home in self._homes:
            await home.settle()

    async def execute(self, sql: str) -> None:
        for home in self._homes:
            await home.execute(sql)

    async def empty(self) -> None:
        await self.connection.execute("delete from pgjobs_router.jobs")
        await self.connection.execute("update pgjobs_router.nodes set is_behind = false")
        for home in self._homes:
            await home.empty()

    async def move_clock(self, shift: Any) -> None:
        for home in (self, *self._homes):
            await home.connection.execute("update pgjobs.test_clock set shift = $1", shift)

    async def close(self) -> None:
        for home in self._homes:
            await home.close()
        await super().close()


async def behind_router(url: str, nodes: dict[int, str]) -> RouterHome:
    """A cluster of these databases, or a reason to skip."""
    if not await has_plproxy(url):
        pytest.skip("the server has no PL/Proxy: apt-get install postgresql-15-plproxy")
    await make_cluster(url, nodes, with_clock=True)
    return RouterHome(url, nodes)


@asynccontextmanager
async def behind(url: str) -> AsyncIterator[Queue]:
    """A queue with connections of its own, to a coordinator or to a node."""
    async with await Queue.connect(url, min_size=0, max_size=2) as queue:
        yield queue


def node_of(task_id: int) -> int:
    return task_id >> 44
