"""The verbs of the registry: jobs and the workers that serve them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.records import Job, Json, Registration, Retirement, Worker, WorkerSummary


class RegistryVerbs:
    """The part of `Queue` that knows who does what."""

    driver: Driver

    async def register_job(
        self,
        room: str,
        category: str,
        name: str,
        *,
        schema: Json = None,
        worker_id: UUID | None = None,
        create_worker: bool | None = None,
        max_attempts: int | None = None,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        jitter_share: float | None = None,
        jitter_cap: timedelta | None = None,
        max_age: timedelta | None = None,
        max_running: int | None = None,
        events: str | None = None,
        retain_completed: timedelta | None = None,
        retain_failed: timedelta | None = None,
        replace_schema: bool | None = None,
        keep: bool | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Registration:
        rows = await self.driver.call(
            "register_job",
            room=room,
            category=category,
            name=name,
            schema=schema,
            worker_id=worker_id,
            create_worker=create_worker,
            max_attempts=max_attempts,
            backoff_base=backoff_base,
            backoff_cap=backoff_cap,
            jitter_share=jitter_share,
            jitter_cap=jitter_cap,
            max_age=max_age,
            max_running=max_running,
            events=events,
            retain_completed=retain_completed,
            retain_failed=retain_failed,
            replace_schema=replace_schema,
            keep=keep,
            actor=actor,
            is_superuser=is_superuser,
        )
        return Registration.of(rows[0])

    async def set_error_policy(
        self,
        job: str,
        kind: str,
        *,
        is_retryable: bool | None = None,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        jitter_share: float | None = None,
        jitter_cap: timedelta | None = None,
    ) -> None:
        await self.driver.call(
            "set_error_policy",
            job=job,
            kind=kind,
            is_retryable=is_retryable,
            backoff_base=backoff_base,
            backoff_cap=backoff_cap,
            jitter_share=jitter_share,
            jitter_cap=jitter_cap,
        )

    async def get_job(self, job: str, *, room: str | None = None) -> Job:
        return Job.of((await self.driver.call("get_job", job=job, room=room))[0])

    async def list_jobs(
        self,
        room: str | None = None,
        *,
        include_archived: bool | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Job]:
        rows = await self.driver.call(
            "list_jobs",
            room=room,
            include_archived=include_archived,
            page_size=page_size,
            page_offset=page_offset,
        )
        return [Job.of(row) for row in rows]

    async def archive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("archive_job", job=job, actor=actor, reason=reason))[0])

    async def unarchive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("unarchive_job", job=job, actor=actor, reason=reason))[0])

    async def pause_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("pause_job", job=job, actor=actor, reason=reason))[0])

    async def resume_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("resume_job", job=job, actor=actor, reason=reason))[0])

    async def limit_job(
        self,
        job: str,
        max_running: int | None = None,
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Job:
        rows = await self.driver.call(
            "limit_job", job=job, max_running=max_running, actor=actor, reason=reason
        )
        return Job.of(rows[0])

    async def retire_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("retire_job", job=job, actor=actor, reason=reason))[0])

    async def register_worker(
        self, name: str | None = None, *, jobs: Sequence[str] | None = None, actor: str | None = None
    ) -> Worker:
        return Worker.of((await self.driver.call("register_worker", name=name, jobs=jobs, actor=actor))[0])

    async def heartbeat_worker(
        self, worker_id: UUID, *, actor: str | None = None, connection_id: UUID | None = None
    ) -> Worker:
        rows = await self.driver.call(
            "heartbeat_worker", worker_id=worker_id, actor=actor, connection_id=connection_id
        )
        return Worker.of(rows[0])

    async def retire_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        is_superuser: bool | None = None,
        connection_id: UUID | None = None,
    ) -> Retirement:
        rows = await self.driver.call(
            "retire_worker",
            worker_id=worker_id,
            actor=actor,
            is_superuser=is_superuser,
            connection_id=connection_id,
        )
        return Retirement.of(rows[0])

    async def list_workers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[WorkerSummary]:
        rows = await self.driver.call("list_workers", room=room, page_size=page_size, page_offset=page_offset)
        return [WorkerSummary.of(row) for row in rows]
