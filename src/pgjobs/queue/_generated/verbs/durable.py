"""The verbs of durable.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.durable import Called, Parent, SavedStep, SentSignal, Step, Suspension
from pgjobs.queue.base import Json


class DurableVerbs:
    """The verbs of durable."""

    driver: Driver

    async def call_tasks(
        self,
        task_id: int,
        token: UUID,
        name: str,
        job: str,
        payloads: Sequence[Json],
        *,
        priority: int | None = None,
        max_attempts: int | None = None,
    ) -> list[Called]:
        """Submits tasks and waits for them."""
        rows = await self.driver.call(
            "call_tasks",
            task_id=task_id,
            token=token,
            name=name,
            job=job,
            payloads=payloads,
            priority=priority,
            max_attempts=max_attempts,
        )
        return Called.each(rows)

    async def list_parents(self, task_id: int) -> list[Parent]:
        """The parents of a task with their results."""
        rows = await self.driver.call("list_parents", task_id=task_id)
        return Parent.each(rows)

    async def list_steps(
        self, task_id: int, *, after: int | None = None, page_size: int | None = None
    ) -> list[Step]:
        """The steps of a task."""
        rows = await self.driver.call("list_steps", task_id=task_id, after=after, page_size=page_size)
        return Step.each(rows)

    async def save_step(self, task_id: int, token: UUID, name: str, result: Json = None) -> SavedStep:
        """Keeps the result of a step."""
        rows = await self.driver.call("save_step", task_id=task_id, token=token, name=name, result=result)
        return SavedStep.of(rows[0])

    async def send_signal(
        self, task_id: int, name: str, payload: Json = None, *, actor: str | None = None
    ) -> SentSignal:
        """Sends a named fact to a task."""
        rows = await self.driver.call("send_signal", task_id=task_id, name=name, payload=payload, actor=actor)
        return SentSignal.of(rows[0])

    async def suspend_task(
        self,
        task_id: int,
        token: UUID,
        name: str,
        *,
        delay: timedelta | None = None,
        signal: str | None = None,
    ) -> Suspension:
        """Suspends a running task until a time or a signal."""
        rows = await self.driver.call(
            "suspend_task", task_id=task_id, token=token, name=name, delay=delay, signal=signal
        )
        return Suspension.of(rows[0])
