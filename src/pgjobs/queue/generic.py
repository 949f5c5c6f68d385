"""Verbs in the words of the generic job manager: domain is room, queue is category, job type is name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.records import Json, Record

GenericStatus = Literal["queued", "processing", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, eq=False)
class GenericJob(Record, Mapping[str, Any]):
    """A row of `pgjobs.generic_jobs`: `job["id"]` as well as `job.id`."""

    id: int
    uuid: UUID
    domain: str
    queue: str
    job_type: str
    owner_user_id: str | None
    project_id: int | None
    idempotency_key: str | None
    payload: Json
    result: Json
    status: GenericStatus
    priority: int
    max_retries: int
    retry_count: int
    available_at: datetime | None
    leased_until: datetime | None
    lease_id: str | None
    worker_id: str | None
    acquired_at: datetime | None
    error_message: str | None
    last_error: str | None
    cancel_requested_at: datetime | None
    cancelled_at: datetime | None
    cancellation_reason: str | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None

    def __post_init__(self) -> None:
        # A registered worker is known by a uuid, and SQLite has no types to tell.
        if self.worker_id is not None and not isinstance(self.worker_id, str):
            object.__setattr__(self, "worker_id", str(self.worker_id))

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Metric(Record):
    """One number of one job; `up_to` is the upper bound of a histogram's bucket."""

    domain: str
    queue: str
    job_type: str
    measure: str
    up_to: float | None
    quantity: int
    seconds: float


class GenericVerbs:
    """The part of `Queue` that speaks the generic manager's words."""

    driver: Driver

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
        return [GenericJob.of(row) for row in rows]

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
        claim = partial(
            self.driver.call,
            "acquire_generic_jobs",
            domain=domain,
            queue=queue,
            worker_id=worker_id,
            lease=lease,
            quantity=quantity,
            owner_user_id=owner_user_id,
            project_id=project_id,
        )
        rows = await readable_claim(self.driver, claim, "id", "lease_id")
        return [GenericJob.of(row) for row in rows]

    async def get_generic_job(
        self,
        task_id: int | None = None,
        *,
        task_uuid: UUID | None = None,
        owner_user_id: str | None = None,
        project_id: int | None = None,
    ) -> GenericJob:
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
    ) -> list[GenericJob]:
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
        )
        return [GenericJob.of(row) for row in rows]

    async def list_metrics(self) -> list[Metric]:
        return [Metric.of(row) for row in await self.driver.call("list_metrics")]
