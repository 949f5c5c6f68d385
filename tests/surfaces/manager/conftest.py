"""A job manager on Postgres and on SQLite, awaited and blocking, with a clock that tests can move."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pgjobs import sync
from pgjobs.contrib.manager import JobManager, ManagerSettings
from tests.conformance.homes import Clock, Home, PostgresHome, SqliteHome

OpenManager = Callable[..., Any]


class Awaited:
    """A blocking manager as tests call it: each call in a thread."""

    def __init__(self, manager: sync.JobManager) -> None:
        self.manager = manager

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.manager, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(method, *args, **kwargs)

        return call


@pytest.fixture(params=["database_url", "sqlite_url"], ids=["postgres", "sqlite"])
def home_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
async def home(home_url: str) -> AsyncIterator[Home]:
    home: Home = SqliteHome(home_url) if home_url.startswith("sqlite") else PostgresHome(home_url)
    await home.open()
    yield home
    assert [rule for rule in await home.queue.check() if rule.violations] == []
    await home.close()


@pytest.fixture
def clock(home: Home) -> Clock:
    return home.clock


@pytest.fixture(params=["async", "sync"])
def open_manager(request: pytest.FixtureRequest, home: Home) -> OpenManager:
    """Makes a further manager of the same jobs; what it opened is closed with the test."""
    options = {"clock": home.clock.now} if isinstance(home, SqliteHome) else {}

    def open_one(on_lost_lease: Any = None, **settings: Any) -> Any:
        configured = ManagerSettings(**settings)
        if request.param == "async":
            return JobManager(home.queue, configured, on_lost_lease=on_lost_lease)
        manager = sync.JobManager(home.url, settings=configured, on_lost_lease=on_lost_lease, **options)
        request.addfinalizer(manager.close)
        return Awaited(manager)

    return open_one


@pytest.fixture
def manager(open_manager: OpenManager) -> Any:
    return open_manager()
