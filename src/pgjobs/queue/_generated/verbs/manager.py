"""The verbs of manager.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.manager import (
    BulkResult,
    Expired,
    GenericCompleted,
    GenericCounted,
    GenericFailed,
    GenericJob,
    GenericMoved,
    QueueControl,
    SuggestedLease,
)
from pgjobs.queue.base import Json
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.held import Held, named


class ManagerVerbs:
    """The verbs of manager."""

    driver: Driver

    async def acquire_generic_jobs(
        self,
        domain: str,
        queue: str,
        worker_id: str,
        lease: timedelta,
        *,
        quantity: int | None = None,
        owner_user_id: str | None = None,
        project_id: int | None = None,
        job_type: str | None = None,
        max_inflight: int | None = None,
    ) -> list[GenericJob]:
        """Leases tasks in the generic manager's words."""
        rows = await readable_claim(
            self.driver,
            "acquire_generic_jobs",
            ("id", "lease_id"),
            domain=domain,
            queue=queue,
            worker_id=worker_id,
            lease=lease,
            quantity=quantity,
            owner_user_id=owner_user_id,
            project_id=project_id,
            job_type=job_type,
            max_inflight=max_inflight,
        )
        return GenericJob.each(rows)

    async def add_dependency(self, task_id: int, after_id: int) -> GenericJob:
        """Has a queued job wait for another."""
        rows = await self.driver.call("add_dependency", task_id=task_id, after_id=after_id)
        return GenericJob.of(rows[0])

    async def complete_generic_jobs(
        self, held: Held, results: Sequence[Json], worker_id: str, completion_tokens: Sequence[str | None]
    ) -> list[GenericCompleted]:
        """Completes jobs under tokens of the application."""
        rows = await self.driver.call(
            "complete_generic_jobs",
            **named(held),
            results=results,
            worker_id=worker_id,
            completion_tokens=completion_tokens,
        )
        return GenericCompleted.each(rows)

    async def control_queue(
        self, domain: str, queue: str, action: str, *, actor: str | None = None, reason: str | None = None
    ) -> QueueControl:
        """Pauses or resumes a queue."""
        rows = await self.driver.call(
            "control_queue", domain=domain, queue=queue, action=action, actor=actor, reason=reason
        )
        return QueueControl.of(rows[0])

    async def create_generic_jobs(
        self,
        domain: str,
        queue: str,
        job_type: str,
        payloads: Sequence[Json],
        *,
        owner_user_id: str | None = None,
        project_id: int | None = None,
        priority: int | None = None,
        max_retries: int | None = None,
        available_at: datetime | None = None,
        idempotency_keys: Sequence[str | None] | None = None,
        tags: Sequence[str] | None = None,
        after: Sequence[int] | None = None,
        max_queued: int | None = None,
        submits_per_minute: int | None = None,
    ) -> list[GenericJob]:
        """Submits tasks in the generic manager's words."""
        rows = await self.driver.call(
            "create_generic_jobs",
            domain=domain,
            queue=queue,
            job_type=job_type,
            payloads=payloads,
            owner_user_id=owner_user_id,
            project_id=project_id,
            priority=priority,
            max_retries=max_retries,
            available_at=available_at,
            idempotency_keys=idempotency_keys,
            tags=tags,
            after=after,
            max_queued=max_queued,
            submits_per_minute=submits_per_minute,
        )
        return GenericJob.each(rows)

    async def expire_generic_jobs(
        self,
        domain: str | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        age: timedelta | None = None,
        runtime: timedelta | None = None,
        action: str | None = None,
        most: int | None = None,
        dry_run: bool | None = None,
        actor: str | None = None,
    ) -> list[Expired]:
        """Ends jobs that are too old."""
        rows = await self.driver.call(
            "expire_generic_jobs",
            domain=domain,
            queue=queue,
            job_type=job_type,
            age=age,
            runtime=runtime,
            action=action,
            most=most,
            dry_run=dry_run,
            actor=actor,
        )
        return Expired.each(rows)

    async def fail_generic_jobs(
        self,
        held: Held,
        errors: Sequence[str],
        kinds: Sequence[str | None],
        retryable: Sequence[bool],
        worker_id: str,
        *,
        backoff: timedelta | None = None,
        quarantine_after: int | None = None,
        completion_tokens: Sequence[str | None] | None = None,
    ) -> list[GenericFailed]:
        """Ends attempts of jobs with an error."""
        rows = await self.driver.call(
            "fail_generic_jobs",
            **named(held),
            errors=errors,
            kinds=kinds,
            retryable=retryable,
            worker_id=worker_id,
            backoff=backoff,
            quarantine_after=quarantine_after,
            completion_tokens=completion_tokens,
        )
        return GenericFailed.each(rows)

    async def find_generic_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        status: str | None = None,
        owner_user_id: str | None = None,
        project_id: int | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        before_id: int | None = None,
        batch_group: str | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[GenericJob]:
        """Jobs that fit every filter, sorted."""
        rows = await self.driver.call(
            "find_generic_jobs",
            domain=domain,
            queue=queue,
            job_type=job_type,
            status=status,
            owner_user_id=owner_user_id,
            project_id=project_id,
            created_after=created_after,
            created_before=created_before,
            before_id=before_id,
            batch_group=batch_group,
            sort_by=sort_by,
            sort_order=sort_order,
            page_size=page_size,
            page_offset=page_offset,
        )
        return GenericJob.each(rows)

    async def get_generic_job(
        self,
        task_id: int | None = None,
        *,
        task_uuid: UUID | None = None,
        owner_user_id: str | None = None,
        project_id: int | None = None,
    ) -> GenericJob:
        """One task in the generic manager's words."""
        rows = await self.driver.call(
            "get_generic_job",
            task_id=task_id,
            task_uuid=task_uuid,
            owner_user_id=owner_user_id,
            project_id=project_id,
        )
        return GenericJob.of(rows[0])

    async def list_generic_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        status: str | None = None,
        owner_user_id: str | None = None,
        project_id: int | None = None,
        before: int | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
        cursor: str | None = None,
    ) -> list[GenericJob]:
        """Tasks in the generic manager's words, newest first."""
        rows = await self.driver.call(
            "list_generic_jobs",
            domain=domain,
            queue=queue,
            job_type=job_type,
            status=status,
            owner_user_id=owner_user_id,
            project_id=project_id,
            before=before,
            page_size=page_size,
            page_offset=page_offset,
            cursor=cursor,
        )
        return GenericJob.each(rows)

    async def reschedule_generic_jobs(
        self,
        domain: str | None = None,
        *,
        queue: str | None = None,
        job_type: str | None = None,
        owner_user_id: str | None = None,
        shift: timedelta | None = None,
        available_at: datetime | None = None,
        most: int | None = None,
        dry_run: bool | None = None,
        actor: str | None = None,
    ) -> list[GenericMoved]:
        """Gives queued jobs another time."""
        rows = await self.driver.call(
            "reschedule_generic_jobs",
            domain=domain,
            queue=queue,
            job_type=job_type,
            owner_user_id=owner_user_id,
            shift=shift,
            available_at=available_at,
            most=most,
            dry_run=dry_run,
            actor=actor,
        )
        return GenericMoved.each(rows)

    async def retry_generic_jobs(
        self,
        of_status: str,
        *,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        owner_user_id: str | None = None,
        task_ids: Sequence[int] | None = None,
        most: int | None = None,
        dry_run: bool | None = None,
        actor: str | None = None,
    ) -> list[BulkResult]:
        """Has jobs run now."""
        rows = await self.driver.call(
            "retry_generic_jobs",
            of_status=of_status,
            domain=domain,
            queue=queue,
            job_type=job_type,
            owner_user_id=owner_user_id,
            task_ids=task_ids,
            most=most,
            dry_run=dry_run,
            actor=actor,
        )
        return BulkResult.each(rows)

    async def suggest_lease(
        self, domain: str, queue: str, job_type: str | None = None
    ) -> SuggestedLease | None:
        """How long leases of such jobs should be."""
        rows = await self.driver.call("suggest_lease", domain=domain, queue=queue, job_type=job_type)
        return SuggestedLease.of(rows[0]) if rows else None

    async def summarize_generic_jobs(
        self,
        of_domain: str | None = None,
        of_queue: str | None = None,
        of_type: str | None = None,
        *,
        of_owner: str | None = None,
    ) -> list[GenericCounted]:
        """How many jobs there are, by type, owner and status."""
        rows = await self.driver.call(
            "summarize_generic_jobs",
            of_domain=of_domain,
            of_queue=of_queue,
            of_type=of_type,
            of_owner=of_owner,
        )
        return GenericCounted.each(rows)

    async def update_generic_job(
        self, task_id: int, *, progress: Json = None, result: Json = None, merge: bool | None = None
    ) -> GenericJob:
        """Keeps what is known of a job before it ends."""
        rows = await self.driver.call(
            "update_generic_job", task_id=task_id, progress=progress, result=result, merge=merge
        )
        return GenericJob.of(rows[0])
