"""What goes over the wire."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pgjobs.queue.records import (
    Counted,
    Heartbeat,
    Job,
    Provider,
    ShownStatus,
    TaskAnswer,
    Worker,
    WorkerSummary,
)

Item = TypeVar("Item")
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Category = Annotated[
    str, Field(json_schema_extra={"minLength": 1, "maxLength": 200, "pattern": r"^[^:\x00]+$"})
]
MediaType = Annotated[
    str,
    Field(
        json_schema_extra={
            "maxLength": 200,
            "pattern": r"^[!#$&^_.+a-zA-Z0-9-]+/[!#$&^_.+a-zA-Z0-9-]+"
            r'( *; *[a-zA-Z0-9_.-]+=("[ !#-\[\]-~]*"|[!#-:<-~]+))*$',
        }
    ),
]


def _not_a_text(given: Any) -> Any:
    """JSON has numbers; one in quotes is a text."""
    if isinstance(given, str | bytes | bool):
        raise ValueError("must be a number")
    return given


JSON_NUMBER = BeforeValidator(_not_a_text)
"""After what else is said of a number in a body."""


def either(**kinds: str) -> list[Any]:
    """Alternatives of a JSON Schema: one of these members is there, the others are not, or null."""
    return [
        {
            "required": [name],
            "properties": {each: {"type": kinds[each] if each == name else "null"} for each in kinds},
        }
        for name in kinds
    ]


class Wire(BaseModel):
    """Frozen, and built from its own names."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Page(Wire, Generic[Item]):
    """A part of a list; with `total_relation` gte there are at least `total`."""

    items: list[Item]
    total: int
    total_relation: Literal["eq", "gte"]
    limit: int
    offset: int

    @classmethod
    def of(cls, items: Sequence[Item], counted: Counted, limit: int, offset: int) -> Self:
        return cls(
            items=list(items),
            total=counted.total,
            total_relation=counted.relation,
            limit=limit,
            offset=offset,
        )


class WorkerOut(Wire):
    """A worker."""

    id: UUID
    last_heartbeat: datetime

    @classmethod
    def of(cls, worker: Worker) -> Self:
        return cls(id=worker.id, last_heartbeat=worker.last_heartbeat_at)


class HeartbeatOut(Wire):
    """A worker that is alive; `cancel_requested` are those of its tasks that it should stop."""

    id: UUID
    last_heartbeat: datetime
    cancel_requested: list[UUID]

    @classmethod
    def of(cls, heartbeat: Heartbeat) -> Self:
        return cls(
            id=heartbeat.id,
            last_heartbeat=heartbeat.last_heartbeat_at,
            cancel_requested=heartbeat.cancel_requested,
        )


class WorkerListed(Wire):
    """A worker as lists show it."""

    id: UUID
    last_heartbeat: datetime
    job_count: int

    @classmethod
    def of(cls, worker: WorkerSummary) -> Self:
        return cls(id=worker.id, last_heartbeat=worker.last_heartbeat_at, job_count=worker.job_count)


class JobIn(Wire):
    """A job to register; without a worker, one is created."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "category": "modifiers",
                    "name": "Rotate",
                    "schema": {"properties": {"angle": {"type": "number"}}},
                }
            ]
        }
    )

    category: Category
    name: Name
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")
    worker_id: UUID | None = None


class JobOut(Wire):
    """A job."""

    id: UUID
    room_id: str
    category: str
    name: str
    full_name: str
    schema_: Any = Field(alias="schema")
    workers: list[UUID]
    worker_id: UUID | None = None

    @classmethod
    def of(cls, job: Job, worker_id: UUID | None = None) -> Self:
        return cls(
            id=job.uuid,
            room_id=job.room,
            category=job.category,
            name=job.name,
            full_name=job.full_name,
            schema_=job.schema,
            workers=job.workers,
            worker_id=worker_id,
        )


class JobListed(Wire):
    """A job as lists show it."""

    full_name: str
    category: str
    name: str
    workers: list[UUID]

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls(full_name=job.full_name, category=job.category, name=job.name, workers=job.workers)


class TaskIn(Wire):
    """What to run a job with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"payload": {"angle": 90}}]})

    payload: dict[str, Any] = Field(default_factory=dict)
    key: str | None = Field(
        default=None, min_length=1, max_length=200, description="What it is grouped by, for limits by key."
    )
    after: list[UUID] | None = Field(
        default=None, max_length=10_000, description="Tasks that have to end before it starts."
    )
    on_failure: Literal["cancel", "run", "hold"] | None = Field(
        default=None, description="What to do if one of those does not complete."
    )


class TaskOut(Wire):
    """A task."""

    id: UUID
    job_name: str
    room_id: str
    status: ShownStatus
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    worker_id: UUID | None
    error: str | None
    payload: Any
    result: Any
    queue_position: int | None

    @classmethod
    def of(cls, task: TaskAnswer) -> Self:
        return cls(
            id=task.uuid,
            job_name=task.job,
            room_id=task.room,
            status=task.status,
            created_at=task.created_at,
            started_at=task.started_at,
            completed_at=task.ended_at,
            worker_id=task.worker_id,
            error=task.error,
            payload=task.payload,
            result=task.result,
            queue_position=task.queue_position,
        )


class ClaimIn(Wire):
    """Who wants a task."""

    worker_id: UUID


class ClaimOut(Wire):
    """The task, or none."""

    task: TaskOut | None


class TaskUpdate(Wire):
    """The new status of a task; `token` may replace the `Lease-Token` header."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "running"}, {"status": "completed", "result": {"ok": True}}]
        }
    )

    status: ShownStatus
    error: str | None = None
    result: Any = None
    token: UUID | None = None


class ProviderIn(Wire):
    """A provider to register; without a worker, one is created."""

    category: Category
    name: Name
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")
    content_type: MediaType = "application/json"
    worker_id: UUID | None = None


class ProviderOut(Wire):
    """A provider."""

    id: UUID
    room_id: str
    category: str
    name: str
    full_name: str
    schema_: Any = Field(alias="schema")
    content_type: str
    worker_id: UUID
    created_at: datetime

    @classmethod
    def of(cls, provider: Provider) -> Self:
        return cls(
            id=provider.id,
            room_id=provider.room,
            category=provider.category,
            name=provider.name,
            full_name=provider.full_name,
            schema_=provider.schema,
            content_type=provider.content_type,
            worker_id=provider.worker_id,
            created_at=provider.created_at,
        )


class ReadPending(Wire):
    """A read that its provider has yet to answer."""

    status: Literal["pending"] = "pending"
    request_hash: str


class ReadAnswer(Wire):
    """An answer in JSON."""

    request_hash: Name
    data: Any


class SessionIn(Wire):
    """What to sign in with: a token, or what a sign-in link holds; else the bearer token of the request."""

    token: str | None = Field(default=None, max_length=10_000)
    sign_in: str | None = Field(default=None, max_length=200)


class SessionOut(Wire):
    """Who is signed in; `csrf_token` is what changes by cookie need as `X-CSRF-Token`."""

    id: str
    is_superuser: bool
    expires_at: datetime | None
    csrf_token: str | None


class Me(Wire):
    """Who the caller is; where rooms are closed, with the rooms they are a member of."""

    id: str
    is_superuser: bool
    rooms: list[str] | None = None


class ProblemKind(Wire):
    """A problem this API knows."""

    id: str
    type: str
    status: int
    title: str
    description: str
