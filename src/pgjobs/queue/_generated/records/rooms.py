"""What the verbs of rooms answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgjobs.queue.base import Record


@dataclass(frozen=True, slots=True)
class RoomGrant(Record):
    """A row of the relation `room_grants`."""

    role: str
    room: str
    granted_at: datetime
