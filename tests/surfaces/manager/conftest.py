"""A job manager on Postgres and on SQLite, awaited and blocking, with a clock that tests can move."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pytest_postgresql.executors import NoopExecutor

from pgjobs import sync
from pgjobs.contrib.manager import JobManager, ManagerSettings
from tests.conformance.homes import Clock, Home, PostgresHome, SqliteHome
from tests.databases import Databases

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All on one event loop, so that connections outlive their test: opening one costs more than a test."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def postgres_home(databases: Databases, migrated_template: NoopExecutor) -> AsyncIterator[PostgresHome]:
    with databases.new(migrated_template.template_dbname) as url:
        home = PostgresHome(url)
        await home.open()
        yield home
        await home.close()


@pytest.fixture(params=["postgres", "sqlite"])
def given_home(request: pytest.FixtureRequest) -> Home:
    """On Postgres one that the tests of a module share, each of which finds it empty."""
    if request.param == "sqlite":
        return SqliteHome(request.getfixturevalue("sqlite_url"))
    home: PostgresHome = request.getfixturevalue("postgres_home")
    return home


@pytest_asyncio.fixture(loop_scope="session")
async def home(given_home: Home) -> AsyncIterator[Home]:
    if isinstance(given_home, PostgresHome):
        await given_home.empty()
        await given_home.clock.advance(-given_home.clock.shift)
    else:
        await given_home.open()
    yield given_home
    assert [rule for rule in await given_home.queue.check() if rule.violations] == []
    if isinstance(given_home, SqliteHome):
        await given_home.close()


@pytest.fixture
def home_url(home: Home) -> str:
    return home.url


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
