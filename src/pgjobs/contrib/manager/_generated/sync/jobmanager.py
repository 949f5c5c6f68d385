"""`JobManager` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pgjobs.contrib.manager.jobs import JobManager
from pgjobs.queue._generated.records.manager import GenericJob
from pgjobs.queue._generated.records.upkeep import PruneResult
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingJobManager:
    """The same as `JobManager`, blocking."""

    _wrapped: JobManager

    def migrate(self) -> None:
        """Installs the schema or brings it up to date, as `pgjobs migrate` does."""
        return run(self._wrapped.migrate())

    def create_job(
        self,
        domain: str,
        queue: str,
        job_type: str,
        payload: Json = None,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        priority: int = 5,
        max_retries: int = 3,
        available_at: datetime | None = None,
        idempotency_key: str | None = None,
        *,
        batch_group: str | None = None,
        depends_on: Sequence[int] | None = None,
    ) -> GenericJob:
        """The new job, or the one created under the same idempotency key before.

        It waits until the jobs that `depends_on` names have completed. `list_jobs` finds it by
        its `batch_group`.
        """
        return run(
            self._wrapped.create_job(
                domain,
                queue,
                job_type,
                payload,
                owner_user_id,
                project_id,
                priority,
                max_retries,
                available_at,
                idempotency_key,
                batch_group=batch_group,
                depends_on=depends_on,
            )
        )

    def create_jobs(
        self,
        domain: str,
        queue: str,
        job_type: str,
        payloads: Sequence[Json],
        *,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        priority: int = 5,
        max_retries: int = 3,
        available_at: datetime | None = None,
        idempotency_keys: Sequence[str | None] | None = None,
        batch_group: str | None = None,
        depends_on: Sequence[int] | None = None,
    ) -> list[GenericJob]:
        """A job for each payload, all or none, in input order.

        Beyond what `JOBS_QUOTA_MAX_QUEUED` and `JOBS_QUOTA_SUBMITS_PER_MIN` allow the owner it
        raises `QuotaExceeded`.
        """
        return run(
            self._wrapped.create_jobs(
                domain,
                queue,
                job_type,
                payloads,
                owner_user_id=owner_user_id,
                project_id=project_id,
                priority=priority,
                max_retries=max_retries,
                available_at=available_at,
                idempotency_keys=idempotency_keys,
                batch_group=batch_group,
                depends_on=depends_on,
            )
        )

    def schedule_job(
        self,
        domain: str,
        queue: str,
        job_type: str,
        payload: Json = None,
        owner_user_id: str | int | None = None,
        *,
        available_at: datetime,
        **options: Any,
    ) -> GenericJob:
        """A job nobody acquires before `available_at`; `options` as in `create_job`."""
        return run(
            self._wrapped.schedule_job(
                domain, queue, job_type, payload, owner_user_id, available_at=available_at, **options
            )
        )

    def get_job(
        self, id: int | UUID | str, *, owner_user_id: str | int | None = None, project_id: int | None = None
    ) -> GenericJob:
        """A job by number or uuid; with an owner or project named, not found unless it is theirs."""
        return run(self._wrapped.get_job(id, owner_user_id=owner_user_id, project_id=project_id))

    def get_job_by_uuid(
        self, uuid: UUID | str, *, owner_user_id: str | int | None = None, project_id: int | None = None
    ) -> GenericJob:
        return run(self._wrapped.get_job_by_uuid(uuid, owner_user_id=owner_user_id, project_id=project_id))

    def cancel_job(
        self,
        id: int | UUID | str,
        reason: str | None = None,
        *,
        force: bool = False,
        actor: str | None = None,
    ) -> GenericJob:
        """Cancels a queued job; asks the worker of a processing one to stop, or with `force` ends it now."""
        return run(self._wrapped.cancel_job(id, reason, force=force, actor=actor))

    def prune_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        status: str | None = None,
        older_than: timedelta | None = None,
        dry_run: bool = False,
        limit: int = 1000,
    ) -> list[PruneResult]:
        """Forgets ended jobs, oldest first; without `older_than`, those that retention no longer keeps."""
        return run(
            self._wrapped.prune_jobs(
                domain, queue, job_type, status=status, older_than=older_than, dry_run=dry_run, limit=limit
            )
        )
