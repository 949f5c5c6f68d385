"""`TaskVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.queue._generated.records.jobs import Counted
from pgjobs.queue._generated.records.tasks import (
    Attempt,
    Submitted,
    Task,
    TaskDocument,
    TaskEvent,
    UniqueSubmitted,
)
from pgjobs.queue._generated.verbs.tasks import TaskVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingTaskVerbs:
    """The same as `TaskVerbs`, blocking."""

    _wrapped: TaskVerbs

    def count_tasks(self, room: str, *, job: str | None = None, status: str | None = None) -> Counted:
        """How many tasks a room has."""
        return run(self._wrapped.count_tasks(room, job=job, status=status))

    def get_task(self, task_id: int | None = None, *, task_uuid: UUID | None = None) -> TaskDocument:
        """One task with payload and result."""
        return run(self._wrapped.get_task(task_id, task_uuid=task_uuid))

    def list_attempts(self, task_id: int) -> list[Attempt]:
        """Every ended attempt of a task."""
        return run(self._wrapped.list_attempts(task_id))

    def list_task_events(
        self, task_id: int, *, before: int | None = None, page_size: int | None = None
    ) -> list[TaskEvent]:
        """The events of a task."""
        return run(self._wrapped.list_task_events(task_id, before=before, page_size=page_size))

    def list_tasks(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        before: int | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
        cursor: str | None = None,
    ) -> list[Task]:
        """Tasks, newest first."""
        return run(
            self._wrapped.list_tasks(
                room,
                job=job,
                status=status,
                owner=owner,
                project=project,
                before=before,
                page_size=page_size,
                page_offset=page_offset,
                cursor=cursor,
            )
        )

    def resubmit_task(
        self,
        task_id: int,
        *,
        payload: Json = None,
        replace: bool | None = None,
        actor: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Submits a copy of a task with another payload."""
        return run(
            self._wrapped.resubmit_task(
                task_id,
                payload=payload,
                replace=replace,
                actor=actor,
                reason=reason,
                idempotency_key=idempotency_key,
            )
        )

    def submit_tasks(
        self,
        job: str,
        payloads: Sequence[Json],
        *,
        room: str | None = None,
        priority: int | None = None,
        available_at: datetime | None = None,
        delay: timedelta | None = None,
        max_attempts: int | None = None,
        idempotency_keys: Sequence[str | None] | None = None,
        submitter: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        tags: Sequence[str] | None = None,
        require_workers: bool | None = None,
        cross_room: bool | None = None,
        trace_context: str | None = None,
        after: Sequence[int] | None = None,
        on_failure: str | None = None,
        keys: Sequence[str | None] | None = None,
        items: Sequence[int] | None = None,
    ) -> list[Submitted]:
        """Submits many tasks of one job."""
        return run(
            self._wrapped.submit_tasks(
                job,
                payloads,
                room=room,
                priority=priority,
                available_at=available_at,
                delay=delay,
                max_attempts=max_attempts,
                idempotency_keys=idempotency_keys,
                submitter=submitter,
                owner=owner,
                project=project,
                tags=tags,
                require_workers=require_workers,
                cross_room=cross_room,
                trace_context=trace_context,
                after=after,
                on_failure=on_failure,
                keys=keys,
                items=items,
            )
        )

    def submit_unique(
        self,
        job: str,
        payload: Json = None,
        *,
        unique_while: str | None = None,
        unique_period: timedelta | None = None,
        unique_by: str | None = None,
        unique_fields: Sequence[str] | None = None,
        debounce: timedelta | None = None,
        max_wait: timedelta | None = None,
        replace: Sequence[str] | None = None,
        room: str | None = None,
        priority: int | None = None,
        available_at: datetime | None = None,
        delay: timedelta | None = None,
        max_attempts: int | None = None,
        idempotency_key: str | None = None,
        submitter: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        tags: Sequence[str] | None = None,
        require_workers: bool | None = None,
        cross_room: bool | None = None,
        trace_context: str | None = None,
        key: str | None = None,
    ) -> UniqueSubmitted:
        """Submits a task unless one for the same is there."""
        return run(
            self._wrapped.submit_unique(
                job,
                payload,
                unique_while=unique_while,
                unique_period=unique_period,
                unique_by=unique_by,
                unique_fields=unique_fields,
                debounce=debounce,
                max_wait=max_wait,
                replace=replace,
                room=room,
                priority=priority,
                available_at=available_at,
                delay=delay,
                max_attempts=max_attempts,
                idempotency_key=idempotency_key,
                submitter=submitter,
                owner=owner,
                project=project,
                tags=tags,
                require_workers=require_workers,
                cross_room=cross_room,
                trace_context=trace_context,
                key=key,
            )
        )
