"""The nouns: what verbs answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Self
from uuid import UUID

Json = Any
Status = Literal["pending", "claimed", "running", "completed", "failed", "cancelled", "ignored"]


class Record:
    """A frozen dataclass made from a row; columns it does not name are left out."""

    _names: ClassVar[tuple[str, ...]]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        names = cls.__dict__.get("_names")
        if names is None:
            names = cls._names = tuple(field.name for field in fields(cls))  # type: ignore[arg-type]
        return cls(*[row[name] for name in names])


@dataclass(frozen=True, slots=True)
class Job(Record):
    """A registered kind of work."""

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
class Registration(Record):
    """What registering a job came to: `registered` is created, reactivated or unchanged."""

    job_id: int
    registered: str
    linked_worker_id: UUID | None


@dataclass(frozen=True, slots=True)
class Worker(Record):
    """A registered process that claims and sends heartbeats."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime


@dataclass(frozen=True, slots=True)
class WorkerSummary(Record):
    """A worker as lists show it."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime
    job_count: int
    is_alive: bool


@dataclass(frozen=True, slots=True)
class Retirement(Record):
    """What taking a worker away came to."""

    failed: int
    retried: int
    retired_jobs: int


@dataclass(frozen=True, slots=True)
class Submitted(Record):
    """A task's number, and whether this submission made it."""

    task_id: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Lease(Record):
    """One worker's right to one task, with what it needs to do the work."""

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
class Task(Record):
    """One request to run a job once, as it stands now."""

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

    @property
    def is_ended(self) -> bool:
        return self.ended_at is not None


@dataclass(frozen=True, slots=True)
class TaskDocument(Task):
    """A task with its payload and result."""

    payload: Json
    result: Json


@dataclass(frozen=True, slots=True)
class Attempt(Record):
    """One ended attempt."""

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
class Acknowledged(Record):
    """One item of a batch: its status now, or the SQLSTATE of the problem."""

    task_id: int
    status: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Stepped(Record):
    """One task of an operator's step: its status now, and a SQLSTATE if it was left as it is."""

    task_id: int | None
    """None for a public id that this queue never gave out."""
    status: Status | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Started(Record):
    """One item of a start: its status now, and whether its worker should stop."""

    task_id: int
    status: str | None
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Failed(Record):
    """One item of a fail: pending with the time of the next attempt, or how it ended."""

    task_id: int
    status: str | None
    run_at: datetime | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Renewed(Record):
    """One item of a renew: until when, and whether its worker should stop."""

    task_id: int
    until: datetime | None
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Reported(Record):
    """One item of a progress report."""

    task_id: int
    cancel_requested: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Mark(Record):
    """A worker's wish to be woken, and when the next task is due anyway."""

    mark: int
    next_due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Event(Record):
    """A fact that something changed."""

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
class TaskEvent(Record):
    """Something that happened to a task; a later one has a greater `seq`."""

    seq: int
    at: datetime
    kind: str
    status: str | None
    worker_id: UUID | None
    actor: str | None
    message: str | None
    fields: Json


@dataclass(frozen=True, slots=True)
class Swept(Record):
    """What one step of a sweep changed."""

    swept: str
    changed: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Pruned(Record):
    """A task that retention removed, or would remove."""

    task_id: int
    status: str
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Rule(Record):
    """A promise of the schema and how often it is broken."""

    rule: str
    violations: int
