"""The verbs of leases.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.tasks import (
    Acknowledged,
    Failed,
    Lease,
    Mark,
    Renewed,
    Reported,
    Started,
)
from pgjobs.queue.base import Json
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.held import Held, named


class LeaseVerbs:
    """The verbs of leases."""

    driver: Driver

    async def claim_tasks(
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
        rows = await readable_claim(
            self.driver,
            "claim_tasks",
            ("task_id", "token"),
            worker_id=worker_id,
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
        return Lease.each(rows)

    async def complete_tasks(
        self, held: Held, results: Sequence[Json] | None = None, *, holder: str | None = None
    ) -> list[Acknowledged]:
        """Ends tasks successfully."""
        rows = await self.driver.call("complete_tasks", **named(held), results=results, holder=holder)
        return Acknowledged.each(rows)

    async def fail_tasks(
        self,
        held: Held,
        errors: Sequence[str],
        *,
        kinds: Sequence[str | None] | None = None,
        retryable: Sequence[bool] | None = None,
        holder: str | None = None,
    ) -> list[Failed]:
        """Ends attempts with an error."""
        rows = await self.driver.call(
            "fail_tasks", **named(held), errors=errors, kinds=kinds, retryable=retryable, holder=holder
        )
        return Failed.each(rows)

    async def mark_waiting(
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
        rows = await self.driver.call(
            "mark_waiting",
            worker_id=worker_id,
            job_ids=job_ids,
            in_room=in_room,
            in_category=in_category,
            previous=previous,
            remote=remote,
        )
        return Mark.of(rows[0])

    async def release_tasks(
        self, held: Held, *, delay: timedelta | None = None, holder: str | None = None
    ) -> list[Acknowledged]:
        """Returns tasks to the queue, without using up an attempt."""
        rows = await self.driver.call("release_tasks", **named(held), delay=delay, holder=holder)
        return Acknowledged.each(rows)

    async def renew_tasks(self, held: Held, lease: timedelta, *, holder: str | None = None) -> list[Renewed]:
        """Extends leases."""
        rows = await self.driver.call("renew_tasks", **named(held), lease=lease, holder=holder)
        return Renewed.each(rows)

    async def report_progress(self, held: Held, progress: Sequence[Json]) -> list[Reported]:
        """Stores the progress that workers report."""
        rows = await self.driver.call("report_progress", **named(held), progress=progress)
        return Reported.each(rows)

    async def start_tasks(self, held: Held) -> list[Started]:
        """Marks tasks as running."""
        rows = await self.driver.call("start_tasks", **named(held))
        return Started.each(rows)
