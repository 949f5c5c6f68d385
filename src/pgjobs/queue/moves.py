"""The verbs by which operators move tasks: one, or a page of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.records import Stepped, Task


class StepVerbs:
    """The part of `Queue` that cancels, retries, ignores and takes back.

    The plural verbs take up to 1,000 tasks, by number or by public id, and answer per item: its
    status, and the SQLSTATE of the problem if it was left as it is. With `dry_run` they only tell.
    """

    driver: Driver

    async def cancel_task(
        self, task_id: int, *, reason: str | None = None, force: bool | None = None, actor: str | None = None
    ) -> Task:
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
    ) -> list[Stepped]:
        return await self._steps(
            "cancel_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            reason=reason,
            force=force,
            actor=actor,
            dry_run=dry_run,
        )

    async def retry_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        return await self._step("retry_task", task_id, actor, reason)

    async def retry_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[Stepped]:
        return await self._steps(
            "retry_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    async def ignore_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        return await self._step("ignore_task", task_id, actor, reason)

    async def ignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[Stepped]:
        return await self._steps(
            "ignore_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    async def unignore_task(
        self, task_id: int, *, actor: str | None = None, reason: str | None = None
    ) -> Task:
        return await self._step("unignore_task", task_id, actor, reason)

    async def unignore_tasks(
        self,
        task_ids: Sequence[int] | None = None,
        *,
        task_uuids: Sequence[UUID] | None = None,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[Stepped]:
        return await self._steps(
            "unignore_tasks",
            task_ids=task_ids,
            task_uuids=task_uuids,
            actor=actor,
            reason=reason,
            dry_run=dry_run,
        )

    async def _step(self, verb: str, task_id: int, actor: str | None, reason: str | None) -> Task:
        return Task.of((await self.driver.call(verb, task_id=task_id, actor=actor, reason=reason))[0])

    async def _steps(self, verb: str, **arguments: Any) -> list[Stepped]:
        return [Stepped.of(row) for row in await self.driver.call(verb, **arguments)]
