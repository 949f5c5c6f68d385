"""What the console receives, over the wire."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    model_validator,
)

from pgjobs.drivers.redaction import redact, redact_document
from pgjobs.queue.records import Attempt, InspectedTask, Provider, ShownWorker, Status, TaskEvent
from pgjobs.queue.room_names import ROOM
from pgjobs.server.api.schemas import Wire, either

Verb = Literal["retry", "cancel", "ignore"]
RedactedDocument = Annotated[Any, AfterValidator(redact_document)]
Redacted = Annotated[str, AfterValidator(redact)]
"""A text that somebody wrote; it may hold what gives access."""
Reason = Annotated[
    str | None, Field(max_length=200, pattern=r"^[^\x00]*$", description="Kept with the task.")
]


def _in_iso_8601(given: Any) -> Any:
    """Numbers would be taken for seconds since 1970, by whoever did not mean that."""
    if isinstance(given, datetime) or (isinstance(given, str) and not _NUMBER.fullmatch(given.strip())):
        return given
    raise ValueError("must be a time in ISO 8601")


_NUMBER = re.compile(r"[-+]?[\d_.]*(e[-+]?\d+)?", re.IGNORECASE)
Moment = Annotated[datetime, BeforeValidator(_in_iso_8601)]


class TaskSeen(Wire):
    """A task as lists show it; `allows` says what an operator may do."""

    id: UUID
    number: int
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
    holder: Redacted | None
    error: str | None
    error_kind: str | None
    progress: RedactedDocument
    cancel_requested_at: datetime | None
    reason: str | None
    submitter: Redacted | None
    owner: Redacted | None
    project: Redacted | None
    tags: list[Redacted] | None
    idempotency_key: Redacted | None
    allows: list[str]


class TasksFound(Wire):
    """A page of tasks; `next` is the `before` of the next page, null at the end."""

    items: list[TaskSeen]
    next: UUID | None
    looked: int | None = Field(description="How many tasks were searched for this page.")
    looked_to: datetime | None = Field(description="When the oldest of them was submitted.")


class Count(Wire):
    """How many; with `total_relation` gte at least so many."""

    total: int
    total_relation: Literal["eq", "gte"]


class TaskInFull(TaskSeen):
    """One task with its payload and result, secrets hidden, and its queue position."""

    payload: Any
    result: Any
    queue_position: int | None
    trace_id: str | None
    trace_url: str | None

    @classmethod
    def of(cls, task: InspectedTask, trace_url: str | None = None) -> Self:
        return cls(
            **task.document,
            payload=task.payload,
            result=task.result,
            queue_position=task.queue_position,
            trace_id=task.trace_id,
            trace_url=trace_url.replace("{trace_id}", task.trace_id) if trace_url and task.trace_id else None,
        )


class AttemptSeen(Wire):
    """An ended attempt."""

    attempt: int
    status: str
    worker_id: UUID | None
    holder: Redacted | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime
    error: str | None
    error_kind: str | None
    reason: str | None

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        return cls.model_validate(attempt, from_attributes=True)


class Attempts(Wire):
    """Every ended attempt of a task, oldest first."""

    items: list[AttemptSeen]


class EventSeen(Wire):
    """An event of a task."""

    seq: int
    at: datetime
    kind: str
    status: str | None
    worker_id: UUID | None
    actor: Redacted | None
    message: str | None
    fields: RedactedDocument

    @classmethod
    def of(cls, event: TaskEvent) -> Self:
        return cls.model_validate(event, from_attributes=True)


class Events(Wire):
    """Events, oldest first; `previous` is the `before` of earlier ones, null at the first."""

    items: list[EventSeen]
    previous: int | None


class Because(Wire):
    """The reason for an action."""

    reason: Reason = None


class CancelWanted(Because):
    """With `force` the task ends now; otherwise cancellation is requested of its worker, if it has one."""

    force: StrictBool = False


class TaskFilter(BaseModel):
    """Filters for tasks; all of them must match."""

    status: Status | None = Field(default=None, description="Only tasks of this status.")
    job: str | None = Field(
        default=None, max_length=700, description="Only tasks of this job, by full name or any part of it."
    )
    room: str | None = Field(
        default=None,
        max_length=200,
        description="Only tasks of this room.",
        json_schema_extra={"pattern": f"^$|{ROOM}"},
    )
    owner: str | None = Field(default=None, max_length=200, description="Only tasks of this owner.")
    since: Moment | None = Field(default=None, description="Only tasks submitted then or later.")
    until: Moment | None = Field(default=None, description="Only tasks submitted before.")
    text: str | None = Field(
        default=None,
        max_length=200,
        description="Only tasks with this text in an error, key, tag, name or id, or with this number.",
    )
    payloads: bool = Field(default=False, description="Also search the payloads, as far as they are shown.")

    def arguments(self) -> dict[str, Any]:
        """As verbs name them; an empty one is none."""
        given = {name: getattr(self, name) or None for name in TaskFilter.model_fields}
        given["matching"] = given.pop("text")
        given["in_payloads"] = given.pop("payloads")
        return given


class Bulk(Wire):
    """An action for the tasks named, or for those that match a filter, a batch at a time."""

    model_config = ConfigDict(json_schema_extra={"oneOf": either(ids="array", filter="object")})

    verb: Verb
    ids: list[UUID] | None = Field(default=None, min_length=1, max_length=500)
    filter: TaskFilter | None = None
    before: UUID | None = Field(default=None, description="Continue with tasks before this one.")
    reason: Reason = None
    dry_run: StrictBool = False

    @model_validator(mode="after")
    def names_its_tasks(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValueError("either ids or a filter must be given")
        return self


class BulkDone(Wire):
    """How many tasks changed and how many were skipped; `next` is the `before` of the next batch."""

    changed: int
    refused: int
    next: UUID | None


class HeldTask(Wire):
    """A task that a worker holds."""

    id: UUID
    job: str
    claimed_at: datetime
    started_at: datetime | None
    attempt: int


class WorkerSeen(Wire):
    """A worker with the first of its jobs and tasks."""

    id: UUID
    name: Redacted | None
    owner: Redacted | None
    registered_at: datetime
    last_heartbeat: datetime
    is_alive: bool
    job_count: int
    jobs: list[str]
    task_count: int
    tasks: list[HeldTask]

    @classmethod
    def of(cls, worker: ShownWorker) -> Self:
        return cls(
            id=worker.id,
            name=worker.name,
            owner=worker.owner,
            registered_at=worker.registered_at,
            last_heartbeat=worker.last_heartbeat_at,
            is_alive=worker.is_alive,
            job_count=worker.job_count,
            jobs=worker.serves,
            task_count=worker.task_count,
            tasks=[HeldTask(**task) for task in worker.holds],
        )


class ProviderSeen(Wire):
    """A provider, whether it is alive, and how many answers are cached and in flight."""

    id: UUID
    full_name: str
    name: str
    content_type: str
    owner: Redacted | None
    worker_id: UUID
    worker_name: Redacted | None
    is_alive: bool
    heartbeat_age_seconds: float
    cached: int | None = Field(description="Null where a standby answers, which has no cache.")
    in_flight: int | None
    created_at: datetime

    @classmethod
    def of(cls, provider: Provider, status: Any) -> Self:
        return cls(
            id=provider.id,
            full_name=provider.full_name,
            name=provider.name,
            content_type=provider.content_type,
            owner=provider.owner,
            worker_id=provider.worker_id,
            worker_name=status.worker,
            is_alive=status.is_alive,
            heartbeat_age_seconds=status.heartbeat_age.total_seconds(),
            cached=status.kept,
            in_flight=status.in_flight,
            created_at=provider.created_at,
        )


class Forgotten(Wire):
    """How many cached answers were removed."""

    forgotten: int


def seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
