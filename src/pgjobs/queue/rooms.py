"""The verbs that open rooms to logins, where these are confined to some."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgjobs.drivers import Driver
from pgjobs.queue.records import Record


@dataclass(frozen=True, slots=True)
class RoomGrant(Record):
    """A room that is open to a tenant's role."""

    role: str
    room: str
    granted_at: datetime


class RoomVerbs:
    """The part of `Queue` that knows which login may see which room. Postgres only."""

    driver: Driver

    async def grant_room(self, role: str, room: str) -> RoomGrant:
        return RoomGrant.of((await self.driver.call("grant_room", role=role, room=room))[0])

    async def revoke_room(self, role: str, room: str) -> bool:
        """Whether it was open before."""
        return bool(await self.driver.call("revoke_room", role=role, room=room))

    async def list_room_grants(
        self, of_role: str | None = None, *, of_room: str | None = None
    ) -> list[RoomGrant]:
        rows = await self.driver.call("list_room_grants", of_role=of_role, of_room=of_room)
        return [RoomGrant.of(row) for row in rows]
