"""`Queue` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from typing import Any

from pgjobs.queue._generated.records.tasks import Submitted
from pgjobs.queue.base import Json
from pgjobs.queue.queue import Queue
from pgjobs.queue.run_sync import run


class BlockingQueue:
    """The same as `Queue`, blocking."""

    _wrapped: Queue

    def migrate(self) -> None:
        """Installs the schema or brings it up to date, as `pgjobs migrate` does."""
        return run(self._wrapped.migrate())

    def submit_task(
        self, job: str, payload: Json = None, *, idempotency_key: str | None = None, **options: Any
    ) -> Submitted:
        """One task; `options` as in `submit_tasks`, and its `key`."""
        return run(self._wrapped.submit_task(job, payload, idempotency_key=idempotency_key, **options))

    def delete_job(
        self,
        job: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        batch: int | None = None,
        dry_run: bool = False,
    ) -> int:
        """Removes a job and all of its tasks for good, batch by batch; how many tasks went, or would go."""
        return run(self._wrapped.delete_job(job, actor=actor, reason=reason, batch=batch, dry_run=dry_run))
