"""The verbs of schedules.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.schedules import (
    Schedule,
    ScheduleDocument,
    ScheduleRegistration,
    StartedRun,
)
from pgjobs.queue.base import Json


class ScheduleVerbs:
    """The verbs of schedules."""

    driver: Driver

    async def get_schedule(self, schedule: str) -> ScheduleDocument:
        """One schedule with its payload and next runs."""
        rows = await self.driver.call("get_schedule", schedule=schedule)
        return ScheduleDocument.of(rows[0])

    async def list_schedules(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Schedule]:
        """Schedules, those due next first."""
        rows = await self.driver.call(
            "list_schedules", room=room, job=job, page_size=page_size, page_offset=page_offset
        )
        return Schedule.each(rows)

    async def pause_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        """Pauses a schedule."""
        rows = await self.driver.call("pause_schedule", schedule=schedule, actor=actor, reason=reason)
        return Schedule.of(rows[0])

    async def preview_schedule(
        self,
        cron: str | None = None,
        *,
        every: timedelta | None = None,
        timezone: str | None = None,
        quantity: int | None = None,
    ) -> list[datetime]:
        """When a schedule would run."""
        rows = await self.driver.call(
            "preview_schedule", cron=cron, every=every, timezone=timezone, quantity=quantity
        )
        return [row["run_at"] for row in rows]

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
        """Registers a schedule."""
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

    async def resume_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        """Resumes a schedule."""
        rows = await self.driver.call("resume_schedule", schedule=schedule, actor=actor, reason=reason)
        return Schedule.of(rows[0])

    async def retire_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> None:
        """Removes a schedule."""
        await self.driver.call("retire_schedule", schedule=schedule, actor=actor, reason=reason)

    async def run_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> StartedRun:
        """Runs a schedule now, besides its times."""
        rows = await self.driver.call("run_schedule", schedule=schedule, actor=actor, reason=reason)
        return StartedRun.of(rows[0])
