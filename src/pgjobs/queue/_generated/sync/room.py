"""`RoomVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from pgjobs.queue._generated.records.rooms import RoomGrant
from pgjobs.queue._generated.verbs.rooms import RoomVerbs
from pgjobs.queue.run_sync import run


class BlockingRoomVerbs:
    """The same as `RoomVerbs`, blocking."""

    _wrapped: RoomVerbs

    def grant_room(self, role: str, room: str) -> RoomGrant:
        """Opens a room to a tenant's role."""
        return run(self._wrapped.grant_room(role, room))

    def list_room_grants(self, of_role: str | None = None, *, of_room: str | None = None) -> list[RoomGrant]:
        """Which roles were granted which rooms."""
        return run(self._wrapped.list_room_grants(of_role, of_room=of_room))
