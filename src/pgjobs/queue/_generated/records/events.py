"""What the verbs of events answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import Json, Record, Status


@dataclass(frozen=True, slots=True)
class Event(Record):
    """A row of `list_events`: events after a cursor."""

    cursor: str
    txid: str
    at: datetime
    kind: str
    task_id: int | None
    task_uuid: UUID | None
    job: str | None
    room: str | None
    status: str | None
    worker_id: UUID | None
    actor: str | None
    message: str | None
    fields: Json


@dataclass(frozen=True, slots=True)
class TrackedTask(Record):
    """A row of `track_tasks`: the status of some tasks."""

    id: int
    phase: str | None
    created_at: datetime
    started_at: datetime | None
    status: Status
    error: str | None
    queue_position: int | None
