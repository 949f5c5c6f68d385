"""The verbs of schedules: jobs that run by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.cron import words
from pgjobs.queue.records import Json, Record
from pgjobs.queue.server import Counted


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One run: its task and how that stands, or why there is none."""

    due_at: datetime
    task_uuid: UUID | None
    status: str
    reason: str | None
    is_manual: bool

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> Self:
        return cls(
            datetime.fromisoformat(run["due_at"]),
            UUID(run["task_id"]) if run["task_id"] else None,
            run["status"],
            run["reason"],
            run["is_manual"],
        )


@dataclass(frozen=True, slots=True)
class Schedule(Record):
    """When a job runs by itself, and how its last runs went."""

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

    @property
    def words(self) -> str:
        """When it runs, as people say it."""
        return words(self.cron, self.every)


@dataclass(frozen=True, slots=True)
class ScheduleDocument(Schedule):
    """A schedule with its payload and its next five runs."""

    payload: Json
    upcoming: list[datetime]


@dataclass(frozen=True, slots=True)
class ScheduleRegistration(Record):
    """What registering a schedule came to: `registered` is created, changed or unchanged."""

    schedule_id: int
    registered: str


@dataclass(frozen=True, slots=True)
class Fired(Record):
    """How many schedules were run or passed by, and how long it is until the next is due."""

    fired: int
    skipped: int
    due_in: timedelta | None


@dataclass(frozen=True, slots=True)
class StartedRun(Record):
    """The task of a run that somebody asked for."""

    task_id: int
    task_uuid: UUID


def _read(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**row, "recent": [ScheduleRun.of(run) for run in row["recent"]]}


class ScheduleVerbs:
    """The part of `Queue` that knows when jobs run by themselves."""

    driver: Driver

    async def register_schedule(
        self,
        name: str,
        job: str,
        *,
        cron: str | None = None,
        every: timedelta | None = None,
        timezone: str | None = None,
        payload: Json = None,
        room: str | None = None,
        priority: int | None = None,
        max_attempts: int | None = None,
        missed: str | None = None,
        overlap: bool | None = None,
        owner: str | None = None,
        project: str | None = None,
        tags: Sequence[str] | None = None,
        actor: str | None = None,
    ) -> ScheduleRegistration:
        rows = await self.driver.call(
            "register_schedule",
            name=name,
            job=job,
            cron=cron,
            every=every,
            timezone=timezone,
            payload=payload,
            room=room,
            priority=priority,
            max_attempts=max_attempts,
            missed=missed,
            overlap=overlap,
            owner=owner,
            project=project,
            tags=tags,
            actor=actor,
        )
        return ScheduleRegistration.of(rows[0])

    async def get_schedule(self, schedule: str) -> ScheduleDocument:
        return ScheduleDocument.of(_read((await self.driver.call("get_schedule", schedule=schedule))[0]))

    async def list_schedules(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Schedule]:
        rows = await self.driver.call(
            "list_schedules", room=room, job=job, page_size=page_size, page_offset=page_offset
        )
        return [Schedule.of(_read(row)) for row in rows]

    async def count_schedules(self, room: str | None = None, *, job: str | None = None) -> Counted:
        return Counted.of((await self.driver.call("count_schedules", room=room, job=job))[0])

    async def preview_schedule(
        self,
        cron: str | None = None,
        *,
        every: timedelta | None = None,
        timezone: str | None = None,
        quantity: int | None = None,
    ) -> list[datetime]:
        rows = await self.driver.call(
            "preview_schedule", cron=cron, every=every, timezone=timezone, quantity=quantity
        )
        return [row["run_at"] for row in rows]

    async def run_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> StartedRun:
        rows = await self.driver.call("run_schedule", schedule=schedule, actor=actor, reason=reason)
        return StartedRun.of(rows[0])

    async def pause_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        rows = await self.driver.call("pause_schedule", schedule=schedule, actor=actor, reason=reason)
        return Schedule.of(_read(rows[0]))

    async def resume_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        rows = await self.driver.call("resume_schedule", schedule=schedule, actor=actor, reason=reason)
        return Schedule.of(_read(rows[0]))

    async def retire_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> None:
        await self.driver.call("retire_schedule", schedule=schedule, actor=actor, reason=reason)

    async def fire_schedules(self, batch: int | None = None) -> Fired:
        return Fired.of((await self.driver.call("fire_schedules", batch=batch))[0])
