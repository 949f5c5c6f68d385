"""`WorkerVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pgjobs.queue._generated.records.jobs import Counted
from pgjobs.queue._generated.records.workers import Retirement, Worker, WorkerSummary
from pgjobs.queue._generated.verbs.workers import WorkerVerbs
from pgjobs.queue.run_sync import run


class BlockingWorkerVerbs:
    """The same as `WorkerVerbs`, blocking."""

    _wrapped: WorkerVerbs

    def count_workers(self, room: str | None = None) -> Counted:
        """How many workers there are."""
        return run(self._wrapped.count_workers(room))

    def heartbeat_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        connection_id: UUID | None = None,
        clock: datetime | None = None,
    ) -> Worker:
        """Keeps a worker alive."""
        return run(
            self._wrapped.heartbeat_worker(worker_id, actor=actor, connection_id=connection_id, clock=clock)
        )

    def list_workers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[WorkerSummary]:
        """Registered workers."""
        return run(self._wrapped.list_workers(room, page_size=page_size, page_offset=page_offset))

    def register_worker(
        self,
        name: str | None = None,
        *,
        jobs: Sequence[str] | None = None,
        actor: str | None = None,
        worker_id: UUID | None = None,
    ) -> Worker:
        """Registers a worker."""
        return run(self._wrapped.register_worker(name, jobs=jobs, actor=actor, worker_id=worker_id))

    def retire_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        is_superuser: bool | None = None,
        connection_id: UUID | None = None,
    ) -> Retirement:
        """Removes a worker."""
        return run(
            self._wrapped.retire_worker(
                worker_id, actor=actor, is_superuser=is_superuser, connection_id=connection_id
            )
        )
