"""The queue and the job manager for callers without an event loop: the same methods, none of them awaited."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Any, Self

from pgjobs import queue as asynchronous
from pgjobs.contrib import manager
from pgjobs.drivers import Driver
from pgjobs.queue.records import TaskDocument
from pgjobs.queue.run_sync import run
from pgjobs.settings import Settings


class _Blocking:
    """Every coroutine method of what it wraps, blocking. Threads may share it."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def bound_to(self, connection: Any) -> Self:
        """The same in the transaction of the caller's psycopg or sqlite3 connection or SQLAlchemy session."""
        bound = object.__new__(type(self))
        _Blocking.__init__(bound, self._wrapped.bound_to(connection))
        return bound

    def close(self) -> None:
        run(self._wrapped.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._wrapped, name)
        if not inspect.iscoroutinefunction(method):
            raise AttributeError(name)

        @functools.wraps(method)
        def blocking(*args: Any, **kwargs: Any) -> Any:
            return run(method(*args, **kwargs))

        return blocking


class Queue(_Blocking):
    """Every method of `pgjobs.Queue`, blocking. Threads may share it."""

    _wrapped: asynchronous.Queue

    @classmethod
    def connect(cls, url: str | None = None, **options: Any) -> Self:
        return cls(asynchronous.Queue(_driver(url, **options)))

    def wait_for(self, task_id: int, timeout: float | None = None, *, poll: float = 0.25) -> TaskDocument:
        """The task once it has ended, or as it stands when the time is over."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            task = run(self._wrapped.get_task(task_id))
            left = poll if deadline is None else min(poll, deadline - time.monotonic())
            if task.is_ended or left <= 0:
                return task
            time.sleep(left)


class JobManager(_Blocking):
    """Every method of `pgjobs.JobManager`, blocking: over psycopg, or a SQLite file."""

    _wrapped: manager.JobManager

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: manager.ManagerSettings | None = None,
        on_lost_lease: manager.OnLostLease | None = None,
        **options: Any,
    ) -> None:
        queue = asynchronous.Queue(_driver(url, **options))
        super().__init__(manager.JobManager(queue, settings, on_lost_lease=on_lost_lease))

    @property
    def queue(self) -> Queue:
        return Queue(self._wrapped.queue)

    @property
    def settings(self) -> manager.ManagerSettings:
        return self._wrapped.settings


def _driver(url: str | None, **options: Any) -> Driver:
    settings = Settings()
    url = url or settings.url()
    options.setdefault("schema", settings.database_schema)
    if url.startswith("sqlite"):
        from pgjobs.drivers.sqlite.sync import SyncSqliteDriver

        return SyncSqliteDriver.connect(url, **options)
    from pgjobs.drivers.psycopg import SyncDriver

    return SyncDriver.connect(url, **options)
