"""Working: acquire, renew, complete, fail and release, one at a time or many in one round trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from pgjobs.contrib.manager.calls import GenericCalls, owner_text
from pgjobs.contrib.manager.opening import OpenedLater
from pgjobs.contrib.manager.outcomes import (
    Completed,
    Failure,
    Outcome,
    RememberedLeases,
    by_worker,
    held,
    outcome_of,
)
from pgjobs.contrib.manager.quotas import MAX_INFLIGHT, fitting, quota_of
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease
from pgjobs.contrib.manager.upkeep import Upkeep
from pgjobs.contrib.manager.words import own_words, required
from pgjobs.errors import LeaseLost
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Acknowledged, Failed, GenericCompleted, GenericFailed, GenericJob, Json

Answer: TypeAlias = Outcome | Any
"""An `Outcome`; `False` for a lost lease where the manager was told to answer so."""


class LeaseCalls:
    """The part of the manager that workers use.

    Every acknowledgement names the worker and the lease. Once the lease has lapsed or
    passed on it changes nothing and raises `LeaseLost`; in a batch that is the item's `problem`.
    With `on_lost_lease="return"` it answers `False` instead of raising.
    """

    def __init__(
        self,
        queue: Queue | str | None,
        settings: ManagerSettings | None = None,
        *,
        on_lost_lease: OnLostLease | None = None,
    ) -> None:
        self.queue = queue if isinstance(queue, Queue) else Queue(OpenedLater(queue))
        self._calls = GenericCalls(self.queue.driver)
        self.settings = (settings or ManagerSettings()).with_lost_leases(on_lost_lease)
        self._leases = RememberedLeases()
        self._upkeep = Upkeep(self.settings.upkeep_seconds)

    async def acquire_next_job(  # noqa: PLR0917
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
        jobs = await self.acquire_jobs(
            domain,
            queue,
            lease_seconds,
            worker_id,
            1,
            owner_user_id=owner_user_id,
            project_id=project_id,
            job_type=job_type,
        )
        return jobs[0] if jobs else None

    async def acquire_next_jobs(  # noqa: PLR0917
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
        return await self.acquire_jobs(
            domain,
            queue,
            lease_seconds,
            worker_id,
            limit,
            owner_user_id=owner_user_id,
            project_id=project_id,
            job_type=job_type,
        )

    async def acquire_jobs(
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
        required(domain=domain, queue=queue, worker_id=worker_id, quantity=quantity)
        await self._upkeep.if_due(self.queue)
        lease = await self._lease_for(lease_seconds, domain, queue, job_type)
        with own_words():
            jobs = await self._calls.acquire_generic_jobs(
                domain,
                queue,
                worker_id,
                lease,
                quantity=quantity,
                owner_user_id=owner_text(owner_user_id),
                project_id=project_id,
                job_type=job_type,
                max_inflight=quota_of(MAX_INFLIGHT, domain, owner_text(owner_user_id)),
            )
        self._leases.remember(jobs)
        return jobs

    async def _lease_for(
        self, lease_seconds: float, domain: str, queue: str, job_type: str | None
    ) -> timedelta:
        """The lease as asked for; 0 asks for one as long as such jobs take, where that is known."""
        if lease_seconds == 0 and self.settings.adaptive_lease:
            known = await self._calls.suggest_lease(domain, queue, job_type)
            most = self.settings.max_lease_seconds
            return self.settings.lease(most if known is None else max(known.lease.total_seconds(), 1))
        return self.settings.lease(lease_seconds)

    async def renew_job_lease(
        self,
        id: int,  # noqa: A002
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
        if worker_id is None or lease_id is None:
            worker_id, lease_id = self._leases.of(id)
        [outcome] = await self.renew_job_leases(worker_id, [(id, lease_id)], seconds)
        if progress is not None and outcome.problem is None:
            with own_words():
                await self.queue.report_progress(held([(id, lease_id)]), [progress])
        return self._settled(outcome)

    async def renew_job_leases(
        self, worker_id: str, leases: Sequence[tuple[int, str]], seconds: float
    ) -> list[Outcome]:
        """Extends leases, given as pairs of job id and lease id."""
        required(worker_id=worker_id)
        lease = self.settings.lease(seconds, "seconds")
        with own_words(lease="seconds"):
            items = await self.queue.renew_tasks(held(leases), lease, holder=worker_id)
        return [outcome_of(item) for item in items]

    async def complete_job(
        self,
        id: int,  # noqa: A002
        worker_id: str,
        lease_id: str,
        result: Json = None,
        *,
        completion_token: str | None = None,
    ) -> Answer:
        """Ends a job with its result; once more under the same lease gets the same answer.

        So does the same `completion_token`, whatever the lease; another one is refused.
        """
        completed = Completed(id, lease_id, result, completion_token)
        return self._settled((await self.complete_jobs(worker_id, [completed]))[0])

    async def complete_jobs(self, worker_id: str, completed: Sequence[Completed]) -> list[Outcome]:
        required(worker_id=worker_id)
        leases = held([(item.id, item.lease_id) for item in completed])
        results = [fitting(item.result, "Result", self.settings) for item in completed]
        tokens = self._completion_tokens([item.completion_token for item in completed])
        with own_words(completion_tokens="completion_token"):
            if tokens is not None:
                return self._ended(
                    await self._calls.complete_generic_jobs(leases, results, worker_id, tokens)
                )
            return self._ended(await self.queue.complete_tasks(leases, results, holder=worker_id))

    async def batch_complete_jobs(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Completes jobs given as mappings of `complete_job`'s arguments; how many, repetitions left out."""
        done = 0
        for worker_id, group in by_worker(items):
            completed = [Completed(**item) for item in group]
            done += sum(
                outcome.problem is None and not outcome.repeated
                for outcome in await self.complete_jobs(worker_id, completed)
            )
        return done

    async def fail_job(
        self,
        id: int,  # noqa: A002
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
        failure = Failure(
            id, lease_id, error, retryable, kind, error_code, error_class, error_stack, completion_token
        )
        [outcome] = await self.fail_jobs(worker_id, [failure], backoff_seconds=backoff_seconds)
        return self._settled(outcome)

    async def fail_jobs(
        self, worker_id: str, failures: Sequence[Failure], *, backoff_seconds: float | None = None
    ) -> list[Outcome]:
        required(worker_id=worker_id)
        told = [item.told() for item in failures]
        leases = held([(item.id, item.lease_id) for item in failures])
        errors, kinds = [error for error, _ in told], [kind for _, kind in told]
        retryable = [item.retryable for item in failures]
        tokens = self._completion_tokens([item.completion_token for item in failures])
        threshold = self._threshold(failures)
        with own_words(completion_tokens="completion_token", backoff="backoff_seconds"):
            if backoff_seconds is not None or tokens is not None or threshold is not None:
                return self._ended(
                    await self._calls.fail_generic_jobs(
                        leases,
                        errors,
                        kinds,
                        retryable,
                        worker_id,
                        backoff=None if backoff_seconds is None else timedelta(seconds=backoff_seconds),
                        quarantine_after=threshold,
                        completion_tokens=tokens,
                    )
                )
            return self._ended(
                await self.queue.fail_tasks(
                    leases, errors, kinds=kinds, retryable=retryable, holder=worker_id
                )
            )

    async def batch_fail_jobs(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Fails jobs given as mappings of `fail_job`'s arguments; how many, repetitions left out."""
        done = 0
        for worker_id, group in by_worker(items):
            for item in group:
                given = dict(item)
                backoff = given.pop("backoff_seconds", None)
                outcomes = await self.fail_jobs(worker_id, [Failure(**given)], backoff_seconds=backoff)
                done += sum(outcome.problem is None and not outcome.repeated for outcome in outcomes)
        return done

    async def batch_renew_leases(self, items: Sequence[Mapping[str, Any]]) -> int:
        """Renews leases given as mappings of `renew_job_lease`'s arguments; how many it renewed."""
        done = 0
        for worker_id, group in by_worker(items):
            for item in group:
                [outcome] = await self.renew_job_leases(
                    worker_id, [(item["id"], item["lease_id"])], item["seconds"]
                )
                done += outcome.problem is None
        return done

    def _completion_tokens(self, tokens: list[str | None]) -> list[str | None] | None:
        if self.settings.require_completion_token:
            for token in tokens:
                required(completion_token=token)
        return tokens if any(token is not None for token in tokens) else None

    def _threshold(self, failures: Sequence[Failure]) -> int | None:
        """How often an error may come in a row, if these have codes; SQLite has no quarantine."""
        if not any(item.error_code for item in failures) or self.queue.driver.dialect == "sqlite":
            return None
        return self.settings.quarantine_threshold or None

    async def release_job(self, id: int, worker_id: str, lease_id: str) -> Answer:  # noqa: A002
        """Gives a job back: queued again, no attempt used."""
        return self._settled((await self.release_jobs(worker_id, [(id, lease_id)]))[0])

    async def release_jobs(self, worker_id: str, leases: Sequence[tuple[int, str]]) -> list[Outcome]:
        required(worker_id=worker_id)
        with own_words():
            return self._ended(await self.queue.release_tasks(held(leases), holder=worker_id))

    def _settled(self, outcome: Outcome) -> Answer:
        if isinstance(outcome.problem, LeaseLost) and self.settings.on_lost_lease == "return":
            return False
        return outcome.settled()

    def _ended(
        self, items: Sequence[Acknowledged | Failed | GenericCompleted | GenericFailed]
    ) -> list[Outcome]:
        outcomes = [outcome_of(item) for item in items]
        # A lost lease was another one's than the lease remembered, if that is newer.
        self._leases.forget(item.id for item in outcomes if not isinstance(item.problem, LeaseLost))
        return outcomes
