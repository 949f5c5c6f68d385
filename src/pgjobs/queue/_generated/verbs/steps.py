"""The verbs of steps.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.manager import BulkResult
from pgjobs.queue._generated.records.tasks import Task


class StepVerbs:
    """The verbs of steps."""

    driver: Driver

    async def cancel_task(
        self, task_id: int, *, reason: str | None = None, force: bool | None = None, actor: str | None = None
    ) -> Task:
        """Cancels a task."""
        rows = await self.driver.call("cancel_task", task_id=task_id, reason=reason, force=force, actor=actor)
        return Task.of(rows[0])

    async def cancel_tasks(
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
        rows = await self.driver.call(
            "cancel_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            reason=reason,
            force=force,
            actor=actor,
            dry_run=dry_run,
        )
        return BulkResult.each(rows)

    async def ignore_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        """Ignores a task."""
        rows = await self.driver.call("ignore_task", task_id=task_id, actor=actor, reason=reason)
        return Task.of(rows[0])

    async def ignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Ignores tasks."""
        rows = await self.driver.call(
            "ignore_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )
        return BulkResult.each(rows)

    async def retry_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        """Retries a task from the beginning."""
        rows = await self.driver.call("retry_task", task_id=task_id, actor=actor, reason=reason)
        return Task.of(rows[0])

    async def retry_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Retries tasks from the beginning."""
        rows = await self.driver.call(
            "retry_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )
        return BulkResult.each(rows)

    async def unignore_task(
        self, task_id: int, *, actor: str | None = None, reason: str | None = None
    ) -> Task:
        """Stops ignoring a task: it returns to the queue."""
        rows = await self.driver.call("unignore_task", task_id=task_id, actor=actor, reason=reason)
        return Task.of(rows[0])

    async def unignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[BulkResult]:
        """Stops ignoring tasks: they return to the queue."""
        rows = await self.driver.call(
            "unignore_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )
        return BulkResult.each(rows)
