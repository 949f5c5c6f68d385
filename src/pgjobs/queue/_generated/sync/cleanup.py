"""`CleanupVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.queue._generated.records.cleanups import (
    CleanupEvent,
    CleanupLease,
    CleanupMark,
    CleanupNode,
    CleanupTask,
    JobTarget,
)
from pgjobs.queue._generated.verbs.cleanups import CleanupVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingCleanupVerbs:
    """The same as `CleanupVerbs`, blocking."""

    _wrapped: CleanupVerbs

    def await_cleanups(self, node_id: str | None = None, *, previous: int | None = None) -> CleanupMark:
        """Asks for a wake-up when a cleanup is due."""
        return run(self._wrapped.await_cleanups(node_id, previous=previous))

    def claim_cleanups(
        self,
        holder: str,
        *,
        node_id: str | None = None,
        quantity: int | None = None,
        lease: timedelta | None = None,
    ) -> list[CleanupLease]:
        """Leases due cleanup tasks."""
        return run(self._wrapped.claim_cleanups(holder, node_id=node_id, quantity=quantity, lease=lease))

    def count_cleanups(
        self,
        statuses: Sequence[str] | None = None,
        *,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        of_kind: str | None = None,
    ) -> int:
        """How many cleanup tasks there are."""
        return run(
            self._wrapped.count_cleanups(
                statuses, target_types=target_types, of_node=of_node, of_job=of_job, of_kind=of_kind
            )
        )

    def get_cleanup(self, run_id: UUID) -> CleanupTask:
        """The cleanup task of a run."""
        return run(self._wrapped.get_cleanup(run_id))

    def get_job_target(self, job: str) -> JobTarget | None:
        """Where the runs of a job write."""
        return run(self._wrapped.get_job_target(job))

    def ignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Ignores a cleanup."""
        return run(self._wrapped.ignore_cleanup(run_id, actor=actor, reason=reason))

    def list_cleanup_events(self, run_id: UUID, *, page_size: int | None = None) -> list[CleanupEvent]:
        """What happened to a cleanup task."""
        return run(self._wrapped.list_cleanup_events(run_id, page_size=page_size))

    def list_cleanup_nodes(self) -> list[CleanupNode]:
        """Which node cleans up what."""
        return run(self._wrapped.list_cleanup_nodes())

    def list_cleanups(
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
        return run(
            self._wrapped.list_cleanups(
                statuses,
                target_types=target_types,
                of_node=of_node,
                of_job=of_job,
                page_size=page_size,
                page_offset=page_offset,
                of_kind=of_kind,
            )
        )

    def reconcile_cleanups(
        self, batch: int | None = None, *, after: timedelta | None = None, of_job: str | None = None
    ) -> int:
        """Finds runs to clean up after."""
        return run(self._wrapped.reconcile_cleanups(batch, after=after, of_job=of_job))

    def retry_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Retries a cleanup now."""
        return run(self._wrapped.retry_cleanup(run_id, actor=actor, reason=reason))

    def set_job_target(
        self, job: str, target: Json = None, *, node_id: str | None = None, actor: str | None = None
    ) -> JobTarget:
        """Sets where the runs of a job write."""
        return run(self._wrapped.set_job_target(job, target, node_id=node_id, actor=actor))

    def unignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        """Stops ignoring a cleanup."""
        return run(self._wrapped.unignore_cleanup(run_id, actor=actor, reason=reason))

    def unmark_waiting(self, mark: int) -> None:
        """Withdraws a request for a wake-up."""
        return run(self._wrapped.unmark_waiting(mark))
