"""The verbs between claim and outcome: what needs a lease."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.errors import BY_SQLSTATE, PgJobsError
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.records import Acknowledged, Failed, Json, Lease, Renewed, Reported, Started

Item = TypeVar("Item", Acknowledged, Failed, Started, Renewed, Reported)
Held = Sequence[Lease | tuple[int, UUID]]
"""Leases to acknowledge, as claimed or as (task id, token) pairs."""


class LeaseVerbs:
    """The part of `Queue` that workers use."""

    driver: Driver

    async def claim_tasks(
        self,
        worker_id: UUID | None = None,
        *,
        quantity: int | None = None,
        lease: timedelta | None = None,
        job_ids: Sequence[int] | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
        of_owner: str | None = None,
        of_project: str | None = None,
        holder: str | None = None,
        start: bool | None = None,
        remote: bool | None = None,
        actor: str | None = None,
        durable: bool | None = None,
    ) -> list[Lease]:
        claim = partial(
            self.driver.call,
            "claim_tasks",
            worker_id=worker_id,
            quantity=quantity,
            lease=lease,
            job_ids=job_ids,
            in_room=in_room,
            in_category=in_category,
            of_owner=of_owner,
            of_project=of_project,
            holder=holder,
            start=start,
            remote=remote,
            actor=actor,
            durable=durable,
        )
        rows = await readable_claim(self.driver, claim, "task_id", "token")
        return [Lease.of(row) for row in rows]

    async def start_tasks(self, held: Held) -> list[Started]:
        return [Started.of(row) for row in await self.driver.call("start_tasks", **_named(held))]

    async def start_task(self, held: Lease | tuple[int, UUID]) -> Started:
        return _only(await self.start_tasks([held]))

    async def report_progress(self, held: Held, progress: Sequence[Json]) -> list[Reported]:
        rows = await self.driver.call("report_progress", **_named(held), progress=progress)
        return [Reported.of(row) for row in rows]

    async def renew_tasks(self, held: Held, lease: timedelta, *, holder: str | None = None) -> list[Renewed]:
        rows = await self.driver.call("renew_tasks", **_named(held), lease=lease, holder=holder)
        return [Renewed.of(row) for row in rows]

    async def renew_task(self, held: Lease | tuple[int, UUID], lease: timedelta) -> Renewed:
        return _only(await self.renew_tasks([held], lease))

    async def complete_tasks(
        self, held: Held, results: Sequence[Json] | None = None, *, holder: str | None = None
    ) -> list[Acknowledged]:
        rows = await self.driver.call("complete_tasks", **_named(held), results=results, holder=holder)
        return [Acknowledged.of(row) for row in rows]

    async def complete_task(self, held: Lease | tuple[int, UUID], result: Json = None) -> Acknowledged:
        return _only(await self.complete_tasks([held], None if result is None else [result]))

    async def fail_tasks(
        self,
        held: Held,
        errors: Sequence[str],
        *,
        kinds: Sequence[str | None] | None = None,
        retryable: Sequence[bool] | None = None,
        holder: str | None = None,
    ) -> list[Failed]:
        rows = await self.driver.call(
            "fail_tasks", **_named(held), errors=errors, kinds=kinds, retryable=retryable, holder=holder
        )
        return [Failed.of(row) for row in rows]

    async def fail_task(
        self, held: Lease | tuple[int, UUID], error: str, *, kind: str | None = None, retryable: bool = True
    ) -> Failed:
        kinds = None if kind is None else [kind]
        return _only(await self.fail_tasks([held], [error], kinds=kinds, retryable=[retryable]))

    async def release_tasks(
        self, held: Held, *, delay: timedelta | None = None, holder: str | None = None
    ) -> list[Acknowledged]:
        rows = await self.driver.call("release_tasks", **_named(held), delay=delay, holder=holder)
        return [Acknowledged.of(row) for row in rows]

    async def release_task(
        self, held: Lease | tuple[int, UUID], *, delay: timedelta | None = None
    ) -> Acknowledged:
        return _only(await self.release_tasks([held], delay=delay))


def _named(held: Held) -> dict[str, Any]:
    pairs = [(item.task_id, item.token) if isinstance(item, Lease) else item for item in held]
    return {"task_ids": [task_id for task_id, _ in pairs], "tokens": [token for _, token in pairs]}


def _only(items: list[Item]) -> Item:
    """The one item of a batch of one, or its problem raised."""
    item = items[0]
    if item.problem is not None:
        problem = BY_SQLSTATE.get(item.problem, PgJobsError)
        raise problem(f"Task {item.task_id}: {(problem.__doc__ or item.problem).strip()}")
    return item
