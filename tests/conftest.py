"""One Postgres server per run, one freshly cloned database or file per test."""

from __future__ import annotations

import asyncio
import resource
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.factories import postgresql_noproc

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError
from pgjobs.schema.migrate import install_test_clock, migrate, read_release
from tests.databases import Databases
from tests.server import PostgresServer, start_server, stop_server

_SERVER = pytest.StashKey[EmbeddedPostgres]()
_ADDRESS = pytest.StashKey[dict[str, Any]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What only Postgres has is tested there only; what takes long begins first."""
    elsewhere = [item for item in items if item.get_closest_marker("postgres_only") and _is_on_sqlite(item)]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        left_out = set(elsewhere)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def _is_on_sqlite(item: pytest.Item) -> bool:
    chosen = getattr(item, "callspec", None)
    return chosen is not None and not {"sqlite", "sqlite_url"}.isdisjoint(map(str, chosen.params.values()))


_OPEN_FILES = 8192
"""Five hundred long polls have both their ends here, which is more than most logins may open at first."""


def pytest_configure(config: pytest.Config) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    # A run in the background ignores Ctrl-C, and so would every command it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        config.stash[_ADDRESS] = config.workerinput["postgres"]
    elif not config.option.collectonly:
        try:
            server = config.stash[_SERVER] = start_server()
        except EmbeddedPostgresError as error:
            config.stash[_ADDRESS] = {"missing": str(error)}
        else:
            config.stash[_ADDRESS] = {"port": server.port, "password": server.password}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["postgres"] = node.config.stash.get(_ADDRESS, {})


def pytest_unconfigure(config: pytest.Config) -> None:
    if server := config.stash.get(_SERVER, None):
        stop_server(server)


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> PostgresServer:
    address = pytestconfig.stash[_ADDRESS]
    if "missing" in address:
        pytest.skip(address["missing"])
    return PostgresServer(**address)


def _install(*, host: str, port: int, user: str, password: str, dbname: str, **_: Any) -> None:
    async def install() -> None:
        server = PostgresServer(host=host, port=port, user=user, password=password)
        cluster = await asyncpg.connect(server.url())
        template = await asyncpg.connect(server.url(dbname))
        # Roles belong to the whole cluster: workers must not create them at the same time.
        await cluster.execute("select pg_advisory_lock(1)")
        await migrate(template, read_release())
        await install_test_clock(template, read_release())
        await template.close()
        await cluster.close()

    asyncio.run(install())


migrated_template = postgresql_noproc(dbname="pgjobs", depends_on="postgres_server", load=[_install])


@pytest.fixture(scope="session")
def databases(postgres_server: PostgresServer) -> Iterator[Databases]:
    with Databases(postgres_server) as databases:
        yield databases


@pytest.fixture
def database_url(databases: Databases, migrated_template: NoopExecutor) -> Iterator[str]:
    """A migrated database of the test's own, with a clock that tests can move."""
    with databases.new(migrated_template.template_dbname) as url:
        yield url


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """A database of the test's own with nothing in it."""
    with databases.new() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "queue.db"

    async def install() -> None:
        async with await Queue.connect(f"sqlite:///{path}") as queue:
            await queue.migrate()

    asyncio.run(install())
    return path


@pytest.fixture
def sqlite_path(migrated_file: Path, tmp_path: Path) -> Path:
    """A migrated file of the test's own."""
    return Path(shutil.copyfile(migrated_file, tmp_path / "queue.db"))


@pytest.fixture
def sqlite_url(sqlite_path: Path) -> str:
    return f"sqlite:///{sqlite_path}"
