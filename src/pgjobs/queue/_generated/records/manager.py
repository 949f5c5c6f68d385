"""What the verbs of manager answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.queue.base import GenericStatus, Json, Record, Status
from pgjobs.queue.behaviours import ByColumnName


@dataclass(frozen=True, slots=True)
class BulkResult(Record):
    """A row of `retry_generic_jobs`: has jobs run now."""

    task_id: int | None
    status: Status | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Expired(Record):
    """A row of `expire_generic_jobs`: ends jobs that are too old."""

    task_id: int
    status: str | None


@dataclass(frozen=True, slots=True)
class GenericCompleted(Record):
    """A row of `complete_generic_jobs`: completes jobs under tokens of the application."""

    task_id: int
    status: str | None
    problem: str | None
    is_repeated: bool


@dataclass(frozen=True, slots=True)
class GenericCounted(Record):
    """A row of `summarize_generic_jobs`: how many jobs there are, by type, owner and status."""

    domain: str
    queue: str
    job_type: str
    owner_user_id: str | None
    status: str
    quantity: int
    scheduled: int


@dataclass(frozen=True, slots=True)
class GenericFailed(Record):
    """A row of `fail_generic_jobs`: ends attempts of jobs with an error."""

    task_id: int
    status: str | None
    run_at: datetime | None
    problem: str | None
    is_repeated: bool


@dataclass(frozen=True, slots=True, eq=False)
class GenericJob(ByColumnName, Record):
    """A row of the relation `generic_jobs`."""

    id: int
    uuid: UUID
    domain: str
    queue: str
    job_type: str
    owner_user_id: str | None
    project_id: int | None
    idempotency_key: str | None
    payload: Json
    result: Json
    status: GenericStatus
    priority: int
    max_retries: int
    retry_count: int
    available_at: datetime | None
    leased_until: datetime | None
    lease_id: str | None
    worker_id: str | None
    acquired_at: datetime | None
    error_message: str | None
    last_error: str | None
    cancel_requested_at: datetime | None
    cancelled_at: datetime | None
    cancellation_reason: str | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class GenericMoved(Record):
    """A row of `reschedule_generic_jobs`: gives queued jobs another time."""

    task_id: int
    run_at: datetime


@dataclass(frozen=True, slots=True)
class QueueControl(Record):
    """A row of `control_queue`: pauses or resumes a queue."""

    mode: str | None
    since: datetime | None
    job_types: int
    processing: int


@dataclass(frozen=True, slots=True)
class SuggestedLease(Record):
    """A row of `suggest_lease`: how long leases of such jobs should be."""

    lease: timedelta
