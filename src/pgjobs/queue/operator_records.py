"""What operators look at: the rows of the views of the same names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from pgjobs.queue.records import Json, Record

Severity = Literal["error", "warning", "info"]
JobState = Literal["open", "paused", "archived"]


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """One check of `why`: ok or not, in words, and what would change it."""

    step: int
    checked: str
    is_ok: bool
    answer: str
    advice: str | None


@dataclass(frozen=True, slots=True)
class Overview(Record):
    """The queue in one row; percentiles are in seconds and of the last hour."""

    at: datetime
    jobs: int
    paused_jobs: int
    workers: int
    silent_workers: int
    waiting: int
    oldest_wait: timedelta | None
    scheduled: int
    claimed: int
    running: int
    overdue: int
    ignored: int
    completed_last_hour: int
    failed_last_hour: int
    cancelled_last_hour: int
    retried_last_hour: int
    completed_per_minute: float
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None


@dataclass(frozen=True, slots=True)
class TopJob(Record):
    """A busy job on a narrow screen; done and failed are per minute."""

    job: str
    state: str
    live: int
    due: int
    oldest: str | None
    later: int
    held: int
    done: float
    failed: float
    wait: str | None
    run: str | None


@dataclass(frozen=True, slots=True)
class JobStatus(Record):
    """A job with what waits, runs and ended."""

    job: str
    state: JobState
    workers: int
    waiting: int
    oldest_wait: timedelta | None
    scheduled: int
    claimed: int
    running: int
    overdue: int
    completed_last_hour: int
    failed_last_hour: int
    cancelled_last_hour: int
    retried_last_hour: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None
    job_id: int
    pause_reason: str | None


@dataclass(frozen=True, slots=True)
class RunningTask(Record):
    """A task in somebody's hands."""

    task_id: int
    job: str
    room: str
    status: str
    phase: str | None
    attempt: int
    max_attempts: int
    worker: str
    held_for: timedelta
    claimed_at: datetime
    started_at: datetime | None
    until: datetime | None
    progress: Json
    cancel_requested_at: datetime | None
    worker_id: UUID | None


@dataclass(frozen=True, slots=True)
class WaitingTask(Record):
    """One of the first due tasks of a lane."""

    job: str
    priority: int
    place: int
    task_id: int
    room: str
    due_at: datetime
    waited: timedelta
    attempt: int
    max_attempts: int
    owner: str | None


@dataclass(frozen=True, slots=True)
class ScheduledTask(Record):
    """A task that becomes due by itself."""

    run_at: datetime
    due_in: timedelta
    task_id: int
    job: str
    room: str
    phase: str
    priority: int
    attempt: int
    max_attempts: int
    error_kind: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class FailedTask(Record):
    """A task that failed for good."""

    task_id: int
    job: str
    room: str
    ended_at: datetime
    attempt: int
    max_attempts: int
    error_kind: str | None
    error: str
    worker_id: UUID | None
    holder: str | None
    owner: str | None
    task_uuid: UUID


@dataclass(frozen=True, slots=True)
class StuckTask(Record):
    """A task that should have moved."""

    task_id: int
    job: str
    problem: str
    since: datetime
    advice: str


@dataclass(frozen=True, slots=True)
class ErrorGroup(Record):
    """Failed attempts of one fingerprint."""

    fingerprint: str
    job: str
    error_kind: str | None
    message: str
    last_hour: int
    last_day: int
    last_week: int
    last_at: datetime
    last_task_id: int


@dataclass(frozen=True, slots=True)
class WorkerStatus(Record):
    """A worker and what it holds."""

    worker_id: UUID
    name: str | None
    owner: str | None
    is_alive: bool
    heartbeat_age: timedelta
    registered_at: datetime
    jobs: int
    claimed: int
    running: int
    overdue: int
    oldest_claim: timedelta | None


@dataclass(frozen=True, slots=True)
class ProviderStatus(Record):
    """A provider and its answers."""

    provider: str
    content_type: str
    owner: str | None
    worker_id: UUID
    worker: str | None
    is_alive: bool
    heartbeat_age: timedelta
    kept: int
    in_flight: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Throughput(Record):
    """What ended in one step of time; percentiles are in seconds."""

    at: datetime
    completed: int
    failed: int
    cancelled: int
    retried: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """Something an operator should look at, and what to run."""

    severity: Severity
    subject: str
    message: str
    advice: str | None


@dataclass(frozen=True, slots=True)
class TableHealth(Record):
    """How a table of the queue is doing."""

    relation: str
    live: int
    dead: int
    dead_share: float | None
    table_bytes: int
    index_bytes: int
    total_bytes: int
    hot_share: float | None
    last_vacuum_at: datetime | None
    last_analyze_at: datetime | None


@dataclass(frozen=True, slots=True)
class Blocker(Record):
    """Somebody who keeps dead rows from being removed."""

    kind: str
    name: str
    pid: int | None
    state: str | None
    since: datetime | None
    age: timedelta | None
    held_back: int
    advice: str
