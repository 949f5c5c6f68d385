"""The pytest plugin: a queue of its own for each test, in a database that is thrown away.

It lives on `--pgjobs-url`, else on an embedded Postgres, else in a SQLite file.
Every pytest run of everybody imports this module, so the rest is imported at first use.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import pytest

if TYPE_CHECKING:
    from pgjobs.contrib.testing import Clock
    from pgjobs.queue.queue import Queue

async_fixture: Any
try:
    from pytest_asyncio import fixture as async_fixture
except ImportError:
    # Then tests open it themselves: `async with pgjobs.testing.open_queue(pgjobs_url, pgjobs_clock)`.
    async_fixture = None

_numbers = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("pgjobs").addoption(
        "--pgjobs-url",
        default=os.environ.get("PGJOBS_TEST_URL"),
        help="Postgres server to create test databases on, or 'sqlite'; else an embedded one is started.",
    )


@pytest.fixture(scope="session")
def pgjobs_server(pytestconfig: pytest.Config) -> Iterator[str | None]:
    """URL of a server with a migrated database `pgjobs_template…`, or None where there is no Postgres."""
    url: str | None = pytestconfig.getoption("--pgjobs-url")
    if url == "sqlite":
        yield None
        return
    if url is not None:
        with _template_on(url):
            yield url
        return
    from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError

    home = Path(tempfile.mkdtemp(prefix="pgjobs-pytest-"))
    home.chmod(0o711)
    try:
        server = EmbeddedPostgres(home / "server", durable=False).start()
    except EmbeddedPostgresError:
        yield None
    else:
        with _template_on(server.url):
            yield server.url
        server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def pgjobs_url(pgjobs_server: str | None, tmp_path: Path) -> Iterator[str]:
    """URL of a queue's migrated database that only this test uses."""
    if pgjobs_server is None:
        url = f"sqlite:///{tmp_path / 'pgjobs.db'}"
        _migrate_file(url)
        yield url
        return
    name = f"pgjobs_test_{os.getpid()}_{next(_numbers)}"
    _execute(pgjobs_server, f"create database {name} template {_template()}")
    yield _database(pgjobs_server, name)
    _execute(pgjobs_server, f"drop database if exists {name} with (force)")


@pytest.fixture
def pgjobs_clock() -> Clock:
    """The clock of this test's queue: `await pgjobs_clock.advance(hours=1)`."""
    from pgjobs.contrib.testing import Clock

    return Clock()


async def _queue(pgjobs_url: str, pgjobs_clock: Clock) -> AsyncIterator[Queue]:
    """A queue that only this test uses. Give it to your jobs: `jobs.use(pgjobs_queue)`."""
    from pgjobs.contrib.testing import open_queue

    async with open_queue(pgjobs_url, pgjobs_clock) as queue:
        yield queue


if async_fixture is not None:
    pgjobs_queue = async_fixture(_queue, name="pgjobs_queue")


@contextmanager
def _template_on(server: str) -> Iterator[None]:
    """A migrated database to clone, while the session lasts."""
    _execute(server, f"drop database if exists {_template()}", f"create database {_template()}")
    _blocking(_install(_database(server, _template())))
    yield
    _execute(server, f"drop database if exists {_template()} with (force)")


def _migrate_file(url: str) -> None:
    from pgjobs.drivers.sqlite.driver import open_file
    from pgjobs.drivers.sqlite.migrations import migrate_sqlite

    with closing(open_file(url)) as connection:
        migrate_sqlite(connection)


async def _install(url: str) -> None:
    import asyncpg

    from pgjobs.schema.migrate import install_test_clock, migrate, read_release

    connection = await asyncpg.connect(url)
    try:
        # Roles belong to the whole server, which may not be ours.
        await migrate(connection, read_release(roles=False))
        await install_test_clock(connection, read_release(roles=False))
    finally:
        await connection.close()


def _template() -> str:
    return f"pgjobs_template_{os.getpid()}"


def _database(server: str, name: str) -> str:
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def _execute(url: str, *statements: str) -> None:
    async def execute() -> None:
        import asyncpg

        connection = await asyncpg.connect(url)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    _blocking(execute())


def _blocking(coroutine: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine to its end, also when a test's event loop runs in this thread already."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(coroutine)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
