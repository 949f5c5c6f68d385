"""The queue for callers without an event loop: the same methods, none of them awaited."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

from pgjobs import queue as asynchronous
from pgjobs.drivers.sync import SyncDriver
from pgjobs.models import TaskDocument
from pgjobs.settings import Settings

Result = TypeVar("Result")


class Queue:
    """Every method of `pgjobs.Queue`, blocking. Threads may share it."""

    def __init__(self, queue: asynchronous.Queue) -> None:
        self._queue = queue

    @classmethod
    def connect(cls, url: str | None = None, **options: Any) -> Self:
        settings = Settings()
        options.setdefault("schema", settings.database_schema)
        return cls(asynchronous.Queue(SyncDriver.connect(url or settings.url(), **options)))

    def bound_to(self, connection: Any) -> Queue:
        """The same queue in the transaction of a psycopg connection or a SQLAlchemy session on psycopg."""
        return Queue(self._queue.bound_to(connection))

    def wait_for(self, task_id: int, timeout: float | None = None, *, poll: float = 0.25) -> TaskDocument:
        """The task once it has ended, or as it stands when the time is over."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            task = run(self._queue.get_task(task_id))
            left = poll if deadline is None else min(poll, deadline - time.monotonic())
            if task.is_ended or left <= 0:
                return task
            time.sleep(left)

    def close(self) -> None:
        run(self._queue.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._queue, name)
        if not inspect.iscoroutinefunction(method):
            raise AttributeError(name)

        @functools.wraps(method)
        def blocking(*args: Any, **kwargs: Any) -> Any:
            return run(method(*args, **kwargs))

        return blocking


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Drives a coroutine that never really waits to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: Result = end.value
        return value
    coroutine.close()
    raise RuntimeError("this queue's driver needs an event loop")
