"""The verbs of cleanups.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.cleanups import (
    CleanupEvent,
    CleanupLease,
    CleanupMark,
    CleanupNode,
    CleanupTask,
    JobTarget,
)
from pgjobs.queue.base import Json


class CleanupVerbs:
    """The verbs of cleanups."""

    driver: Driver

    async def await_cleanups(self, node_id: str | None = None, *, previous: int | None = None) -> CleanupMark:
        """Asks for a wake-up when a cleanup is due."""
        rows = await self.driver.call("await_cleanups", node_id=node_id, previous=previous)
        return CleanupMark.of(rows[0])

    async def claim_cleanups(
        self,
        holder: str,
        *,
        node_id: str | None = None,
        quantity: int | None = None,
        lease: timedelta | None = None,
    ) -> list[CleanupLease]:
        """Leases due cleanup tasks."""
        rows = await self.driver.call(
            "claim_cleanups", holder=holder, node_id=node_id, quantity=quantity, lease=lease
        )
        return CleanupLease.each(rows)

    async def count_cleanups(
        self,
        statuses: Sequence[str] | None = None,
        *,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        of_kind: str | None = None,
    ) -> int:
        """How many cleanup tasks there are."""
        rows = await self.driver.call(
            "count_cleanups",
            statuses=statuses,
            target_types=target_types,
            of_node=of_node,
            of_job=of_job,
            of_kind=of_kind,
        )
        total: int = rows[0]["total"]
        return total

    async def get_cleanup(self, run_id: UUID) -> CleanupTask:
        """The cleanup task of a run."""
        rows = await self.driver.call("get_cleanup", run_id=run_id)
        return CleanupTask.of(rows[0])

    async def get_job_target(self, job: str) -> JobTarget | None:
        """Where the runs of a job write."""
        rows = await self.driver.call("get_job_target", job=job)
        return JobTarget.of(rows[0]) if rows else None

    async def ignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Ignores a cleanup."""
        rows = await self.driver.call("ignore_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def list_cleanup_events(self, run_id: UUID, *, page_size: int | None = None) -> list[CleanupEvent]:
        """What happened to a cleanup task."""
        rows = await self.driver.call("list_cleanup_events", run_id=run_id, page_size=page_size)
        return CleanupEvent.each(rows)

    async def list_cleanup_nodes(self) -> list[CleanupNode]:
        """Which node cleans up what."""
        rows = await self.driver.call(
            "list_cleanup_nodes",
        )
        return CleanupNode.each(rows)

    async def list_cleanups(
        self,
        statuses: Sequence[str] | None = None,
        *,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
        of_kind: str | None = None,
    ) -> list[CleanupTask]:
        """Cleanup tasks, next due first."""
        rows = await self.driver.call(
            "list_cleanups",
            statuses=statuses,
            target_types=target_types,
            of_node=of_node,
            of_job=of_job,
            page_size=page_size,
            page_offset=page_offset,
            of_kind=of_kind,
        )
        return CleanupTask.each(rows)

    async def reconcile_cleanups(
        self, batch: int | None = None, *, after: timedelta | None = None, of_job: str | None = None
    ) -> int:
        """Finds runs to clean up after."""
        rows = await self.driver.call("reconcile_cleanups", batch=batch, after=after, of_job=of_job)
        created: int = rows[0]["created"]
        return created

    async def retry_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Retries a cleanup now."""
        rows = await self.driver.call("retry_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def set_job_target(
        self, job: str, target: Json = None, *, node_id: str | None = None, actor: str | None = None
    ) -> JobTarget:
        """Sets where the runs of a job write."""
        rows = await self.driver.call("set_job_target", job=job, target=target, node_id=node_id, actor=actor)
        return JobTarget.of(rows[0])

    async def unignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Stops ignoring a cleanup."""
        rows = await self.driver.call("unignore_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def unmark_waiting(self, mark: int) -> None:
        """Withdraws a request for a wake-up."""
        await self.driver.call("unmark_waiting", mark=mark)
