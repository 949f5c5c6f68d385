"""Errors in the manager's own words: an argument is called what the caller calls it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pgjobs.errors import InvalidArgument, PgJobsError

_OWN = {
    "holder": "worker_id",
    "task_id": "id",
    "task_ids": "id",
    "task_uuid": "uuid",
    "tokens": "lease_id",
    "lease": "lease_seconds",
    "errors": "error",
    "kinds": "kind",
    "results": "result",
    "page_size": "limit",
    "page_offset": "offset",
    "batch": "limit",
    "in_room": "domain",
    "in_category": "queue",
    "of_status": "status",
    "of_job": "domain:queue:job_type",
}
"""What the verbs of the queue call an argument, and what the manager calls it."""


@contextmanager
def own_words(**further: str) -> Iterator[None]:
    """Renames the argument that a refusal begins with."""
    try:
        yield
    except PgJobsError as error:
        first, space, rest = error.message.partition(" ")
        name = first.removesuffix(":")
        own = {**_OWN, **further}.get(name, name)
        error.message = f"{own}{first[len(name) :]}{space}{rest}"
        error.args = (error.message,)
        raise


def required(**arguments: Any) -> None:
    """Refuses None for what must be given."""
    for name, value in arguments.items():
        if value is None:
            raise InvalidArgument(f"{name} is required")
