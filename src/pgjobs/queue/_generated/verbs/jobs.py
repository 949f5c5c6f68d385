"""The verbs of jobs.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.jobs import Job, JobKey, Registration, Sharing
from pgjobs.queue.base import Json


class JobVerbs:
    """The verbs of jobs."""

    driver: Driver

    async def archive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Archives a job."""
        rows = await self.driver.call("archive_job", job=job, actor=actor, reason=reason)
        return Job.of(rows[0])

    async def get_job(self, job: str, *, room: str | None = None) -> Job:
        """One job by address, number or public id."""
        rows = await self.driver.call("get_job", job=job, room=room)
        return Job.of(rows[0])

    async def get_sharing(self, job: str) -> Sharing | None:
        """How a job shares what it may run."""
        rows = await self.driver.call("get_sharing", job=job)
        return Sharing.of(rows[0]) if rows else None

    async def limit_job(
        self,
        job: str,
        max_running: int | None = None,
        *,
        actor: str | None = None,
        reason: str | None = None,
        max_running_per_key: int | None = None,
        rate: str | None = None,
        rate_per_key: str | None = None,
        fair: bool | None = None,
        ordered: bool | None = None,
        on_failure: str | None = None,
        weights: Json = None,
    ) -> Job:
        """Limits what a job may run."""
        rows = await self.driver.call(
            "limit_job",
            job=job,
            max_running=max_running,
            actor=actor,
            reason=reason,
            max_running_per_key=max_running_per_key,
            rate=rate,
            rate_per_key=rate_per_key,
            fair=fair,
            ordered=ordered,
            on_failure=on_failure,
            weights=weights,
        )
        return Job.of(rows[0])

    async def list_jobs(
        self,
        room: str | None = None,
        *,
        include_archived: bool | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Job]:
        """Jobs visible from a room."""
        rows = await self.driver.call(
            "list_jobs",
            room=room,
            include_archived=include_archived,
            page_size=page_size,
            page_offset=page_offset,
        )
        return Job.each(rows)

    async def list_keys(
        self, job: str, *, after: str | None = None, page_size: int | None = None
    ) -> list[JobKey]:
        """The keys of a job: who waits, who runs."""
        rows = await self.driver.call("list_keys", job=job, after=after, page_size=page_size)
        return JobKey.each(rows)

    async def pause_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Pauses a job: its tasks are not claimed."""
        rows = await self.driver.call("pause_job", job=job, actor=actor, reason=reason)
        return Job.of(rows[0])

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
        max_running_per_key: int | None = None,
        rate: str | None = None,
        rate_per_key: str | None = None,
        fair: bool | None = None,
        ordered: bool | None = None,
        on_failure: str | None = None,
        job_number: int | None = None,
        job_uuid: UUID | None = None,
    ) -> Registration:
        """Registers a job."""
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
            max_running_per_key=max_running_per_key,
            rate=rate,
            rate_per_key=rate_per_key,
            fair=fair,
            ordered=ordered,
            on_failure=on_failure,
            job_number=job_number,
            job_uuid=job_uuid,
        )
        return Registration.of(rows[0])

    async def resume_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Resumes a paused job."""
        rows = await self.driver.call("resume_job", job=job, actor=actor, reason=reason)
        return Job.of(rows[0])

    async def retire_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Hides a job that nobody uses."""
        rows = await self.driver.call("retire_job", job=job, actor=actor, reason=reason)
        return Job.of(rows[0])

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
        """Sets what a job does after errors of one kind."""
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

    async def set_job_policy(
        self,
        job: str,
        *,
        max_attempts: int | None = None,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        events: str | None = None,
        actor: str | None = None,
        reason: str | None = None,
        quarantine_after: int | None = None,
    ) -> Job:
        """Changes how a job is retried."""
        rows = await self.driver.call(
            "set_job_policy",
            job=job,
            max_attempts=max_attempts,
            backoff_base=backoff_base,
            backoff_cap=backoff_cap,
            events=events,
            actor=actor,
            reason=reason,
            quarantine_after=quarantine_after,
        )
        return Job.of(rows[0])

    async def unarchive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Restores an archived job."""
        rows = await self.driver.call("unarchive_job", job=job, actor=actor, reason=reason)
        return Job.of(rows[0])
