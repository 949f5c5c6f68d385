"""The verbs of server.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.drivers.tracing import submitting
from pgjobs.queue._generated.records.events import TrackedTask
from pgjobs.queue._generated.records.jobs import Counted
from pgjobs.queue._generated.records.server import (
    ActOnCleanupsResult,
    Bearer,
    ClaimAnswer,
    DatabaseFacts,
    FoundTasks,
    InspectedTask,
    InspectWorkerResult,
    NewSession,
    NewToken,
    ReplicationPosition,
    RestorePayloadResult,
    ShowFindingsResult,
    ShownWorker,
    ShowWhyResult,
    SignedIn,
    SignIn,
    TaskAnswer,
    Token,
)
from pgjobs.queue._generated.records.tasks import LogAnswer
from pgjobs.queue.base import Json
from pgjobs.queue.claims import readable_claim
from pgjobs.queue.held import Held, named


class ServerVerbs:
    """The verbs of server."""

    driver: Driver

    async def act_on_cleanups(
        self,
        step: str,
        run_ids: Sequence[UUID],
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
    ) -> list[ActOnCleanupsResult]:
        """Retries or ignores many cleanups."""
        rows = await self.driver.call(
            "act_on_cleanups", step=step, run_ids=run_ids, actor=actor, reason=reason, dry_run=dry_run
        )
        return ActOnCleanupsResult.each(rows)

    async def append_log(self, held: Held, lines: Sequence[Json]) -> list[LogAnswer]:
        """Keeps log lines of running tasks."""
        rows = await self.driver.call("append_log", **named(held), lines=lines)
        return LogAnswer.each(rows)

    async def claim_and_show(
        self, worker_id: UUID, *, actor: str | None = None, durable: bool | None = None
    ) -> ClaimAnswer | None:
        """Claims one task and shows it as HTTP does."""
        rows = await readable_claim(
            self.driver, "claim_and_show", ("id", "token"), worker_id=worker_id, actor=actor, durable=durable
        )
        return ClaimAnswer.of(rows[0]) if rows else None

    async def close_session(self, session: str) -> bool:
        """Signs out."""
        rows = await self.driver.call("close_session", session=session)
        is_closed: bool = rows[0]["is_closed"]
        return is_closed

    async def count_found_tasks(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        matching: str | None = None,
        in_payloads: bool | None = None,
    ) -> Counted:
        """How many tasks fit some filters."""
        rows = await self.driver.call(
            "count_found_tasks",
            room=room,
            job=job,
            status=status,
            owner=owner,
            since=since,
            until=until,
            matching=matching,
            in_payloads=in_payloads,
        )
        return Counted.of(rows[0])

    async def count_jobs(self, room: str | None = None, *, include_archived: bool | None = None) -> Counted:
        """How many jobs are visible from a room."""
        rows = await self.driver.call("count_jobs", room=room, include_archived=include_archived)
        return Counted.of(rows[0])

    async def count_schedules(self, room: str | None = None, *, job: str | None = None) -> Counted:
        """How many schedules there are."""
        rows = await self.driver.call("count_schedules", room=room, job=job)
        return Counted.of(rows[0])

    async def create_sign_in(
        self,
        user_id: str,
        *,
        is_superuser: bool | None = None,
        lifetime: timedelta | None = None,
        rooms: Sequence[str] | None = None,
    ) -> SignIn:
        """Creates what a one-time sign-in link holds."""
        rows = await self.driver.call(
            "create_sign_in",
            user_id=user_id,
            is_superuser=is_superuser,
            lifetime=lifetime,
            rooms=rooms or None,
        )
        return SignIn.of(rows[0])

    async def create_token(
        self,
        user_id: str,
        *,
        name: str | None = None,
        is_superuser: bool | None = None,
        lifetime: timedelta | None = None,
        rooms: Sequence[str] | None = None,
    ) -> NewToken:
        """Creates an API token."""
        rows = await self.driver.call(
            "create_token",
            user_id=user_id,
            name=name,
            is_superuser=is_superuser,
            lifetime=lifetime,
            rooms=rooms or None,
        )
        return NewToken.of(rows[0])

    async def find_tasks(
        self,
        room: str | None = None,
        *,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        matching: str | None = None,
        before: UUID | None = None,
        page_size: int | None = None,
        in_payloads: bool | None = None,
    ) -> FoundTasks:
        """A page of tasks that fit some filters."""
        rows = await self.driver.call(
            "find_tasks",
            room=room,
            job=job,
            status=status,
            owner=owner,
            since=since,
            until=until,
            matching=matching,
            before=before,
            page_size=page_size,
            in_payloads=in_payloads,
        )
        return FoundTasks.of(rows[0])

    async def inspect_task(self, task_uuid: UUID) -> InspectedTask:
        """One task as the console shows it."""
        rows = await self.driver.call("inspect_task", task_uuid=task_uuid)
        return InspectedTask.of(rows[0])

    async def inspect_worker(self, worker_id: UUID) -> InspectWorkerResult:
        """One worker in full."""
        rows = await self.driver.call("inspect_worker", worker_id=worker_id)
        return InspectWorkerResult.of(rows[0])

    async def list_tokens(
        self, of_user: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[Token]:
        """API tokens."""
        rows = await self.driver.call(
            "list_tokens", of_user=of_user, page_size=page_size, page_offset=page_offset
        )
        return Token.each(rows)

    async def open_session(
        self,
        of_user: str | None = None,
        *,
        as_superuser: bool | None = None,
        token: str | None = None,
        sign_in: str | None = None,
        lifetime: timedelta | None = None,
        of_rooms: Sequence[str] | None = None,
    ) -> NewSession:
        """Signs a user in."""
        rows = await self.driver.call(
            "open_session",
            of_user=of_user,
            as_superuser=as_superuser,
            token=token,
            sign_in=sign_in,
            lifetime=lifetime,
            of_rooms=of_rooms or None,
        )
        return NewSession.of(rows[0])

    async def replication_position(self) -> ReplicationPosition:
        """How far the log of this server has come."""
        rows = await self.driver.call(
            "replication_position",
        )
        return ReplicationPosition.of(rows[0])

    async def restore_payload(self, task_uuid: UUID, payload: Json) -> RestorePayloadResult:
        """An edited payload with hidden secrets put back."""
        rows = await self.driver.call("restore_payload", task_uuid=task_uuid, payload=payload)
        return RestorePayloadResult.of(rows[0])

    async def restore_schedule_payload(self, schedule: str, payload: Json) -> Json:
        """An edited payload with hidden secrets put back."""
        rows = await self.driver.call("restore_schedule_payload", schedule=schedule, payload=payload)
        restored: Json = rows[0]["restored"]
        return restored

    async def revoke_token(self, token_id: UUID) -> datetime:
        """Revokes a token."""
        rows = await self.driver.call("revoke_token", token_id=token_id)
        revoked_at: datetime = rows[0]["revoked_at"]
        return revoked_at

    async def show_database(self) -> DatabaseFacts:
        """The database: version, size, settings."""
        rows = await self.driver.call(
            "show_database",
        )
        return DatabaseFacts.of(rows[0])

    async def show_findings(self) -> list[ShowFindingsResult]:
        """Findings with the action that fits."""
        rows = await self.driver.call(
            "show_findings",
        )
        return ShowFindingsResult.each(rows)

    async def show_task(self, task_uuid: UUID) -> TaskAnswer:
        """One task as HTTP shows it."""
        rows = await self.driver.call("show_task", task_uuid=task_uuid)
        return TaskAnswer.of(rows[0])

    async def show_tasks(
        self,
        room: str,
        *,
        job: str | None = None,
        status: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[TaskAnswer]:
        """Tasks of a room as HTTP shows them."""
        rows = await self.driver.call(
            "show_tasks", room=room, job=job, status=status, page_size=page_size, page_offset=page_offset
        )
        return TaskAnswer.each(rows)

    async def show_why(self, task_uuid: UUID) -> ShowWhyResult:
        """The checks of pgjobs.why, each with the action that fits."""
        rows = await self.driver.call("show_why", task_uuid=task_uuid)
        return ShowWhyResult.of(rows[0])

    async def show_workers(
        self,
        page_size: int | None = None,
        *,
        page_offset: int | None = None,
        few: int | None = None,
        of_job: str | None = None,
    ) -> list[ShownWorker]:
        """Workers with their jobs and tasks."""
        rows = await self.driver.call(
            "show_workers", page_size=page_size, page_offset=page_offset, few=few, of_job=of_job
        )
        return ShownWorker.each(rows)

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
        key: str | None = None,
        after: Sequence[UUID] | None = None,
        on_failure: str | None = None,
    ) -> TaskAnswer:
        """Submits a task and shows it as HTTP does."""
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
                key=key,
                after=after,
                on_failure=on_failure,
            )
        return TaskAnswer.of(rows[0])

    async def track_tasks(self, task_ids: Sequence[int]) -> list[TrackedTask]:
        """The status of some tasks."""
        rows = await self.driver.call("track_tasks", task_ids=task_ids)
        return TrackedTask.each(rows)

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
        """Changes a task's status."""
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

    async def verify_session(self, session: str) -> SignedIn:
        """Who is signed in."""
        rows = await self.driver.call("verify_session", session=session)
        return SignedIn.of(rows[0])

    async def verify_token(self, token: str) -> Bearer:
        """The user a token belongs to."""
        rows = await self.driver.call("verify_token", token=token)
        return Bearer.of(rows[0])

    async def watch_events(self) -> str:
        """Asks to be told of the next event."""
        rows = await self.driver.call(
            "watch_events",
        )
        cursor: str = rows[0]["cursor"]
        return cursor

    async def watch_tasks(self, task_ids: Sequence[int]) -> list[int]:
        """Asks to be told when tasks end."""
        rows = await self.driver.call("watch_tasks", task_ids=task_ids)
        return [row["task_id"] for row in rows]
