"""`JobVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from pgjobs.queue._generated.records.jobs import Job, JobKey, Registration, Sharing
from pgjobs.queue._generated.verbs.jobs import JobVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingJobVerbs:
    """The same as `JobVerbs`, blocking."""

    _wrapped: JobVerbs

    def archive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Archives a job."""
        return run(self._wrapped.archive_job(job, actor=actor, reason=reason))

    def get_job(self, job: str, *, room: str | None = None) -> Job:
        """One job by address, number or public id."""
        return run(self._wrapped.get_job(job, room=room))

    def get_sharing(self, job: str) -> Sharing | None:
        """How a job shares what it may run."""
        return run(self._wrapped.get_sharing(job))

    def limit_job(
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
        return run(
            self._wrapped.limit_job(
                job,
                max_running,
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
        )

    def list_jobs(
        self,
        room: str | None = None,
        *,
        include_archived: bool | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Job]:
        """Jobs visible from a room."""
        return run(
            self._wrapped.list_jobs(
                room, include_archived=include_archived, page_size=page_size, page_offset=page_offset
            )
        )

    def list_keys(self, job: str, *, after: str | None = None, page_size: int | None = None) -> list[JobKey]:
        """The keys of a job: who waits, who runs."""
        return run(self._wrapped.list_keys(job, after=after, page_size=page_size))

    def pause_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Pauses a job: its tasks are not claimed."""
        return run(self._wrapped.pause_job(job, actor=actor, reason=reason))

    def register_job(
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
        return run(
            self._wrapped.register_job(
                room,
                category,
                name,
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
        )

    def resume_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Resumes a paused job."""
        return run(self._wrapped.resume_job(job, actor=actor, reason=reason))

    def retire_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Hides a job that nobody uses."""
        return run(self._wrapped.retire_job(job, actor=actor, reason=reason))

    def set_error_policy(
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
        return run(
            self._wrapped.set_error_policy(
                job,
                kind,
                is_retryable=is_retryable,
                backoff_base=backoff_base,
                backoff_cap=backoff_cap,
                jitter_share=jitter_share,
                jitter_cap=jitter_cap,
            )
        )

    def set_job_policy(
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
        return run(
            self._wrapped.set_job_policy(
                job,
                max_attempts=max_attempts,
                backoff_base=backoff_base,
                backoff_cap=backoff_cap,
                events=events,
                actor=actor,
                reason=reason,
                quarantine_after=quarantine_after,
            )
        )

    def unarchive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        """Restores an archived job."""
        return run(self._wrapped.unarchive_job(job, actor=actor, reason=reason))
