"""`LeaseCalls` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgjobs.contrib.manager.leases import Answer, LeaseCalls
from pgjobs.contrib.manager.outcomes import Completed, Failure, Outcome
from pgjobs.queue._generated.records.manager import GenericJob
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingLeaseCalls:
    """The same as `LeaseCalls`, blocking."""

    _wrapped: LeaseCalls

    def acquire_next_job(
        self,
        domain: str,
        queue: str,
        lease_seconds: float,
        worker_id: str,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        *,
        job_type: str | None = None,
    ) -> GenericJob | None:
        """The most urgent due job under a fresh lease, or None.

        With `lease_seconds=0` and `JOBS_ADAPTIVE_LEASE` the lease is as long as such jobs take.
        """
        return run(
            self._wrapped.acquire_next_job(
                domain, queue, lease_seconds, worker_id, owner_user_id, project_id, job_type=job_type
            )
        )

    def acquire_next_jobs(
        self,
        domain: str,
        queue: str,
        lease_seconds: float,
        worker_id: str,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        *,
        limit: int = 1,
        job_type: str | None = None,
    ) -> list[GenericJob]:
        """Up to `limit` due jobs, each under a lease of its own."""
        return run(
            self._wrapped.acquire_next_jobs(
                domain,
                queue,
                lease_seconds,
                worker_id,
                owner_user_id,
                project_id,
                limit=limit,
                job_type=job_type,
            )
        )

    def acquire_jobs(
        self,
        domain: str,
        queue: str,
        lease_seconds: float,
        worker_id: str,
        quantity: int,
        *,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        job_type: str | None = None,
    ) -> list[GenericJob]:
        """Up to `quantity` due jobs, at most 500, each under a lease of its own.

        Once a minute (`JOBS_UPKEEP_SECONDS`) it does a bounded pass of upkeep first.
        """
        return run(
            self._wrapped.acquire_jobs(
                domain,
                queue,
                lease_seconds,
                worker_id,
                quantity,
                owner_user_id=owner_user_id,
                project_id=project_id,
                job_type=job_type,
            )
        )

    def renew_job_lease(
        self,
        id: int,
        seconds: float,
        worker_id: str | None = None,
        lease_id: str | None = None,
        *,
        progress: Json = None,
    ) -> Answer:
        """Extends a lease, never shortens it, and tells by `cancel_requested` whether to stop.

        Without worker and lease, those under which this manager acquired the job. `progress` is
        kept with the job.
        """
        return run(self._wrapped.renew_job_lease(id, seconds, worker_id, lease_id, progress=progress))

    def renew_job_leases(
        self, worker_id: str, leases: Sequence[tuple[int, str]], seconds: float
    ) -> list[Outcome]:
        """Extends leases, given as pairs of job id and lease id."""
        return run(self._wrapped.renew_job_leases(worker_id, leases, seconds))

    def complete_job(
        self,
        id: int,
        worker_id: str,
        lease_id: str,
        result: Json = None,
        *,
        completion_token: str | None = None,
    ) -> Answer:
        """Ends a job with its result; once more under the same lease gets the same answer.

        So does the same `completion_token`, whatever the lease; another one is refused.
        """
        return run(
            self._wrapped.complete_job(id, worker_id, lease_id, result, completion_token=completion_token)
        )

    def complete_jobs(self, worker_id: str, completed: Sequence[Completed]) -> list[Outcome]:
        return run(self._wrapped.complete_jobs(worker_id, completed))

    def batch_complete_jobs(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Completes jobs given as mappings of `complete_job`'s arguments; how many, repetitions left out."""
        return run(self._wrapped.batch_complete_jobs(items))

    def fail_job(
        self,
        id: int,
        worker_id: str,
        lease_id: str,
        error: str | BaseException,
        retryable: bool = True,
        *,
        kind: str | None = None,
        backoff_seconds: float | None = None,
        error_code: str | None = None,
        error_class: str | None = None,
        error_stack: str | None = None,
        completion_token: str | None = None,
    ) -> Answer:
        """Ends an attempt: the job is queued again for `available_at`, or failed for good.

        `error` is a text or the exception itself. The same `error_code` as often in a row as
        `JOBS_QUARANTINE_THRESHOLD` says puts the job into quarantine.
        """
        return run(
            self._wrapped.fail_job(
                id,
                worker_id,
                lease_id,
                error,
                retryable,
                kind=kind,
                backoff_seconds=backoff_seconds,
                error_code=error_code,
                error_class=error_class,
                error_stack=error_stack,
                completion_token=completion_token,
            )
        )

    def fail_jobs(
        self, worker_id: str, failures: Sequence[Failure], *, backoff_seconds: float | None = None
    ) -> list[Outcome]:
        return run(self._wrapped.fail_jobs(worker_id, failures, backoff_seconds=backoff_seconds))

    def batch_fail_jobs(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Fails jobs given as mappings of `fail_job`'s arguments; how many, repetitions left out."""
        return run(self._wrapped.batch_fail_jobs(items))

    def batch_renew_leases(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Renews leases given as mappings of `renew_job_lease`'s arguments; how many it renewed."""
        return run(self._wrapped.batch_renew_leases(items))

    def release_job(self, id: int, worker_id: str, lease_id: str) -> Answer:
        """Gives a job back: queued again, no attempt used."""
        return run(self._wrapped.release_job(id, worker_id, lease_id))

    def release_jobs(self, worker_id: str, leases: Sequence[tuple[int, str]]) -> list[Outcome]:
        return run(self._wrapped.release_jobs(worker_id, leases))
