"""The verbs behind live events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pgjobs.drivers import Driver
from pgjobs.queue.records import Record, Status


@dataclass(frozen=True, slots=True)
class TrackedTask(Record):
    """How a task stands now, as far as live events show it."""

    id: int
    phase: str | None
    created_at: datetime
    started_at: datetime | None
    status: Status
    error: str | None
    queue_position: int | None


class LiveVerbs:
    """The part of `Queue` that feeds Socket.IO and event streams."""

    driver: Driver

    async def watch_events(self) -> str:
        """Asks for notifications about events for a while; answers the cursor of now."""
        return str((await self.driver.call("watch_events"))[0]["cursor"])

    async def track_tasks(self, task_ids: Sequence[int]) -> list[TrackedTask]:
        return [TrackedTask.of(row) for row in await self.driver.call("track_tasks", task_ids=task_ids)]
