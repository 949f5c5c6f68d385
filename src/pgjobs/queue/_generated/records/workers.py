"""What the verbs of workers answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import Record


@dataclass(frozen=True, slots=True)
class Retirement(Record):
    """A row of `retire_worker`: removes a worker."""

    failed: int
    retried: int
    retired_jobs: int


@dataclass(frozen=True, slots=True)
class Worker(Record):
    """A row of the relation `workers`."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime


@dataclass(frozen=True, slots=True)
class WorkerSummary(Record):
    """A row of `list_workers`: registered workers."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime
    job_count: int
    is_alive: bool
