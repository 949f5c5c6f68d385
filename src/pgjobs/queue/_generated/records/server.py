"""What the verbs of server answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.queue.base import Json, Record, ShownStatus


@dataclass(frozen=True, slots=True)
class ActOnCleanupsResult(Record):
    """A row of `act_on_cleanups`: retries or ignores many cleanups."""

    run_id: UUID
    status: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class Bearer(Record):
    """A row of `verify_token`: the user a token belongs to."""

    user_id: str
    is_superuser: bool
    rooms: list[str] | None


@dataclass(frozen=True, slots=True)
class DatabaseFacts(Record):
    """A row of `show_database`: the database: version, size, settings."""

    schema_name: str
    version: int
    server: str
    total_bytes: int
    notify_queue_share: float | None


@dataclass(frozen=True, slots=True)
class FoundTasks(Record):
    """A row of `find_tasks`: a page of tasks that fit some filters."""

    found: list[Json]
    next: UUID | None
    looked: int
    looked_to: datetime


@dataclass(frozen=True, slots=True)
class InspectWorkerResult(Record):
    """A row of `inspect_worker`: one worker in full."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime
    is_alive: bool
    silent_after: timedelta
    clock_ahead: timedelta
    serves: Json
    holds: Json
    failures: Json
    failures_looked_at: int


@dataclass(frozen=True, slots=True)
class InspectedTask(Record):
    """A row of `inspect_task`: one task as the console shows it."""

    document: Json
    payload: Json
    result: Json
    queue_position: int | None
    trace_id: str


@dataclass(frozen=True, slots=True)
class NewSession(Record):
    """A row of `open_session`: signs a user in."""

    session: str
    user_id: str
    is_superuser: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewToken(Record):
    """A row of `create_token`: creates an API token."""

    id: UUID
    token: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Numbering(Record):
    """A row of `numbering`: what the public ids of this queue are made of."""

    node: int
    key_digest: str


@dataclass(frozen=True, slots=True)
class ReplicationPosition(Record):
    """A row of `replication_position`: how far the log of this server has come."""

    is_standby: bool
    written: int


@dataclass(frozen=True, slots=True)
class RestorePayloadResult(Record):
    """A row of `restore_payload`: an edited payload with hidden secrets put back."""

    job: str
    room: str
    restored: Json


@dataclass(frozen=True, slots=True)
class ShowFindingsResult(Record):
    """A row of `show_findings`: findings with the action that fits."""

    severity: str
    subject: str
    message: str
    advice: str | None
    action: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ShowWhyResult(Record):
    """A row of `show_why`: the checks of pgjobs.why, each with the action that fits."""

    checked: str
    is_ok: bool
    answer: str
    advice: str | None
    action: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ShownWorker(Record):
    """A row of `show_workers`: workers with their jobs and tasks."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime
    is_alive: bool
    job_count: int
    serves: list[str]
    task_count: int
    holds: list[Json]


@dataclass(frozen=True, slots=True)
class SignIn(Record):
    """A row of `create_sign_in`: creates what a one-time sign-in link holds."""

    sign_in: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn(Record):
    """A row of `verify_session`: who is signed in."""

    user_id: str
    is_superuser: bool
    expires_at: datetime
    rooms: list[str] | None


@dataclass(frozen=True, slots=True)
class TaskAnswer(Record):
    """A row of the relation `task_answer`."""

    id: int
    uuid: UUID
    job: str
    room: str
    status: ShownStatus
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    worker_id: UUID | None
    error: str | None
    payload: Json
    result: Json
    queue_position: int | None


@dataclass(frozen=True, slots=True)
class Token(Record):
    """A row of `list_tokens`: aPI tokens."""

    id: UUID
    user_id: str
    name: str | None
    is_superuser: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    rooms: list[str] | None


@dataclass(frozen=True, slots=True)
class ClaimAnswer(TaskAnswer):
    """A row of the relation `claim_answer`."""

    token: UUID
    trace_context: str | None
