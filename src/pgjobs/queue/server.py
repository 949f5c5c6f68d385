"""The queue as a server has it: with what HTTP, the console, sign-in and providers ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self
from uuid import UUID
from weakref import WeakKeyDictionary

from pgjobs.drivers.confined import ConfinedDriver
from pgjobs.queue._generated.verbs.providers import ProviderVerbs
from pgjobs.queue._generated.verbs.server import ServerVerbs
from pgjobs.queue.operators import Operators
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import ActedOn, Heartbeat


class ServerQueue(Operators, ServerVerbs, ProviderVerbs):
    """Everything that a server asks of a queue."""

    @classmethod
    def of(cls, queue: Queue) -> ServerQueue:
        """The same queue, as a server has it; always the same object, for feeds and long polls to share."""
        if isinstance(queue, ServerQueue):
            return queue
        known = _SERVED.get(queue)
        if known is None:
            known = _SERVED[queue] = cls(queue.driver)
        return known

    def confined_to(self, rooms: Sequence[str]) -> Self:
        """The same queue for a member of these rooms: nothing of the others is shown or changed."""
        return type(self)(ConfinedDriver(self.driver, rooms))

    async def heartbeat_and_show(self, worker_id: UUID, *, actor: str | None = None) -> Heartbeat:
        """Keeps a worker alive and shows what it should stop."""
        rows = await self.driver.call("heartbeat_and_show", worker_id=worker_id, actor=actor)
        asked = [row["task_uuid"] for row in rows if row["task_uuid"] is not None]
        return Heartbeat(rows[0]["id"], rows[0]["last_heartbeat_at"], asked)

    async def get_reads(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Answers kept under some keys."""
        rows = await self.driver.call("get_reads", keys=keys)
        return {row["key"]: row["data"] for row in rows}

    async def act_on_tasks(
        self,
        verb: str,
        task_uuids: Sequence[UUID],
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ActedOn:
        """Retry, cancel or ignore many tasks in one call: one that has moved on holds up no other."""
        if not task_uuids:
            return ActedOn(0, 0)
        rows = await self.driver.call(
            f"{verb}_tasks", task_uuids=task_uuids, actor=actor, reason=reason, dry_run=dry_run
        )
        refused = sum(row["problem"] is not None for row in rows)
        return ActedOn(len(rows) - refused, refused)


_SERVED: WeakKeyDictionary[Queue, ServerQueue] = WeakKeyDictionary()
