"""`DurableVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.queue._generated.records.durable import Called, Parent, SavedStep, SentSignal, Step, Suspension
from pgjobs.queue._generated.verbs.durable import DurableVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingDurableVerbs:
    """The same as `DurableVerbs`, blocking."""

    _wrapped: DurableVerbs

    def call_tasks(
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
        return run(
            self._wrapped.call_tasks(
                task_id, token, name, job, payloads, priority=priority, max_attempts=max_attempts
            )
        )

    def list_parents(self, task_id: int) -> list[Parent]:
        """The parents of a task with their results."""
        return run(self._wrapped.list_parents(task_id))

    def list_steps(
        self, task_id: int, *, after: int | None = None, page_size: int | None = None
    ) -> list[Step]:
        """The steps of a task."""
        return run(self._wrapped.list_steps(task_id, after=after, page_size=page_size))

    def save_step(self, task_id: int, token: UUID, name: str, result: Json = None) -> SavedStep:
        """Keeps the result of a step."""
        return run(self._wrapped.save_step(task_id, token, name, result))

    def send_signal(
        self, task_id: int, name: str, payload: Json = None, *, actor: str | None = None
    ) -> SentSignal:
        """Sends a named fact to a task."""
        return run(self._wrapped.send_signal(task_id, name, payload, actor=actor))

    def suspend_task(
        self,
        task_id: int,
        token: UUID,
        name: str,
        *,
        delay: timedelta | None = None,
        signal: str | None = None,
    ) -> Suspension:
        """Suspends a running task until a time or a signal."""
        return run(self._wrapped.suspend_task(task_id, token, name, delay=delay, signal=signal))
