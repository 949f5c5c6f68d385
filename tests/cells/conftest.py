"""Two cells: a database each, the second behind a relay that can be closed and opened again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest
from pytest_postgresql.executors import NoopExecutor

from pgjobs.queue.server import ServerQueue
from tests.databases import Databases
from tests.surfaces.processes import free_port
from tests.surfaces.relay import Relay

JOB = "@global:tasks:double"


@dataclass
class TwoCells:
    """`eu` is home, `us` can go away; the queues are ways to both that always work."""

    eu: ServerQueue
    us: ServerQueue
    eu_url: str
    us_url: str
    relay: Relay

    @property
    def urls(self) -> dict[str, str]:
        return {"eu": self.eu_url, "us": self.relay.url}

    @property
    def setting(self) -> str:
        return ",".join(f"{name}={url}" for name, url in self.urls.items())

    async def opened(self, **options: Any) -> dict[str, ServerQueue]:
        """Queues as a program over both cells has them."""
        return {
            name: await ServerQueue.connect(url, min_size=0, **options) for name, url in self.urls.items()
        }


async def _give_ids_of_its_own(url: str) -> None:
    """As `pgjobs migrate` does in an empty database; those of tests are copies of one."""
    connection = await asyncpg.connect(url)
    await connection.execute("select pgjobs._become_node(0, sha256('another'))")
    await connection.close()


@pytest.fixture
async def two(
    databases: Databases, migrated_template: NoopExecutor, database_url: str
) -> AsyncIterator[TwoCells]:
    with databases.new(migrated_template.template_dbname) as other:
        await _give_ids_of_its_own(other)
        async with (
            Relay(other, free_port()) as relay,
            await ServerQueue.connect(database_url) as eu,
            await ServerQueue.connect(other) as us,
        ):
            yield TwoCells(eu, us, database_url, other, relay)


@pytest.fixture
async def both(two: TwoCells) -> AsyncIterator[dict[str, ServerQueue]]:
    """The queues of both cells, as a program over both has them."""
    queues = await two.opened()
    yield queues
    for queue in queues.values():
        await queue.close()
