"""What a worker runs: one job for each queue of a backend, whose tasks name their function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import close_old_connections
from django.utils import timezone

from pgjobs.contrib.django.backend import CATEGORY, ROOM, PgjobsBackend
from pgjobs.contrib.django.framework import TaskContext as DjangoContext
from pgjobs.contrib.django.framework import TaskResultStatus, normalize_json, signals
from pgjobs.contrib.django.results import task_named
from pgjobs.jobs.context import Abort, TaskContext
from pgjobs.jobs.jobs import Jobs


def jobs_of(backend: PgjobsBackend, queues: Iterable[str] | None = None) -> Jobs:
    """The jobs of a backend's queues, or of some of them."""
    jobs = Jobs(room=ROOM, category=CATEGORY)
    for queue_name in queues or backend.queues:
        jobs.task(name=queue_name, max_attempts=backend.max_attempts)(_handler(backend, queue_name))
    return jobs


def _handler(backend: PgjobsBackend, queue_name: str) -> Any:
    def run(  # what a payload holds
        task: TaskContext,
        function: str,  # noqa: ARG001
        args: list[Any],  # noqa: ARG001
        kwargs: dict[str, Any],  # noqa: ARG001
        priority: int = 0,  # noqa: ARG001
    ) -> Any:
        with connections_cared_for():
            return _run(backend, queue_name, task)

    run.__name__ = queue_name
    return run


def _run(backend: PgjobsBackend, queue_name: str, ours: TaskContext) -> Any:
    payload = ours.payload
    try:
        task = task_named(payload, queue_name, backend.alias)
    except (ImportError, AttributeError) as error:
        raise Abort(f"There is no task {payload['function']}: {error}", kind="payload_invalid") from error
    result = backend.running(ours.id, task)
    # As they were submitted: readers are shown arguments without secrets.
    object.__setattr__(result, "args", payload["args"])
    object.__setattr__(result, "kwargs", payload["kwargs"])
    signals.task_started.send(type(backend), task_result=result)
    context = (DjangoContext(task_result=result),) if task.takes_context else ()
    try:
        returned = normalize_json(task.call(*context, *result.args, **result.kwargs))
    except BaseException:
        if ours.attempt >= ours.max_attempts:
            _finished(backend, result, TaskResultStatus.FAILED)
        raise
    object.__setattr__(result, "_return_value", returned)
    _finished(backend, result, TaskResultStatus.SUCCESSFUL)
    return returned


def _finished(backend: PgjobsBackend, result: Any, status: Any) -> None:
    object.__setattr__(result, "finished_at", timezone.now())
    object.__setattr__(result, "status", status)
    signals.task_finished.send(type(backend), task_result=result)


@contextmanager
def connections_cared_for() -> Iterator[None]:
    """As around a request: a connection that broke, or is too old, is not used again."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()
