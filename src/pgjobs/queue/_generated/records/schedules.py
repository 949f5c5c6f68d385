"""What the verbs of schedules answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.queue.base import Json, Record
from pgjobs.queue.behaviours import InWords, ScheduleRun


@dataclass(frozen=True, slots=True)
class Fired(Record):
    """A row of `fire_schedules`: runs the schedules that are due."""

    fired: int
    skipped: int
    due_in: timedelta | None


@dataclass(frozen=True, slots=True)
class Schedule(InWords, Record):
    """A row of the relation `schedule`."""

    id: int
    uuid: UUID
    full_name: str
    room: str
    name: str
    job: str
    cron: str | None
    every: timedelta | None
    timezone: str
    priority: int
    max_attempts: int | None
    owner: str | None
    project: str | None
    tags: list[str] | None
    missed: str
    overlap: bool
    created_at: datetime
    paused_at: datetime | None
    next_run_at: datetime | None
    last_run_at: datetime | None
    state: str
    recent: list[ScheduleRun]
    job_id: int
    job_uuid: UUID


@dataclass(frozen=True, slots=True)
class ScheduleRegistration(Record):
    """A row of `register_schedule`: registers a schedule."""

    schedule_id: int
    registered: str


@dataclass(frozen=True, slots=True)
class StartedRun(Record):
    """A row of `run_schedule`: runs a schedule now, besides its times."""

    task_id: int
    task_uuid: UUID


@dataclass(frozen=True, slots=True)
class ScheduleDocument(Schedule):
    """A row of the relation `schedule_document`."""

    payload: Json
    upcoming: list[datetime]
