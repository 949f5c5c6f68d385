"""Working: acquire, renew, complete, fail and release, one at a time or many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from pgjobs.contrib.manager.opening import OpenedLater
from pgjobs.contrib.manager.outcomes import Completed, Failure, Outcome, RememberedLeases, held, outcome_of
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease
from pgjobs.contrib.manager.upkeep import Upkeep
from pgjobs.contrib.manager.words import own_words, required
from pgjobs.drivers import Driver
from pgjobs.errors import LeaseLost
from pgjobs.queue._generated.verbs.manager import ManagerVerbs
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Acknowledged, Failed, GenericJob, Json

Answer: TypeAlias = Outcome | Any
"""An `Outcome`; `False` for a lost lease where the manager was told to answer so."""


class GenericCalls(ManagerVerbs):
    """The verbs in the manager's words."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver


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
    ) -> GenericJob | None:
        """The most urgent due job under a fresh lease, or None."""
        jobs = await self.acquire_jobs(
            domain, queue, lease_seconds, worker_id, 1, owner_user_id=owner_user_id, project_id=project_id
        )
        return jobs[0] if jobs else None

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
    ) -> list[GenericJob]:
        """Up to `quantity` due jobs, at most 500, each under a lease of its own.

        Once a minute (`JOBS_UPKEEP_SECONDS`) it does a bounded pass of upkeep first.
        """
        required(domain=domain, queue=queue, worker_id=worker_id, quantity=quantity)
        await self._upkeep.if_due(self.queue)
        with own_words():
            jobs = await self._calls.acquire_generic_jobs(
                domain,
                queue,
                worker_id,
                self.settings.lease(lease_seconds),
                quantity=quantity,
                owner_user_id=None if owner_user_id is None else str(owner_user_id),
                project_id=project_id,
            )
        self._leases.remember(jobs)
        return jobs

    async def renew_job_lease(
        self,
        id: int,  # noqa: A002
        seconds: float,
        worker_id: str | None = None,
        lease_id: str | None = None,
    ) -> Answer:
        """Extends a lease, never shortens it, and tells by `cancel_requested` whether to stop.

        Without worker and lease, those under which this manager acquired the job.
        """
        if worker_id is None or lease_id is None:
            worker_id, lease_id = self._leases.of(id)
        return self._settled((await self.renew_job_leases(worker_id, [(id, lease_id)], seconds))[0])

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
    ) -> Answer:
        """Ends a job with its result; once more under the same lease gets the same answer."""
        return self._settled((await self.complete_jobs(worker_id, [Completed(id, lease_id, result)]))[0])

    async def complete_jobs(self, worker_id: str, completed: Sequence[Completed]) -> list[Outcome]:
        required(worker_id=worker_id)
        leases = held([(item.id, item.lease_id) for item in completed])
        results = [item.result for item in completed]
        with own_words():
            return self._ended(await self.queue.complete_tasks(leases, results, holder=worker_id))

    async def fail_job(
        self,
        id: int,  # noqa: A002
        worker_id: str,
        lease_id: str,
        error: str | BaseException,
        retryable: bool = True,
        *,
        kind: str | None = None,
    ) -> Answer:
        """Ends an attempt: the job is queued again for `available_at`, or failed for good.

        `error` is a text or the exception itself.
        """
        failure = Failure(id, lease_id, error, retryable, kind)
        return self._settled((await self.fail_jobs(worker_id, [failure]))[0])

    async def fail_jobs(self, worker_id: str, failures: Sequence[Failure]) -> list[Outcome]:
        required(worker_id=worker_id)
        told = [item.told() for item in failures]
        with own_words():
            items = await self.queue.fail_tasks(
                held([(item.id, item.lease_id) for item in failures]),
                [error for error, _ in told],
                kinds=[kind for _, kind in told],
                retryable=[item.retryable for item in failures],
                holder=worker_id,
            )
        return self._ended(items)

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

    def _ended(self, items: Sequence[Acknowledged | Failed]) -> list[Outcome]:
        outcomes = [outcome_of(item) for item in items]
        # A lost lease was another one's than the lease remembered, if that is newer.
        self._leases.forget(item.id for item in outcomes if not isinstance(item.problem, LeaseLost))
        return outcomes
