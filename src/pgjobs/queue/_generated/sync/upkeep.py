"""`UpkeepVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import timedelta

from pgjobs.queue._generated.records.events import Event
from pgjobs.queue._generated.records.operators import Metric, Rule
from pgjobs.queue._generated.records.schedules import Fired
from pgjobs.queue._generated.records.upkeep import PruneResult, SweepResult
from pgjobs.queue._generated.verbs.upkeep import UpkeepVerbs
from pgjobs.queue.run_sync import run


class BlockingUpkeepVerbs:
    """The same as `UpkeepVerbs`, blocking."""

    _wrapped: UpkeepVerbs

    def check(self) -> list[Rule]:
        """Counts invariant violations; every row should say 0."""
        return run(self._wrapped.check())

    def fire_schedules(self, batch: int | None = None) -> Fired:
        """Runs the schedules that are due."""
        return run(self._wrapped.fire_schedules(batch))

    def list_events(
        self,
        after: str | None = None,
        *,
        of_task: int | None = None,
        of_job: str | None = None,
        of_room: str | None = None,
        page_size: int | None = None,
    ) -> list[Event]:
        """Events after a cursor."""
        return run(
            self._wrapped.list_events(
                after, of_task=of_task, of_job=of_job, of_room=of_room, page_size=page_size
            )
        )

    def list_metrics(self) -> list[Metric]:
        """The numbers of every job."""
        return run(self._wrapped.list_metrics())

    def prune_tasks(
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
        return run(
            self._wrapped.prune_tasks(
                of_status,
                older_than=older_than,
                of_job=of_job,
                batch=batch,
                dry_run=dry_run,
                in_room=in_room,
                in_category=in_category,
            )
        )

    def sweep(
        self,
        step: str | None = None,
        *,
        batch: int | None = None,
        worker_timeout: timedelta | None = None,
        internal_timeout: timedelta | None = None,
    ) -> list[SweepResult]:
        """One pass of upkeep."""
        return run(
            self._wrapped.sweep(
                step, batch=batch, worker_timeout=worker_timeout, internal_timeout=internal_timeout
            )
        )
