"""What the verbs of cleanups answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from pgjobs.queue.base import CleanupStatus, Json, Record
from pgjobs.queue.behaviours import HeldCleanup


@dataclass(frozen=True, slots=True)
class CleanupEvent(Record):
    """A row of the relation `incomplete_cleanup_events`."""

    run_id: UUID
    seq: int
    ts: datetime
    level: Literal["info", "warn", "error"]
    kind: str
    message: str
    fields_json: Json


@dataclass(frozen=True, slots=True)
class CleanupLease(HeldCleanup, Record):
    """A row of `claim_cleanups`: leases due cleanup tasks."""

    task_id: int
    token: UUID
    attempt: int
    until: datetime
    run_id: UUID
    job: str
    node: str
    target: Json


@dataclass(frozen=True, slots=True)
class CleanupMark(Record):
    """A row of `await_cleanups`: asks for a wake-up when a cleanup is due."""

    mark: int | None
    due_in: timedelta | None


@dataclass(frozen=True, slots=True)
class CleanupNode(Record):
    """A row of `list_cleanup_nodes`: which node cleans up what."""

    node_id: str
    target_type: str
    open: int
    waiting: int
    is_served: bool
    served_by: list[str]
    last_seen_at: datetime | None
    advice: str | None


@dataclass(frozen=True, slots=True)
class CleanupTask(Record):
    """A row of the relation `incomplete_cleanup_tasks`."""

    run_id: UUID
    job_id: UUID
    job_name: str
    node_id: str
    target_type: str
    target_snapshot_json: Json
    status: CleanupStatus
    attempts: int
    created_at: datetime
    updated_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    last_error_kind: str | None
    last_error: str | None
    ignored_at: datetime | None
    ignored_by_user_id: str | None
    ignore_reason: str | None
    task_id: int


@dataclass(frozen=True, slots=True)
class JobTarget(Record):
    """A row of `get_job_target`: where the runs of a job write."""

    job_name: str
    node: str
    job_target: Json
