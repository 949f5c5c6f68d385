"""What the verbs of operators answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.queue.base import JobState, Json, Record, Severity


@dataclass(frozen=True, slots=True)
class Blocker(Record):
    """A row of `blockers`: sessions and slots that keep dead rows from being removed."""

    kind: str
    name: str
    pid: int | None
    state: str | None
    since: datetime | None
    age: timedelta | None
    held_back: int
    advice: str


@dataclass(frozen=True, slots=True)
class ErrorGroup(Record):
    """A row of `errors`: failed attempts by fingerprint."""

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
class FailedTask(Record):
    """A row of `failed`: the newest failed tasks."""

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
class Finding(Record):
    """A row of `findings`: issues found."""

    severity: Severity
    subject: str
    message: str
    advice: str | None


@dataclass(frozen=True, slots=True)
class JobStatus(Record):
    """A row of `jobs_status`: every job with what waits, runs and ended."""

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
class Metric(Record):
    """A row of `list_metrics`: the numbers of every job."""

    domain: str
    queue: str
    job_type: str
    measure: str
    up_to: float | None
    quantity: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Overview(Record):
    """A row of `overview`: the queue in one row."""

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
class ProviderStatus(Record):
    """A row of `providers_status`: registered providers and their answers."""

    provider: str
    content_type: str
    owner: str | None
    worker_id: UUID
    worker: str | None
    is_alive: bool
    heartbeat_age: timedelta
    kept: int | None
    in_flight: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """A row of `why`: why a task is where it is."""

    step: int
    checked: str
    is_ok: bool
    answer: str
    advice: str | None


@dataclass(frozen=True, slots=True)
class Rule(Record):
    """A row of `check`: counts invariant violations; every row should say 0."""

    rule: str
    violations: int


@dataclass(frozen=True, slots=True)
class RunningTask(Record):
    """A row of `running`: claimed and running tasks."""

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
class ScheduledTask(Record):
    """A row of `scheduled_tasks`: the next tasks that become due."""

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
class StuckTask(Record):
    """A row of `stuck`: tasks that should have moved."""

    task_id: int
    job: str
    problem: str
    since: datetime
    advice: str


@dataclass(frozen=True, slots=True)
class TableHealth(Record):
    """A row of `storage`: the health of every table."""

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
class Throughput(Record):
    """A row of `throughput`: throughput: what ended in each minute."""

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
class TopJob(Record):
    """A row of `top`: the busiest jobs on a narrow screen."""

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
class WaitingTask(Record):
    """A row of `waiting`: the first ten due tasks of every lane."""

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
class WorkerStatus(Record):
    """A row of `workers_status`: registered workers and what they hold."""

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
