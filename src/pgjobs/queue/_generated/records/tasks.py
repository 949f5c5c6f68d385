"""What the verbs of tasks answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import Json, Record, Status
from pgjobs.queue.behaviours import CanEnd


@dataclass(frozen=True, slots=True)
class Acknowledged(Record):
    """A row of `complete_tasks`: ends tasks successfully."""

    task_id: int
    status: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Attempt(Record):
    """A row of `list_attempts`: every ended attempt of a task."""

    attempt: int
    status: str
    worker_id: UUID | None
    holder: str | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime
    error: str | None
    error_kind: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class BulkResult(Record):
    """A row of `cancel_tasks`: cancels tasks."""

    task_id: int | None
    status: Status | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Failed(Record):
    """A row of `fail_tasks`: ends attempts with an error."""

    task_id: int
    status: str | None
    run_at: datetime | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Lease(Record):
    """A row of `claim_tasks`: leases due tasks."""

    task_id: int
    token: UUID
    job_id: int
    job: str
    room: str
    payload: Json
    priority: int
    attempt: int
    max_attempts: int
    created_at: datetime
    claimed_at: datetime
    until: datetime | None
    submitter: str | None
    owner: str | None
    project: str | None
    tags: list[str] | None
    trace_context: str | None


@dataclass(frozen=True, slots=True)
class LogAnswer(Record):
    """A row of `append_log`: keeps log lines of running tasks."""

    task_id: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class LogLine(Record):
    """A row of `list_log`: the log lines of a task."""

    position: int
    attempt: int
    number: int
    at: datetime
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Mark(Record):
    """A row of `mark_waiting`: asks for a wake-up."""

    mark: int
    next_due_at: datetime | None
    has_blocked: bool


@dataclass(frozen=True, slots=True)
class NextPage(Record):
    """A row of `next_cursor`: where a page of a list ended."""

    next: str | None


@dataclass(frozen=True, slots=True)
class Renewed(Record):
    """A row of `renew_tasks`: extends leases."""

    task_id: int
    until: datetime | None
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Reported(Record):
    """A row of `report_progress`: stores the progress that workers report."""

    task_id: int
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Started(Record):
    """A row of `start_tasks`: marks tasks as running."""

    task_id: int
    status: str | None
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Submitted(Record):
    """A row of `submit_tasks`: submits many tasks of one job."""

    task_id: int
    is_new: bool
    item: int


@dataclass(frozen=True, slots=True)
class Task(CanEnd, Record):
    """A row of the relation `task`."""

    id: int
    uuid: UUID
    job: str
    room: str
    status: Status
    phase: str | None
    priority: int
    attempt: int
    max_attempts: int
    created_at: datetime
    due_at: datetime | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    until: datetime | None
    worker_id: UUID | None
    holder: str | None
    error: str | None
    error_kind: str | None
    progress: Json
    cancel_requested_at: datetime | None
    reason: str | None
    submitter: str | None
    owner: str | None
    project: str | None
    tags: list[str] | None
    idempotency_key: str | None
    job_id: int


@dataclass(frozen=True, slots=True)
class TaskEvent(Record):
    """A row of `list_task_events`: the events of a task."""

    seq: int
    at: datetime
    kind: str
    status: str | None
    worker_id: UUID | None
    actor: str | None
    message: str | None
    fields: Json


@dataclass(frozen=True, slots=True)
class UniqueSubmitted(Record):
    """A row of `submit_unique`: submits a task unless one for the same is there."""

    task_id: int
    is_new: bool
    outcome: str


@dataclass(frozen=True, slots=True)
class TaskDocument(Task):
    """A row of the relation `task_document`."""

    payload: Json
    result: Json
