"""What the verbs of quotas answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgjobs.queue.base import Record


@dataclass(frozen=True, slots=True)
class Quotas(Record):
    """A row of the relation `quotas`."""

    room: str
    owner: str | None
    max_waiting: int | None
    per_minute: int | None
    max_running: int | None
    since: datetime
