"""Schedules, over the wire."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import ConfigDict, Field, StrictBool

from pgjobs.queue.cron import words
from pgjobs.queue.records import Schedule, ScheduleDocument, ScheduleRun
from pgjobs.queue.room_names import ROOM
from pgjobs.server.api.schemas import JSON_NUMBER, Name, Wire, either
from pgjobs.server.console_api.schemas import Redacted, seconds

Text = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
Cron = Annotated[
    str,
    Field(
        max_length=200,
        description="Cron expression of five fields, or @daily.",
        json_schema_extra={"format": "cron"},
    ),
]
_OFTEN = Field(ge=1, le=366 * 86400, description="Or the interval.", allow_inf_nan=False)
Seconds = Annotated[float, _OFTEN]
Zone = Annotated[
    str,
    Field(
        max_length=200,
        description="Time zone of cron, such as Europe/Berlin; UTC by default.",
        json_schema_extra={"format": "iana-time-zone"},
    ),
]


class ScheduleIn(Wire):
    """A recurring job: what to run, and when, by cron or by interval."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": either(cron="string", every_seconds="number"),
            "examples": [
                {
                    "name": "nightly",
                    "job": "@global:modifiers:Rotate",
                    "cron": "30 2 * * *",
                    "timezone": "Europe/Berlin",
                    "payload": {"angle": 90},
                }
            ],
        }
    )

    name: Name
    job: Annotated[str, Field(max_length=700, description="Address of the job.")]
    room: Annotated[
        str | None,
        Field(
            description="Where its tasks are submitted from; else the job's.",
            json_schema_extra={"pattern": ROOM},
        ),
    ] = None
    cron: Cron | None = None
    every_seconds: Annotated[float, _OFTEN, JSON_NUMBER] | None = None
    timezone: Zone = "UTC"
    payload: dict[str, Any] = Field(default_factory=dict)
    priority: Annotated[
        int, Field(ge=1, le=10, description="Of its tasks, 1 is the most urgent."), JSON_NUMBER
    ] = 5
    max_attempts: Annotated[int, Field(ge=1, le=10_000), JSON_NUMBER] | None = Field(
        default=None, description="Else as the job says."
    )
    missed: Literal["once", "skip", "each"] = Field(
        default="once",
        description="What happens to missed runs: once (one run for all of them), skip or each.",
    )
    overlap: StrictBool = Field(
        default=True, description="Whether a run may begin before the last one has ended."
    )
    owner: Text | None = None
    project: Text | None = None
    tags: list[Text] | None = Field(default=None, max_length=20)
    secrets_of: UUID | None = Field(
        default=None, description="Hidden members of the payload keep the value they have in this schedule."
    )

    def arguments(self) -> dict[str, Any]:
        """As the verb names them."""
        given = {name: getattr(self, name) for name in ScheduleIn.model_fields if name != "secrets_of"}
        given["every"] = duration(given.pop("every_seconds"))
        return given


class RunSeen(Wire):
    """One run: its task and that task's status, or why there is none."""

    due_at: datetime
    task_id: UUID | None
    status: str
    reason: str | None
    is_manual: bool

    @classmethod
    def of(cls, run: ScheduleRun) -> Self:
        return cls(
            due_at=run.due_at,
            task_id=run.task_uuid,
            status=run.status,
            reason=run.reason,
            is_manual=run.is_manual,
        )


class ScheduleSeen(Wire):
    """A schedule with its last ten runs, the newest first; `words` says when it runs as people do."""

    id: UUID
    name: str
    room: str
    full_name: str
    job: str
    job_id: UUID
    cron: str | None
    every_seconds: float | None
    timezone: str
    words: str
    priority: int
    max_attempts: int | None
    missed: str
    overlap: bool
    owner: Redacted | None
    project: Redacted | None
    tags: list[Redacted] | None
    created_at: datetime
    paused_at: datetime | None
    next_run_at: datetime | None
    last_run_at: datetime | None
    state: str
    recent: list[RunSeen]

    @classmethod
    def of(cls, schedule: Schedule, **more: Any) -> Self:
        return cls(
            id=schedule.uuid,
            name=schedule.name,
            room=schedule.room,
            full_name=schedule.full_name,
            job=schedule.job,
            job_id=schedule.job_uuid,
            cron=schedule.cron,
            every_seconds=seconds(schedule.every),
            timezone=schedule.timezone,
            words=schedule.words,
            priority=schedule.priority,
            max_attempts=schedule.max_attempts,
            missed=schedule.missed,
            overlap=schedule.overlap,
            owner=schedule.owner,
            project=schedule.project,
            tags=schedule.tags,
            created_at=schedule.created_at,
            paused_at=schedule.paused_at,
            next_run_at=schedule.next_run_at,
            last_run_at=schedule.last_run_at,
            state=schedule.state,
            recent=[RunSeen.of(run) for run in schedule.recent],
            **more,
        )


class ScheduleInFull(ScheduleSeen):
    """A schedule with its payload, secrets hidden, and its next five runs."""

    payload: Any
    upcoming: list[datetime]

    @classmethod
    def of_document(cls, schedule: ScheduleDocument) -> Self:
        return cls.of(schedule, payload=schedule.payload, upcoming=schedule.upcoming)


class RunStarted(Wire):
    """The task of a run that somebody requested."""

    task_id: UUID


class Preview(Wire):
    """When a schedule would run, in words and as times."""

    words: str
    upcoming: list[datetime]

    @classmethod
    def of(cls, cron: str | None, every: timedelta | None, upcoming: list[datetime]) -> Self:
        return cls(words=words(cron, every), upcoming=upcoming)


def duration(given: float | None) -> timedelta | None:
    return None if given is None else timedelta(seconds=given)
