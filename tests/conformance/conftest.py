"""The product, on every driver: tests here talk to `Queue` only."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pytest_postgresql.executors import NoopExecutor

from pgjobs.queue.records import Event, Worker
from pgjobs.queue.server import ServerQueue as Queue
from tests.cluster.differences import DIFFERENCES
from tests.cluster.router import NUMBERS, behind_router
from tests.conformance.homes import Clock, Home, PostgresHome, SqliteHome
from tests.databases import Databases
from tests.dav_server import PASSWORD, USER, DavPlace, dav_serving

ReadEvents = Callable[..., Awaitable[list[Event]]]
NothingChanges = Callable[[], AbstractAsyncContextManager[None]]

JOB = "@global:tests:Work"


THROUGH = os.environ.get("PGJOBS_CONFORMANCE_THROUGH")
"""`router`: through a coordinator with three nodes, instead of one database and SQLite."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All on one event loop, so that connections outlive their test: opening one costs more than a test."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    if THROUGH:
        reasons = {name: reason for reason, names in DIFFERENCES.items() for name in names}
        for item in items:
            if reason := reasons.get(item.name.partition("[")[0]):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", params=[THROUGH] if THROUGH else ["postgres", "sqlite"])
def shared_database_url(request: pytest.FixtureRequest) -> str | None:
    """One Postgres database for all tests of a run, or none: SQLite files are made for each test."""
    if request.param in ("postgres", "router"):
        return str(request.getfixturevalue("conformance_database_url"))
    if importlib.util.find_spec("pgjobs.drivers.sqlite.driver") is None:
        pytest.skip("there is no SQLite driver yet")
    return None


@pytest.fixture(scope="session")
def conformance_database_url(databases: Databases, migrated_template: NoopExecutor) -> Iterator[str]:
    # A coordinator is made of an empty database.
    with databases.new() if THROUGH else databases.new(migrated_template.template_dbname) as url:
        yield url


@pytest.fixture(scope="session")
def node_urls(databases: Databases) -> Iterator[dict[int, str]]:
    """Databases for the nodes of a cluster, if tests go through one."""
    with ExitStack() as made:
        yield {number: made.enter_context(databases.new()) for number in NUMBERS} if THROUGH else {}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_home(
    shared_database_url: str | None, node_urls: dict[int, str]
) -> AsyncIterator[PostgresHome | None]:
    if shared_database_url is None:
        yield None
        return
    home = (
        PostgresHome(shared_database_url)
        if THROUGH is None
        else await behind_router(shared_database_url, node_urls)
    )
    await home.open()
    yield home
    # A process that takes over tests of another comes back from SQLite; what is empty then is what it empties.
    await home.empty()
    await home.close()


@pytest.fixture
def own_file_url(request: pytest.FixtureRequest, shared_database_url: str | None) -> str | None:
    return request.getfixturevalue("sqlite_url") if shared_database_url is None else None


@pytest_asyncio.fixture(loop_scope="session")
async def home(shared_home: PostgresHome | None, own_file_url: str | None) -> AsyncIterator[Home]:
    """An empty queue of the test's own."""
    if own_file_url is not None:
        home = SqliteHome(own_file_url)
        await home.open()
        yield home
        await home.close()
    elif shared_home is not None:
        await shared_home.empty()
        yield shared_home


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def queue(home: Home) -> AsyncIterator[Queue]:
    """Whatever the test did, the queue's promises hold afterwards."""
    yield home.queue
    await assert_promises_kept(home)


async def assert_promises_kept(home: Home) -> None:
    rules = await home.checker.check()
    assert len(rules) >= 5
    assert [rule for rule in rules if rule.violations] == []


@pytest.fixture
def clock(home: Home) -> Clock:
    return home.clock


@pytest_asyncio.fixture(loop_scope="session")
async def job(queue: Queue) -> str:
    """Three attempts, 10 s and 20 s apart, no jitter."""
    await queue.register_job(
        *JOB.split(":"), max_attempts=3, backoff_base=timedelta(seconds=10), jitter_share=0.0
    )
    return JOB


@pytest_asyncio.fixture(loop_scope="session")
async def worker(queue: Queue, job: str) -> Worker:
    return await queue.register_worker("tester", jobs=[job])


@pytest.fixture
def read_events(queue: Queue, home: Home) -> ReadEvents:
    """`list_events`, once nothing that runs elsewhere can hide an event."""

    async def read(after: str | None = None, **filters: Any) -> list[Event]:
        await home.settle()
        return await queue.list_events(after, **filters)

    return read


@pytest.fixture
def nothing_changes(queue: Queue, read_events: ReadEvents) -> NothingChanges:
    """A block of refused calls that leave no trace."""

    async def look() -> tuple[Any, ...]:
        return (
            await queue.list_tasks(page_size=500),
            await queue.list_jobs(include_archived=True, page_size=500),
            [(worker.id, worker.job_count) for worker in await queue.list_workers(page_size=500)],
            # A cursor also says when it was read.
            [replace(event, cursor="") for event in await read_events()],
        )

    @asynccontextmanager
    async def unchanged() -> AsyncIterator[None]:
        before = await look()
        yield
        assert await look() == before

    return unchanged


@pytest.fixture(scope="session")
def dav_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DavPlace]:
    root = tmp_path_factory.mktemp("dav")
    with dav_serving(root) as address:
        yield DavPlace(root, address)


@pytest.fixture
def dav(dav_server: DavPlace) -> DavPlace:
    """A directory of the test's own on the WebDAV server."""
    root = Path(tempfile.mkdtemp(dir=dav_server.root))
    return DavPlace(root, f"{dav_server.address}/{root.name}")


@pytest.fixture
def dav_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGJOBS_SECRET_DAV", f"{USER}:{PASSWORD}")
    monkeypatch.setenv("PGJOBS_SECRET_WRONG_ONE", f"{USER}:wrong")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
