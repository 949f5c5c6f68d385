"""The verbs of manager.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.manager import GenericJob
from pgjobs.queue.base import Json
from pgjobs.queue.claims import readable_claim


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
        )
        return GenericJob.each(rows)

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
