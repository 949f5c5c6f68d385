"""Tasks and attempts of ours as Django's results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.module_loading import import_string

from pgjobs.contrib.django.framework import TaskError, TaskResult, TaskResultStatus
from pgjobs.queue.records import Attempt, TaskDocument

STATUS = {
    "pending": TaskResultStatus.READY,
    "claimed": TaskResultStatus.RUNNING,
    "running": TaskResultStatus.RUNNING,
    "completed": TaskResultStatus.SUCCESSFUL,
    "failed": TaskResultStatus.FAILED,
    "cancelled": TaskResultStatus.FAILED,
    "ignored": TaskResultStatus.FAILED,
}
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?=:|$)", re.MULTILINE)
_OURS = "pgjobs.errors.PgJobsError"


def new_result(task: Any, args: Sequence[Any], kwargs: Mapping[str, Any], backend: str) -> Any:
    """A task that is about to be submitted. Refuses arguments that JSON cannot hold."""
    return TaskResult(
        task=task,
        id="",
        status=TaskResultStatus.READY,
        enqueued_at=None,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=list(args),
        kwargs=dict(kwargs),
        backend=backend,
        errors=[],
        worker_ids=[],
    )


def task_named(payload: Mapping[str, Any], queue_name: str, backend: str) -> Any:
    """The task a payload names, as it was submitted."""
    task = import_string(payload["function"])
    return task.using(queue_name=queue_name, backend=backend, priority=payload.get("priority", 0))


def result_of(document: TaskDocument, attempts: Sequence[Attempt], backend: str, task: Any = None) -> Any:
    """A task as it stands."""
    payload = document.payload
    tried = [attempt for attempt in attempts if attempt.claimed_at is not None]
    starts = [attempt.started_at or attempt.claimed_at for attempt in tried]
    workers = [attempt.worker_id or attempt.holder for attempt in tried]
    if document.claimed_at is not None and document.ended_at is None:
        starts.append(document.started_at or document.claimed_at)
        workers.append(document.worker_id or document.holder)
    result = TaskResult(
        task=task or task_named(payload, document.job.rpartition(":")[2], backend),
        id=str(document.uuid),
        status=STATUS[document.status],
        enqueued_at=document.created_at,
        started_at=starts[0] if starts else None,
        finished_at=document.ended_at,
        last_attempted_at=starts[-1] if starts else None,
        args=payload["args"],
        kwargs=payload["kwargs"],
        backend=backend,
        errors=[_error(attempt.error) for attempt in attempts if attempt.error],
        worker_ids=[str(worker) for worker in workers],
    )
    object.__setattr__(result, "_return_value", document.result)
    return result


def _error(text: str) -> Any:
    summary, _, trace = text.partition("\n\n")
    return TaskError(exception_class_path=_raised(summary), traceback=f"{trace or summary}\n")


def _raised(summary: str) -> str:
    """The class that the first line of an error names; one of ours for what no handler raised."""
    found = _RAISED.match(summary)
    path = "" if found is None else found[0]
    path = path if "." in path else f"builtins.{path}"
    try:
        named = import_string(path)
    except ImportError:
        return _OURS
    return path if isinstance(named, type) and issubclass(named, BaseException) else _OURS
