"""The verbs of rooms.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.rooms import RoomGrant


class RoomVerbs:
    """The verbs of rooms."""

    driver: Driver

    async def grant_room(self, role: str, room: str) -> RoomGrant:
        """Opens a room to a tenant's role."""
        rows = await self.driver.call("grant_room", role=role, room=room)
        return RoomGrant.of(rows[0])

    async def list_room_grants(
        self, of_role: str | None = None, *, of_room: str | None = None
    ) -> list[RoomGrant]:
        """Which roles were granted which rooms."""
        rows = await self.driver.call("list_room_grants", of_role=of_role, of_room=of_room)
        return RoomGrant.each(rows)
