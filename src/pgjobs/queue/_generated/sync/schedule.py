"""`ScheduleVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pgjobs.queue._generated.records.schedules import (
    Schedule,
    ScheduleDocument,
    ScheduleRegistration,
    StartedRun,
)
from pgjobs.queue._generated.verbs.schedules import ScheduleVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingScheduleVerbs:
    """The same as `ScheduleVerbs`, blocking."""

    _wrapped: ScheduleVerbs

    def get_schedule(self, schedule: str) -> ScheduleDocument:
        """One schedule with its payload and next runs."""
        return run(self._wrapped.get_schedule(schedule))

    def list_schedules(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Schedule]:
        """Schedules, those due next first."""
        return run(self._wrapped.list_schedules(room, job=job, page_size=page_size, page_offset=page_offset))

    def pause_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        """Pauses a schedule."""
        return run(self._wrapped.pause_schedule(schedule, actor=actor, reason=reason))

    def preview_schedule(
        self,
        cron: str | None = None,
        *,
        every: timedelta | None = None,
        timezone: str | None = None,
        quantity: int | None = None,
    ) -> list[datetime]:
        """When a schedule would run."""
        return run(self._wrapped.preview_schedule(cron, every=every, timezone=timezone, quantity=quantity))

    def register_schedule(
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
        return run(
            self._wrapped.register_schedule(
                name,
                job,
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
        )

    def resume_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> Schedule:
        """Resumes a schedule."""
        return run(self._wrapped.resume_schedule(schedule, actor=actor, reason=reason))

    def retire_schedule(self, schedule: str, *, actor: str | None = None, reason: str | None = None) -> None:
        """Removes a schedule."""
        return run(self._wrapped.retire_schedule(schedule, actor=actor, reason=reason))

    def run_schedule(
        self, schedule: str, *, actor: str | None = None, reason: str | None = None
    ) -> StartedRun:
        """Runs a schedule now, besides its times."""
        return run(self._wrapped.run_schedule(schedule, actor=actor, reason=reason))
