"""SQLite through the standard library: a whole verb in one hop to the connection's own thread."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Self, TypeVar

from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.drivers.sqlite.listener import Mailbox
from pgjobs.drivers.sqlite.migrations import migrate_sqlite
from pgjobs.drivers.sqlite.session import Clock, Session
from pgjobs.errors import InvalidArgument

log = logging.getLogger("pgjobs.sqlite")

Result = TypeVar("Result")

OLDEST_SQLITE = (3, 37, 0)
BUSY_SECONDS = 10.0
POLL_SECONDS = 0.1


class SqliteDriver(Driver):
    """Calls verbs on one connection, which lives in a thread of its own.

    `clock` replaces the system's clock, for tests. `schema` is there for the
    protocol: a file holds one queue.
    """

    dialect = "sqlite"

    def __init__(self, session: Session, thread: ThreadPoolExecutor, *, schema: str = "pgjobs") -> None:
        self.schema = schema
        self._session = session
        self._thread = thread
        self._mailbox: Mailbox | None = None
        self._wakes: dict[str, set[Wake]] = {}
        self._poller: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, url: str, *, schema: str = "pgjobs", clock: Clock | None = None) -> Self:
        thread = ThreadPoolExecutor(1, thread_name_prefix="pgjobs-sqlite")
        try:
            session = await _in(thread, lambda: Session(open_file(url), clock))
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(session, thread, schema=schema)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._call, loop, verb, arguments)

    def _call(self, loop: asyncio.AbstractEventLoop, verb: str, arguments: dict[str, Any]) -> list[Row]:
        changes = self._session.connection.total_changes
        answer = self._session.call(verb, arguments)
        mailbox = self._mailbox
        if mailbox is not None and self._session.connection.total_changes != changes:
            self._post(loop, mailbox.read())
        return answer

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        wakes = self._wakes.setdefault(channel, set())
        wakes.add(wake)

        def stop() -> None:
            wakes.discard(wake)
            if self._poller is not None and not any(self._wakes.values()):
                self._poller.cancel()
                self._poller = self._mailbox = None

        try:
            await _in(self._thread, self._open_mailbox)
        except BaseException:
            stop()
            raise
        if self._poller is None and wake in wakes:
            loop = asyncio.get_running_loop()
            self._poller = asyncio.create_task(self._poll(loop), name="pgjobs sqlite listener")
        return stop

    def _open_mailbox(self) -> None:
        if self._mailbox is None:
            try:
                self._mailbox = Mailbox(self._session.connection)
            except sqlite3.OperationalError as error:
                self._session.require_current(error)
                raise

    async def _poll(self, loop: asyncio.AbstractEventLoop) -> None:
        """Looks for what other processes have written."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await _in(self._thread, self._look, loop)
            except sqlite3.Error:
                log.exception("cannot look for notifications")

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        mailbox = self._mailbox
        if mailbox is not None:
            self._post(loop, mailbox.read_if_changed())

    def _post(self, loop: asyncio.AbstractEventLoop, news: list[tuple[str, str]]) -> None:
        # Not by the caller of the verb: it may have been cancelled meanwhile.
        if news:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._deliver, news)

    def _deliver(self, news: list[tuple[str, str]]) -> None:
        for channel, payload in news:
            for wake in list(self._wakes.get(channel, ())):
                wake(payload)

    async def migrate(self) -> None:
        await _in(self._thread, migrate_sqlite, self._session.connection)

    async def close(self) -> None:
        if self._poller is not None:
            self._poller.cancel()
            with suppress(asyncio.CancelledError):
                await self._poller
            self._poller = None
        with suppress(RuntimeError):
            await _in(self._thread, self._session.connection.close)
        self._thread.shutdown(wait=False)


class BoundSqliteDriver(Driver):
    """Calls verbs on the caller's own connection, so in the caller's transaction and thread."""

    schema = "pgjobs"
    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection, *, clock: Clock | None = None) -> None:
        self._session = Session(connection, clock)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        return self._session.call_within(verb, arguments)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        raise InvalidArgument(
            "A queue bound to a connection cannot listen", hint="Wait on the unbound queue."
        )

    async def migrate(self) -> None:
        migrate_sqlite(self._session.connection)

    async def close(self) -> None:
        """The connection is the caller's."""


async def _in(thread: ThreadPoolExecutor, function: Callable[..., Result], *arguments: Any) -> Result:
    return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)


def _path_of(url: str) -> str:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, or `sqlite://` for a queue in memory."""
    path = url.partition("://")[2].partition("?")[0]
    if path in ("", "/", "/:memory:", ":memory:"):
        return ":memory:"
    if not path.startswith("/"):
        raise InvalidArgument(
            f"Cannot read {url}",
            hint="Write sqlite:///relative.db or sqlite:////absolute.db, with as many slashes.",
        )
    return path[1:]


def open_file(url: str) -> sqlite3.Connection:
    """A connection as the driver wants it."""
    path = _path_of(url)
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise InvalidArgument(
            f"SQLite {sqlite3.sqlite_version} is too old", hint="pgjobs needs 3.37 or newer."
        )
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        connection.execute("pragma foreign_keys = on")
        # Before anything is written, or it is too late: what is free can then go back to the file system.
        connection.execute("pragma auto_vacuum = incremental")
        connection.execute("pragma journal_mode = wal")
        # With WAL, only full keeps an acknowledged commit through a power failure.
        connection.execute("pragma synchronous = full")
    except sqlite3.OperationalError as error:
        raise InvalidArgument(f"Cannot open {path}: {error}") from error
    return connection
