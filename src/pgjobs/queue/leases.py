"""Acknowledging one lease: like many of them, but its problem is raised."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from pgjobs.errors import BY_SQLSTATE, PgJobsError
from pgjobs.queue._generated.records.tasks import Acknowledged, Failed, Renewed, Reported, Started
from pgjobs.queue._generated.verbs.leases import LeaseVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.held import OneHeld

Item = TypeVar("Item", Acknowledged, Failed, Started, Renewed, Reported)


class SingleLeaseVerbs(LeaseVerbs):
    """The part of `Queue` that works on one lease."""

    async def start_task(self, held: OneHeld) -> Started:
        """Says that work on one task has begun."""
        return _only(await self.start_tasks([held]))

    async def renew_task(self, held: OneHeld, lease: timedelta) -> Renewed:
        """Extends one lease."""
        return _only(await self.renew_tasks([held], lease))

    async def complete_task(self, held: OneHeld, result: Json = None) -> Acknowledged:
        """Ends one task successfully."""
        return _only(await self.complete_tasks([held], None if result is None else [result]))

    async def fail_task(
        self, held: OneHeld, error: str, *, kind: str | None = None, retryable: bool = True
    ) -> Failed:
        """Ends one attempt with an error."""
        kinds = None if kind is None else [kind]
        return _only(await self.fail_tasks([held], [error], kinds=kinds, retryable=[retryable]))

    async def release_task(self, held: OneHeld, *, delay: timedelta | None = None) -> Acknowledged:
        """Gives one lease back unused."""
        return _only(await self.release_tasks([held], delay=delay))


def _only(items: list[Item]) -> Item:
    """The one item of a batch of one, or its problem raised."""
    item = items[0]
    if item.problem is not None:
        problem = BY_SQLSTATE.get(item.problem, PgJobsError)
        raise problem(f"Task {item.task_id}: {(problem.__doc__ or item.problem).strip()}")
    return item
