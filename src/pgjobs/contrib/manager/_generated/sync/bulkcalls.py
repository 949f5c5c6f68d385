"""`BulkCalls` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pgjobs.contrib.manager.bulk import BulkCalls
from pgjobs.queue._generated.records.manager import GenericJob
from pgjobs.queue.run_sync import run


class BlockingBulkCalls:
    """The same as `BulkCalls`, blocking."""

    _wrapped: BulkCalls

    def retry_now_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        status: Literal["failed", "queued"] | None = None,
        owner_user_id: str | int | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Has jobs run now: those that failed, and those that wait for their next attempt."""
        return run(
            self._wrapped.retry_now_jobs(
                domain,
                queue,
                job_type,
                status=status,
                owner_user_id=owner_user_id,
                dry_run=dry_run,
                limit=limit,
                actor=actor,
            )
        )

    def requeue_quarantined(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        ids: Sequence[int] | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Queues jobs in quarantine again, from the beginning."""
        return run(
            self._wrapped.requeue_quarantined(
                domain, queue, job_type, ids=ids, dry_run=dry_run, limit=limit, actor=actor
            )
        )

    def reschedule_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        delta_seconds: float | None = None,
        set_now: bool = False,
        owner_user_id: str | int | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Moves queued jobs by so many seconds, or has them due now."""
        return run(
            self._wrapped.reschedule_jobs(
                domain,
                queue,
                job_type,
                delta_seconds=delta_seconds,
                set_now=set_now,
                owner_user_id=owner_user_id,
                dry_run=dry_run,
                limit=limit,
                actor=actor,
            )
        )

    def set_queue_control(
        self,
        domain: str,
        queue: str,
        action: Literal["pause", "resume", "drain"],
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Mapping[str, Any]:
        """Pauses or resumes a queue, also for job types that come later.

        Paused or drained, nothing is acquired and what runs continues; jobs are still created.
        """
        return run(self._wrapped.set_queue_control(domain, queue, action, actor=actor, reason=reason))

    def apply_ttl_policies(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        age_seconds: float | None = None,
        runtime_seconds: float | None = None,
        action: Literal["cancel", "fail"] = "cancel",
        dry_run: bool = False,
        limit: int = 1000,
    ) -> int:
        """Ends jobs queued longer than `age_seconds` and processing longer than `runtime_seconds`."""
        return run(
            self._wrapped.apply_ttl_policies(
                domain,
                queue,
                job_type,
                age_seconds=age_seconds,
                runtime_seconds=runtime_seconds,
                action=action,
                dry_run=dry_run,
                limit=limit,
            )
        )

    def add_job_dependency(self, job_id: int, depends_on_job_id: int) -> GenericJob:
        """Has a queued job wait for another of the same domain and owner, and be cancelled with it."""
        return run(self._wrapped.add_job_dependency(job_id, depends_on_job_id))

    def count_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        status: str | None = None,
        owner_user_id: str | int | None = None,
    ) -> int:
        return run(self._wrapped.count_jobs(domain, queue, job_type, status, owner_user_id))

    def summarize_by_status(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        owner_user_id: str | int | None = None,
    ) -> dict[str, int]:
        """How many jobs there are of each status."""
        return run(self._wrapped.summarize_by_status(domain, queue, job_type, owner_user_id))

    def summarize_by_owner_and_status(
        self, domain: str | None = None, queue: str | None = None, job_type: str | None = None
    ) -> list[dict[str, Any]]:
        """How many jobs each owner has of each status."""
        return run(self._wrapped.summarize_by_owner_and_status(domain, queue, job_type))

    def get_queue_stats(
        self, domain: str | None = None, queue: str | None = None, job_type: str | None = None
    ) -> list[dict[str, Any]]:
        """Of each job type, how many are queued (due now), scheduled, processing, in quarantine."""
        return run(self._wrapped.get_queue_stats(domain, queue, job_type))
