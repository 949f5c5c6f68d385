"""Jobs as the console sees them: their status, their limits, and how they share what they may run."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field

from pgjobs.drivers.redaction import redact_schema
from pgjobs.queue.records import Job
from pgjobs.server.api.schemas import JSON_NUMBER, Wire
from pgjobs.server.console_api.schemas import Because, seconds


class JobSeen(Wire):
    """A job with its waiting and running tasks, and those that ended in the last hour."""

    id: UUID
    full_name: str
    room: str
    category: str
    name: str
    schema_: Any = Field(alias="schema")
    state: str
    pause_reason: str | None
    workers: int
    waiting: int
    scheduled: int
    claimed: int
    running: int
    completed_last_hour: int
    failed_last_hour: int
    oldest_wait_seconds: float | None
    max_running: int | None
    max_attempts: int
    backoff_base_seconds: float
    backoff_cap_seconds: float
    events: str
    created_at: datetime

    @classmethod
    def of(cls, job: Job, status: Any) -> Self:
        return cls(
            id=job.uuid,
            full_name=job.full_name,
            room=job.room,
            category=job.category,
            name=job.name,
            schema_=redact_schema(job.schema),
            state=status.state,
            pause_reason=status.pause_reason,
            workers=status.workers,
            waiting=status.waiting,
            scheduled=status.scheduled,
            claimed=status.claimed,
            running=status.running,
            completed_last_hour=status.completed_last_hour,
            failed_last_hour=status.failed_last_hour,
            oldest_wait_seconds=seconds(status.oldest_wait),
            max_running=job.max_running,
            max_attempts=job.max_attempts,
            backoff_base_seconds=job.backoff_base.total_seconds(),
            backoff_cap_seconds=job.backoff_cap.total_seconds(),
            events=job.events,
            created_at=job.created_at,
        )


class LimitWanted(Because):
    """How many tasks of a job may be claimed or running at once; null removes the limit."""

    max_running: Annotated[int, Field(ge=1, le=1_000_000), JSON_NUMBER] | None


class SharingWanted(Because):
    """What of a job's sharing is to change; what is left out stays as it is."""

    max_running_per_key: Annotated[int, Field(ge=0, le=1_000_000), JSON_NUMBER] | None = Field(
        default=None, description="How many tasks of one key may run at once; 0 lifts the limit."
    )
    rate: str | None = Field(
        default=None, max_length=40, description="How many tasks in how long, such as 100/min; none lifts it."
    )
    rate_per_key: str | None = Field(default=None, max_length=40, description="The same of each key.")
    fair: bool | None = Field(default=None, description="Whether keys take turns, by weight.")
    ordered: bool | None = Field(
        default=None, description="Whether tasks of a key run one at a time, in order of submission."
    )
    on_failure: Literal["wait", "skip"] | None = Field(
        default=None, description="Whether an ordered key waits for a task that will be retried."
    )
    weights: dict[str, Annotated[int, Field(ge=1, le=1000), JSON_NUMBER]] | None = Field(
        default=None, description="Tasks in a turn, by key; keys that are left out keep theirs."
    )


class SharingSeen(BaseModel):
    """How a job shares what it may run; without a limit or rate, there is none."""

    full_name: str = Field(description="Full name of the job.")
    max_running: int | None = Field(description="How many tasks of the job may run at once.")
    max_running_per_key: int | None = Field(description="How many tasks of one key may run at once.")
    rate: str | None = Field(description="How many tasks in how long.")
    rate_per_key: str | None = Field(description="The same of each key.")
    fair: bool = Field(description="Whether keys take turns, by weight.")
    ordered: bool = Field(description="Whether tasks of a key run in order of submission.")
    on_failure: str = Field(description="wait or skip.")
    weights: dict[str, int] = Field(description="Tasks in a turn, by key, where not one.")


class KeySeen(BaseModel):
    """A key of a job: who waits, who runs, and what stops it."""

    key: str = Field(description="The key; empty for tasks without one.")
    waiting: int = Field(description="How many of its tasks are due, counted up to 1000.")
    running: int = Field(description="How many of its tasks run, counted up to 1000.")
    weight: int = Field(description="How many tasks it has in a turn.")
    oldest_due_at: datetime | None = Field(description="Since when the first of them is due.")
    stopped_by: str | None = Field(description="Why none can be claimed now: full, rate or order.")
    resumes_at: datetime | None = Field(description="When its rate has room again.")
    holders: list[str] | None = Field(description="Who holds the first of those that run.")
