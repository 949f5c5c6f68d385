"""What the verbs of jobs answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from pgjobs.queue.base import Json, Record


@dataclass(frozen=True, slots=True)
class Counted(Record):
    """A row of `count_jobs`: how many jobs are visible from a room."""

    total: int
    relation: Literal["eq", "gte"]


@dataclass(frozen=True, slots=True)
class Job(Record):
    """A row of the relation `job`."""

    id: int
    uuid: UUID
    full_name: str
    room: str
    category: str
    name: str
    schema: Json
    max_attempts: int
    backoff_base: timedelta
    backoff_cap: timedelta
    jitter_share: float
    jitter_cap: timedelta | None
    max_age: timedelta | None
    max_running: int | None
    events: str
    retain_completed: timedelta | None
    retain_failed: timedelta | None
    created_at: datetime
    paused_at: datetime | None
    archived_at: datetime | None
    deleted_at: datetime | None
    keep: bool
    workers: list[UUID]


@dataclass(frozen=True, slots=True)
class JobKey(Record):
    """A row of `list_keys`: the keys of a job: who waits, who runs."""

    key: str
    waiting: int
    running: int
    weight: int
    oldest_due_at: datetime | None
    stopped_by: str | None
    resumes_at: datetime | None
    holders: list[str] | None


@dataclass(frozen=True, slots=True)
class Registration(Record):
    """A row of `register_job`: registers a job."""

    job_id: int
    registered: str
    linked_worker_id: UUID | None


@dataclass(frozen=True, slots=True)
class Sharing(Record):
    """A row of `get_sharing`: how a job shares what it may run."""

    job_id: int
    full_name: str
    max_running: int | None
    max_running_per_key: int | None
    rate: str | None
    rate_per_key: str | None
    fair: bool
    ordered: bool
    on_failure: str
    weights: dict[str, int]
    since: datetime
