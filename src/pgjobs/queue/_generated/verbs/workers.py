"""The verbs of workers.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.jobs import Counted
from pgjobs.queue._generated.records.workers import Retirement, Worker, WorkerSummary


class WorkerVerbs:
    """The verbs of workers."""

    driver: Driver

    async def count_workers(self, room: str | None = None) -> Counted:
        """How many workers there are."""
        rows = await self.driver.call("count_workers", room=room)
        return Counted.of(rows[0])

    async def heartbeat_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        connection_id: UUID | None = None,
        clock: datetime | None = None,
    ) -> Worker:
        """Keeps a worker alive."""
        rows = await self.driver.call(
            "heartbeat_worker", worker_id=worker_id, actor=actor, connection_id=connection_id, clock=clock
        )
        return Worker.of(rows[0])

    async def list_workers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[WorkerSummary]:
        """Registered workers."""
        rows = await self.driver.call("list_workers", room=room, page_size=page_size, page_offset=page_offset)
        return WorkerSummary.each(rows)

    async def register_worker(
        self,
        name: str | None = None,
        *,
        jobs: Sequence[str] | None = None,
        actor: str | None = None,
        worker_id: UUID | None = None,
    ) -> Worker:
        """Registers a worker."""
        rows = await self.driver.call(
            "register_worker", name=name, jobs=jobs, actor=actor, worker_id=worker_id
        )
        return Worker.of(rows[0])

    async def retire_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        is_superuser: bool | None = None,
        connection_id: UUID | None = None,
    ) -> Retirement:
        """Removes a worker."""
        rows = await self.driver.call(
            "retire_worker",
            worker_id=worker_id,
            actor=actor,
            is_superuser=is_superuser,
            connection_id=connection_id,
        )
        return Retirement.of(rows[0])
