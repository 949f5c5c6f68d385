"""A queue full of hostile rows, on Postgres: only it stores them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.surfaces.hostile.rows import Scene, stage


@pytest.fixture
def queue_url(database_url: str) -> str:
    return database_url


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def scene(operator: asyncpg.Connection) -> Scene:
    return await stage(operator)
