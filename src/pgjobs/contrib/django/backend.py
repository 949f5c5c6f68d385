"""The backend: a task is submitted on Django's own connection, so in its transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.core import checks
from django.db import connections, transaction

from pgjobs.contrib.django.framework import BaseTaskBackend, TaskResultDoesNotExist, signals
from pgjobs.contrib.django.results import new_result, result_of
from pgjobs.drivers.connect import driver_for_connection
from pgjobs.errors import JobNotFound, TaskNotFound
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Attempt, Submitted, TaskDocument
from pgjobs.queue.run_sync import run
from pgjobs.settings import Settings

Answer = TypeVar("Answer")

ROOM, CATEGORY = "@global", "django"
_MIDDLE, _MOST_URGENT, _LEAST_URGENT = 5, 1, 10
_STEP = 20
"""Django's priorities from -100 to 100, the largest first, share ours from 10 to 1."""


class PgjobsBackend(BaseTaskBackend):
    """Django's tasks in the database they are about.

    OPTIONS: `database` (alias of a database, "default"), `max_attempts` (3).
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, dict(params))
        self.database = str(self.options.get("database", "default"))
        self.max_attempts = int(self.options.get("max_attempts", 3))
        self._known: set[str] = set()

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Submits the task: it exists if and only if the surrounding transaction commits."""
        self.validate_task(task)
        result = new_result(task, args, kwargs, self.alias)
        payload = {"function": task.module_path, "args": result.args, "kwargs": result.kwargs}
        if task.priority:
            payload["priority"] = task.priority
        submitted = self._submit(task, payload)
        document = self._call(lambda queue: run(queue.get_task(submitted.task_id)))
        object.__setattr__(result, "id", str(document.uuid))
        object.__setattr__(result, "enqueued_at", document.created_at)
        signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """How the task stands; raises TaskResultDoesNotExist when there is none, or not one of Django's."""
        try:
            uuid = UUID(str(result_id))
            document, attempts = self._saved(lambda queue: _read(queue, task_uuid=uuid))
        except (ValueError, TaskNotFound):
            raise TaskResultDoesNotExist(result_id) from None
        if not document.job.startswith(f"{ROOM}:{CATEGORY}:"):
            raise TaskResultDoesNotExist(result_id)
        return result_of(document, attempts, self.alias)

    def running(self, task_id: int, task: Any) -> Any:
        """A task that a worker has just begun."""
        document, attempts = self._call(lambda queue: _read(queue, task_id=task_id))
        return result_of(document, attempts, self.alias, task)

    def check(self, **_: Any) -> Iterable[Any]:
        connection = connections[self.database]
        version = getattr(connection, "Database", None)
        if connection.vendor != "postgresql" or getattr(version, "__name__", "") != "psycopg":
            yield checks.Error(
                f"The task backend {self.alias!r} needs Postgres through psycopg 3.",
                hint=f"DATABASES[{self.database!r}] is not that.",
                id="pgjobs.E001",
            )

    def address(self, queue_name: str) -> str:
        """The job that tasks of a queue wait in."""
        return f"{ROOM}:{CATEGORY}:{queue_name}"

    def register(self, queue_name: str) -> None:
        """Makes the job of a queue known to the database."""
        self._call(lambda queue: self._register(queue, queue_name))

    def _register(self, queue: Queue, queue_name: str) -> None:
        from pgjobs.contrib.django.running import jobs_of

        # As a worker registers it, with the same schema and policy.
        [job] = jobs_of(self, [queue_name]).registered.values()
        run(job.register(queue))

    def _submit(self, task: Any, payload: dict[str, Any]) -> Submitted:
        name = task.queue_name

        def submit(queue: Queue) -> Submitted:
            address, path = self.address(name), str(payload["function"])
            return run(
                queue.submit_task(
                    address,
                    payload,
                    priority=_priority(task.priority),
                    available_at=task.run_after,
                    tags=[path[-200:]],
                )
            )

        def submit_first(queue: Queue) -> Submitted:
            self._register(queue, name)
            return submit(queue)

        if name in self._known:
            return self._call(submit)
        try:
            submitted = self._saved(submit)
        except JobNotFound:
            # Not known from now on: the transaction that registers it may be rolled back.
            return self._call(submit_first)
        self._known.add(name)
        return submitted

    def _saved(self, ask: Callable[[Queue], Answer]) -> Answer:
        """The same, leaving the caller's transaction whole when the answer is a refusal."""
        if not connections[self.database].in_atomic_block:
            return self._call(ask)
        with transaction.atomic(using=self.database):
            return self._call(ask)

    def _call(self, ask: Callable[[Queue], Answer]) -> Answer:
        # In the proxy of the thread: each has a connection of its own.
        driver = driver_for_connection(connections[self.database], schema=Settings().database_schema)
        return ask(Queue(driver))


def _read(queue: Queue, **which: Any) -> tuple[TaskDocument, list[Attempt]]:
    document = run(queue.get_task(**which))
    return document, run(queue.list_attempts(document.id))


def _priority(priority: int) -> int:
    return max(_MOST_URGENT, min(_LEAST_URGENT, _MIDDLE - round(priority / _STEP)))
