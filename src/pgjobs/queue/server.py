"""The verbs behind HTTP: tasks as they are shown, counted lists, API tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.drivers.tracing import submitting
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.records import Json, Record

ShownStatus = Literal["pending", "claimed", "running", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class TaskAnswer(Record):
    """A task as HTTP shows it."""

    id: int
    uuid: UUID
    job: str
    room: str
    status: ShownStatus
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    worker_id: UUID | None
    error: str | None
    payload: Json
    result: Json
    queue_position: int | None


@dataclass(frozen=True, slots=True)
class ClaimAnswer(TaskAnswer):
    """The same to whoever claimed it, with the token of the lease and the trace of the submit."""

    token: UUID
    trace_context: str | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A worker that is alive, and those of its tasks that it should stop."""

    id: UUID
    last_heartbeat_at: datetime
    cancel_requested: list[UUID]


@dataclass(frozen=True, slots=True)
class Counted(Record):
    """How long a list is; with relation `gte`, at least."""

    total: int
    relation: Literal["eq", "gte"]


@dataclass(frozen=True, slots=True)
class NewToken(Record):
    """A token, in clear this once."""

    id: UUID
    token: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Token(Record):
    """What may be known about a token."""

    id: UUID
    user_id: str
    name: str | None
    is_superuser: bool
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    rooms: list[str] | None


@dataclass(frozen=True, slots=True)
class Bearer(Record):
    """Whom a token stands for."""

    user_id: str
    is_superuser: bool
    rooms: list[str] | None


class RestVerbs:
    """The part of `Queue` that speaks to HTTP."""

    driver: Driver

    async def show_task(self, task_uuid: UUID) -> TaskAnswer:
        return TaskAnswer.of((await self.driver.call("show_task", task_uuid=task_uuid))[0])

    async def show_tasks(
        self,
        room: str,
        *,
        job: str | None = None,
        status: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[TaskAnswer]:
        rows = await self.driver.call(
            "show_tasks", room=room, job=job, status=status, page_size=page_size, page_offset=page_offset
        )
        return [TaskAnswer.of(row) for row in rows]

    async def count_tasks(self, room: str, *, job: str | None = None, status: str | None = None) -> Counted:
        return Counted.of((await self.driver.call("count_tasks", room=room, job=job, status=status))[0])

    async def count_jobs(self, room: str | None = None, *, include_archived: bool | None = None) -> Counted:
        rows = await self.driver.call("count_jobs", room=room, include_archived=include_archived)
        return Counted.of(rows[0])

    async def count_workers(self, room: str | None = None) -> Counted:
        return Counted.of((await self.driver.call("count_workers", room=room))[0])

    async def submit_and_show(
        self,
        job: str,
        room: str,
        payload: Json = None,
        *,
        idempotency_key: str | None = None,
        require_workers: bool | None = None,
        cross_room: bool | None = None,
        actor: str | None = None,
        trace_context: str | None = None,
    ) -> TaskAnswer:
        with submitting(job, 1, trace_context) as carried:
            rows = await self.driver.call(
                "submit_and_show",
                job=job,
                room=room,
                payload=payload,
                idempotency_key=idempotency_key,
                require_workers=require_workers,
                cross_room=cross_room,
                actor=actor,
                trace_context=carried,
            )
        return TaskAnswer.of(rows[0])

    async def claim_and_show(
        self, worker_id: UUID, *, actor: str | None = None, durable: bool | None = None
    ) -> ClaimAnswer | None:
        claim = partial(self.driver.call, "claim_and_show", worker_id=worker_id, actor=actor, durable=durable)
        rows = await readable_claim(self.driver, claim, "id", "token")
        return ClaimAnswer.of(rows[0]) if rows else None

    async def heartbeat_and_show(self, worker_id: UUID, *, actor: str | None = None) -> Heartbeat:
        rows = await self.driver.call("heartbeat_and_show", worker_id=worker_id, actor=actor)
        asked = [row["task_uuid"] for row in rows if row["task_uuid"] is not None]
        return Heartbeat(rows[0]["id"], rows[0]["last_heartbeat_at"], asked)

    async def update_task(
        self,
        task_uuid: UUID,
        status: str,
        *,
        error: str | None = None,
        result: Json = None,
        token: UUID | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> TaskAnswer:
        rows = await self.driver.call(
            "update_task",
            task_uuid=task_uuid,
            status=status,
            error=error,
            result=result,
            token=token,
            actor=actor,
            is_superuser=is_superuser,
        )
        return TaskAnswer.of(rows[0])

    async def watch_tasks(self, task_ids: Sequence[int]) -> list[int]:
        """Asks to be told when these end; answers those that have, or never were."""
        return [row["task_id"] for row in await self.driver.call("watch_tasks", task_ids=task_ids)]

    async def unmark_waiting(self, mark: int) -> None:
        await self.driver.call("unmark_waiting", mark=mark)

    async def create_token(
        self,
        user_id: str,
        *,
        name: str | None = None,
        is_superuser: bool | None = None,
        lifetime: timedelta | None = None,
        rooms: Sequence[str] | None = None,
    ) -> NewToken:
        rows = await self.driver.call(
            "create_token",
            user_id=user_id,
            name=name,
            is_superuser=is_superuser,
            lifetime=lifetime,
            rooms=rooms or None,
        )
        return NewToken.of(rows[0])

    async def verify_token(self, token: str) -> Bearer:
        return Bearer.of((await self.driver.call("verify_token", token=token))[0])

    async def list_tokens(
        self, of_user: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[Token]:
        rows = await self.driver.call(
            "list_tokens", of_user=of_user, page_size=page_size, page_offset=page_offset
        )
        return [Token.of(row) for row in rows]

    async def revoke_token(self, token_id: UUID) -> datetime:
        rows = await self.driver.call("revoke_token", token_id=token_id)
        revoked_at: datetime = rows[0]["revoked_at"]
        return revoked_at
