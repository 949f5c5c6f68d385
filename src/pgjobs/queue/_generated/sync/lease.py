"""`LeaseVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.queue._generated.records.tasks import (
    Acknowledged,
    Failed,
    Lease,
    Mark,
    Renewed,
    Reported,
    Started,
)
from pgjobs.queue._generated.verbs.leases import LeaseVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.held import Held
from pgjobs.queue.run_sync import run


class BlockingLeaseVerbs:
    """The same as `LeaseVerbs`, blocking."""

    _wrapped: LeaseVerbs

    def claim_tasks(
        self,
        worker_id: UUID | None = None,
        *,
        quantity: int | None = None,
        lease: timedelta | None = None,
        job_ids: Sequence[int] | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
        of_owner: str | None = None,
        of_project: str | None = None,
        holder: str | None = None,
        start: bool | None = None,
        remote: bool | None = None,
        actor: str | None = None,
        durable: bool | None = None,
    ) -> list[Lease]:
        """Leases due tasks."""
        return run(
            self._wrapped.claim_tasks(
                worker_id,
                quantity=quantity,
                lease=lease,
                job_ids=job_ids,
                in_room=in_room,
                in_category=in_category,
                of_owner=of_owner,
                of_project=of_project,
                holder=holder,
                start=start,
                remote=remote,
                actor=actor,
                durable=durable,
            )
        )

    def complete_tasks(
        self, held: Held, results: Sequence[Json] | None = None, *, holder: str | None = None
    ) -> list[Acknowledged]:
        """Ends tasks successfully."""
        return run(self._wrapped.complete_tasks(held, results, holder=holder))

    def fail_tasks(
        self,
        held: Held,
        errors: Sequence[str],
        *,
        kinds: Sequence[str | None] | None = None,
        retryable: Sequence[bool] | None = None,
        holder: str | None = None,
    ) -> list[Failed]:
        """Ends attempts with an error."""
        return run(self._wrapped.fail_tasks(held, errors, kinds=kinds, retryable=retryable, holder=holder))

    def mark_waiting(
        self,
        worker_id: UUID | None = None,
        *,
        job_ids: Sequence[int] | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
        previous: int | None = None,
        remote: bool | None = None,
    ) -> Mark:
        """Asks for a wake-up."""
        return run(
            self._wrapped.mark_waiting(
                worker_id,
                job_ids=job_ids,
                in_room=in_room,
                in_category=in_category,
                previous=previous,
                remote=remote,
            )
        )

    def release_tasks(
        self, held: Held, *, delay: timedelta | None = None, holder: str | None = None
    ) -> list[Acknowledged]:
        """Returns tasks to the queue, without using up an attempt."""
        return run(self._wrapped.release_tasks(held, delay=delay, holder=holder))

    def renew_tasks(self, held: Held, lease: timedelta, *, holder: str | None = None) -> list[Renewed]:
        """Extends leases."""
        return run(self._wrapped.renew_tasks(held, lease, holder=holder))

    def report_progress(self, held: Held, progress: Sequence[Json]) -> list[Reported]:
        """Stores the progress that workers report."""
        return run(self._wrapped.report_progress(held, progress))

    def start_tasks(self, held: Held) -> list[Started]:
        """Marks tasks as running."""
        return run(self._wrapped.start_tasks(held))
