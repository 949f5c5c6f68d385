"""What the verbs of upkeep answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgjobs.queue.base import Record


@dataclass(frozen=True, slots=True)
class PruneResult(Record):
    """A row of `prune_tasks`: removes ended tasks."""

    task_id: int
    status: str
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class SweepResult(Record):
    """A row of `sweep`: one pass of upkeep."""

    swept: str
    changed: int
    error: str | None
