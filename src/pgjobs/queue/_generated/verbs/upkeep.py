"""The verbs of upkeep.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import timedelta

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.events import Event
from pgjobs.queue._generated.records.operators import Metric, Rule
from pgjobs.queue._generated.records.schedules import Fired
from pgjobs.queue._generated.records.upkeep import PruneResult, SweepResult


class UpkeepVerbs:
    """The verbs of upkeep."""

    driver: Driver

    async def check(self) -> list[Rule]:
        """Counts invariant violations; every row should say 0."""
        rows = await self.driver.call(
            "check",
        )
        return Rule.each(rows)

    async def fire_schedules(self, batch: int | None = None) -> Fired:
        """Runs the schedules that are due."""
        rows = await self.driver.call("fire_schedules", batch=batch)
        return Fired.of(rows[0])

    async def list_events(
        self,
        after: str | None = None,
        *,
        of_task: int | None = None,
        of_job: str | None = None,
        of_room: str | None = None,
        page_size: int | None = None,
    ) -> list[Event]:
        """Events after a cursor."""
        rows = await self.driver.call(
            "list_events", after=after, of_task=of_task, of_job=of_job, of_room=of_room, page_size=page_size
        )
        return Event.each(rows)

    async def list_metrics(self) -> list[Metric]:
        """The numbers of every job."""
        rows = await self.driver.call(
            "list_metrics",
        )
        return Metric.each(rows)

    async def prune_tasks(
        self,
        of_status: str | None = None,
        *,
        older_than: timedelta | None = None,
        of_job: str | None = None,
        batch: int | None = None,
        dry_run: bool | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
    ) -> list[PruneResult]:
        """Removes ended tasks."""
        rows = await self.driver.call(
            "prune_tasks",
            of_status=of_status,
            older_than=older_than,
            of_job=of_job,
            batch=batch,
            dry_run=dry_run,
            in_room=in_room,
            in_category=in_category,
        )
        return PruneResult.each(rows)

    async def sweep(
        self,
        step: str | None = None,
        *,
        batch: int | None = None,
        worker_timeout: timedelta | None = None,
        internal_timeout: timedelta | None = None,
    ) -> list[SweepResult]:
        """One pass of upkeep."""
        rows = await self.driver.call(
            "sweep", step=step, batch=batch, worker_timeout=worker_timeout, internal_timeout=internal_timeout
        )
        return SweepResult.each(rows)
