"""`StepVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from pgjobs.queue._generated.records.manager import BulkResult
from pgjobs.queue._generated.records.tasks import Task
from pgjobs.queue._generated.verbs.steps import StepVerbs
from pgjobs.queue.run_sync import run


class BlockingStepVerbs:
    """The same as `StepVerbs`, blocking."""

    _wrapped: StepVerbs

    def cancel_task(
        self, task_id: int, *, reason: str | None = None, force: bool | None = None, actor: str | None = None
    ) -> Task:
        """Cancels a task."""
        return run(self._wrapped.cancel_task(task_id, reason=reason, force=force, actor=actor))

    def cancel_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        reason: str | None = None,
        force: bool | None = None,
        actor: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Cancels tasks."""
        return run(
            self._wrapped.cancel_tasks(
                task_ids, task_uuids=task_uuids, reason=reason, force=force, actor=actor, dry_run=dry_run
            )
        )

    def ignore_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        """Ignores a task."""
        return run(self._wrapped.ignore_task(task_id, actor=actor, reason=reason))

    def ignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Ignores tasks."""
        return run(
            self._wrapped.ignore_tasks(
                task_ids, task_uuids=task_uuids, actor=actor, reason=reason, dry_run=dry_run
            )
        )

    def retry_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        """Retries a task from the beginning."""
        return run(self._wrapped.retry_task(task_id, actor=actor, reason=reason))

    def retry_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Retries tasks from the beginning."""
        return run(
            self._wrapped.retry_tasks(
                task_ids, task_uuids=task_uuids, actor=actor, reason=reason, dry_run=dry_run
            )
        )

    def unignore_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        """Stops ignoring a task: it returns to the queue."""
        return run(self._wrapped.unignore_task(task_id, actor=actor, reason=reason))

    def unignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Stops ignoring tasks: they return to the queue."""
        return run(
            self._wrapped.unignore_tasks(
                task_ids, task_uuids=task_uuids, actor=actor, reason=reason, dry_run=dry_run
            )
        )
