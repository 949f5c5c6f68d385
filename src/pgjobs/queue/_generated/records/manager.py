"""What the verbs of manager answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import GenericStatus, Json, Record
from pgjobs.queue.behaviours import ByColumnName


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
