"""What is the same in every class for callers without an event loop."""

from __future__ import annotations

from typing import Any, Self

from pgjobs.drivers import Driver
from pgjobs.queue.run_sync import run
from pgjobs.settings import Settings


class Blocking:
    """The methods of what it wraps, blocking. Threads may share it."""

    _wrapped: Any

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def bound_to(self, connection: Any) -> Self:
        """The same in the transaction of the caller's psycopg or sqlite3 connection or SQLAlchemy session."""
        bound = object.__new__(type(self))
        Blocking.__init__(bound, self._wrapped.bound_to(connection))
        return bound

    def close(self) -> None:
        run(self._wrapped.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def driver_for(url: str | None, **options: Any) -> Driver:
    """The driver that a URL asks for, of those that need no event loop."""
    settings = Settings()
    url = url or settings.url()
    options.setdefault("schema", settings.database_schema)
    if url.startswith("sqlite"):
        from pgjobs.drivers.sqlite.sync import SyncSqliteDriver

        return SyncSqliteDriver.connect(url, **options)
    from pgjobs.drivers.psycopg import SyncDriver

    return SyncDriver.connect(url, **options)
