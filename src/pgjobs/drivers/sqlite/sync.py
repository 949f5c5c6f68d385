"""SQLite for callers without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Self

from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.drivers.sqlite.driver import open_file
from pgjobs.drivers.sqlite.migrations import migrate_sqlite
from pgjobs.drivers.sqlite.session import Clock, Session
from pgjobs.errors import InvalidArgument


class SyncSqliteDriver(Driver):
    """Calls verbs on one connection in the thread that asks, one after the other. `call` never awaits."""

    dialect = "sqlite"

    def __init__(self, session: Session, *, schema: str = "pgjobs") -> None:
        self.schema = schema
        self._session = session
        self._turn = Lock()

    @classmethod
    def connect(cls, url: str, *, schema: str = "pgjobs", clock: Clock | None = None) -> Self:
        return cls(Session(open_file(url), clock), schema=schema)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        with self._turn:
            return self._session.call(verb, arguments)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        raise InvalidArgument(
            "A synchronous queue cannot listen", hint="Use wait_for, or the asynchronous Queue."
        )

    async def migrate(self) -> None:
        with self._turn:
            migrate_sqlite(self._session.connection)

    async def close(self) -> None:
        with self._turn:
            self._session.connection.close()
