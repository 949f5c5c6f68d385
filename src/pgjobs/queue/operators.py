"""The queue as operators have it: with views of how it is doing, cleanups, and who may see which room."""

from __future__ import annotations

from collections.abc import Sequence

from pgjobs.queue._generated.verbs.cleanups import CleanupVerbs
from pgjobs.queue._generated.verbs.operators import OperatorVerbs
from pgjobs.queue._generated.verbs.rooms import RoomVerbs
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import CleanupsFound, CleanupTask


class Operators(Queue, OperatorVerbs, CleanupVerbs, RoomVerbs):
    """`queue.operators`, or opened by a URL of its own; Postgres has a view for each of its lists."""

    async def find_cleanups(
        self,
        *,
        statuses: Sequence[str] | None = None,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        of_kind: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> CleanupsFound:
        """A page of cleanup tasks, and how many there are on all pages."""
        wanted = {
            "statuses": statuses,
            "target_types": target_types,
            "of_node": of_node,
            "of_job": of_job,
            "of_kind": of_kind,
        }
        rows = await self.driver.call("list_cleanups", **wanted, page_size=page_size, page_offset=page_offset)
        # A page behind the last has no row to say it.
        [counted, *_] = rows or await self.driver.call("count_cleanups", **wanted)
        return CleanupsFound(CleanupTask.each(rows), int(counted["total"]))

    async def revoke_room(self, role: str, room: str) -> bool:
        """Closes a room to a tenant's role; whether it was open before."""
        return bool(await self.driver.call("revoke_room", role=role, room=room))
