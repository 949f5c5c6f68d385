"""JobManager: creates, finds, cancels and forgets jobs, and hands them to workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from pgjobs.contrib.manager.bulk import BulkCalls
from pgjobs.contrib.manager.calls import owner_text
from pgjobs.contrib.manager.leases import LeaseCalls
from pgjobs.contrib.manager.quotas import MAX_QUEUED, SUBMITS_PER_MIN, fitting, quota_of
from pgjobs.contrib.manager.reading import ReadingCalls
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease
from pgjobs.contrib.manager.words import own_words, required
from pgjobs.errors import InvalidArgument, InvalidTransition, JobNotFound, TaskNotFound
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import GenericJob, Json, PruneResult


class JobManager(LeaseCalls, ReadingCalls, BulkCalls):
    """Background jobs by domain, queue and job type, on Postgres or SQLite.

    `JobManager(queue)`, or `JobManager(url)`, which connects at the first call.
    Methods that work on a lease are those of `LeaseCalls`, those that look are of `ReadingCalls`, those
    for many jobs at once of `BulkCalls`. Rows are mappings with the
    columns of the view `pgjobs.generic_jobs`.
    """

    @classmethod
    async def connect(
        cls,
        url: str | None = None,
        *,
        settings: ManagerSettings | None = None,
        on_lost_lease: OnLostLease | None = None,
        **options: Any,
    ) -> Self:
        """Opens a manager by URL: postgresql://… or sqlite:///file."""
        return cls(await Queue.connect(url, **options), settings, on_lost_lease=on_lost_lease)

    async def migrate(self) -> None:
        """Installs the schema or brings it up to date, as `pgjobs migrate` does."""
        await self.queue.migrate()

    def bound_to(self, connection: Any) -> JobManager:
        """The same manager, its calls running in the transaction of the caller's connection or session."""
        # What upkeep locks would stay locked until the caller commits.
        settings = self.settings.model_copy(update={"upkeep_seconds": 0})
        return JobManager(self.queue.bound_to(connection), settings)

    async def close(self) -> None:
        await self.queue.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create_job(  # noqa: PLR0917
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
        with own_words(payloads="payload", idempotency_keys="idempotency_key"):
            jobs = await self.create_jobs(
                domain,
                queue,
                job_type,
                [{} if payload is None else payload],
                owner_user_id=owner_user_id,
                project_id=project_id,
                priority=priority,
                max_retries=max_retries,
                available_at=available_at,
                idempotency_keys=None if idempotency_key is None else [idempotency_key],
                batch_group=batch_group,
                depends_on=depends_on,
            )
        return jobs[0]

    async def create_jobs(
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
        required(domain=domain, queue=queue, job_type=job_type, payloads=payloads)
        if isinstance(available_at, datetime) and available_at.tzinfo is None:
            raise InvalidArgument(
                "available_at has no time zone", hint="Use datetime.now(UTC) + timedelta(…)."
            )
        owner = owner_text(owner_user_id)
        with own_words(after="depends_on"):
            return await self._calls.create_generic_jobs(
                domain,
                queue,
                job_type,
                payloads
                if self.settings.max_json_bytes is None
                else [fitting(payload, "Payload", self.settings) for payload in payloads],
                owner_user_id=owner,
                project_id=project_id,
                priority=priority,
                max_retries=max_retries,
                available_at=available_at,
                idempotency_keys=idempotency_keys,
                tags=None if batch_group is None else [f"batch:{batch_group}"],
                after=depends_on,
                max_queued=quota_of(MAX_QUEUED, domain, owner),
                submits_per_minute=quota_of(SUBMITS_PER_MIN, domain, owner),
            )

    async def schedule_job(
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
        required(available_at=available_at)
        options["available_at"] = available_at
        return await self.create_job(domain, queue, job_type, payload, owner_user_id, **options)

    async def get_job(
        self,
        id: int | UUID | str,  # noqa: A002
        *,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
    ) -> GenericJob:
        """A job by number or uuid; with an owner or project named, not found unless it is theirs."""
        required(id=id)
        if not isinstance(id, int):
            return await self.get_job_by_uuid(id, owner_user_id=owner_user_id, project_id=project_id)
        with own_words():
            return await self._calls.get_generic_job(
                id, owner_user_id=None if owner_user_id is None else str(owner_user_id), project_id=project_id
            )

    async def get_job_by_uuid(
        self, uuid: UUID | str, *, owner_user_id: str | int | None = None, project_id: int | None = None
    ) -> GenericJob:
        required(uuid=uuid)
        try:
            known = UUID(str(uuid))
        except ValueError:
            raise TaskNotFound(f"No job has the id {uuid!r}") from None
        with own_words():
            return await self._calls.get_generic_job(
                task_uuid=known,
                owner_user_id=None if owner_user_id is None else str(owner_user_id),
                project_id=project_id,
            )

    async def cancel_job(
        self,
        id: int | UUID | str,  # noqa: A002
        reason: str | None = None,
        *,
        force: bool = False,
        actor: str | None = None,
    ) -> GenericJob:
        """Cancels a queued job; asks the worker of a processing one to stop, or with `force` ends it now."""
        required(id=id)
        number = id if isinstance(id, int) else (await self.get_job_by_uuid(id)).id
        try:
            with own_words():
                await self.queue.cancel_task(number, reason=reason, force=force, actor=actor)
        except TaskNotFound:
            raise TaskNotFound(f"Job {number} does not exist") from None
        except InvalidTransition:
            raise InvalidTransition(
                f"Job {number} has already ended", hint="Only queued and processing jobs can be cancelled."
            ) from None
        return await self._calls.get_generic_job(number)

    async def prune_jobs(
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
        if job_type is not None and (domain is None or queue is None):
            raise InvalidArgument("A job type is known by its domain and queue")
        known_as = None if job_type is None else f"{domain}:{queue}:{job_type}"
        try:
            with own_words():
                return await self.queue.prune_tasks(
                    of_status=status,
                    older_than=older_than,
                    of_job=known_as,
                    batch=limit,
                    dry_run=dry_run,
                    in_room=domain,
                    in_category=queue,
                )
        except JobNotFound:
            raise JobNotFound(f"Job type {known_as} does not exist") from None
