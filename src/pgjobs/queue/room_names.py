"""Which rooms can be."""

from __future__ import annotations

from pgjobs.errors import InvalidRoom

SHARED = ("@global", "@internal")
LONGEST = 200
ROOM = r"^(@global|@internal|[^@:/\x00]{1,200})$"
"""What they look like in an address, as a pattern."""


def validate_room_id(room_id: str) -> None:
    """Refuses rooms that cannot be, in the words that clients look for."""
    if room_id in SHARED:
        return
    if len(room_id) > LONGEST:
        raise InvalidRoom(f"Room ID '{room_id[:LONGEST]}…' is longer than {LONGEST} characters")
    if not room_id or set("@:\0") & set(room_id):
        raise InvalidRoom(f"Room ID '{room_id}' contains invalid characters (@ or :)")
