"""Queue: one typed method per verb. Rules live in SQL; this module only names and types them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from uuid import UUID

from pgjobs.connections import connect, driver_for_connection
from pgjobs.drivers import Driver
from pgjobs.errors import BY_SQLSTATE, PgJobsError
from pgjobs.generic import GenericVerbs
from pgjobs.models import (
    Acknowledged,
    Attempt,
    Event,
    Failed,
    Job,
    Json,
    Lease,
    Mark,
    Pruned,
    Registration,
    Renewed,
    Reported,
    Retirement,
    Rule,
    Started,
    Submitted,
    Swept,
    Task,
    TaskDocument,
    Worker,
    WorkerSummary,
)
from pgjobs.queue_live import LiveVerbs
from pgjobs.queue_providers import ProviderVerbs
from pgjobs.queue_rest import RestVerbs
from pgjobs.queue_sessions import SessionVerbs

Item = TypeVar("Item", Acknowledged, Failed, Started, Renewed, Reported)
Held = Sequence[Lease | tuple[int, UUID]]
"""Leases to acknowledge, as claimed or as (task id, token) pairs."""


class Queue(GenericVerbs, RestVerbs, ProviderVerbs, LiveVerbs, SessionVerbs):
    """A queue in one schema of one database."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @classmethod
    async def connect(cls, url: str | None = None, **options: Any) -> Self:
        """Opens a queue by URL: postgresql://… or sqlite:///file."""
        return cls(await connect(url, **options))

    def bound_to(self, connection: Any) -> Queue:
        """The same queue, its verbs running in the transaction of the caller's connection or session."""
        return Queue(driver_for_connection(connection, schema=self.driver.schema))

    async def migrate(self) -> None:
        await self.driver.migrate()

    async def close(self) -> None:
        await self.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # jobs

    async def register_job(
        self,
        room: str,
        category: str,
        name: str,
        *,
        schema: Json = None,
        worker_id: UUID | None = None,
        create_worker: bool | None = None,
        max_attempts: int | None = None,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        jitter_share: float | None = None,
        jitter_cap: timedelta | None = None,
        max_age: timedelta | None = None,
        events: str | None = None,
        retain_completed: timedelta | None = None,
        retain_failed: timedelta | None = None,
        replace_schema: bool | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Registration:
        rows = await self.driver.call(
            "register_job",
            room=room,
            category=category,
            name=name,
            schema=schema,
            worker_id=worker_id,
            create_worker=create_worker,
            max_attempts=max_attempts,
            backoff_base=backoff_base,
            backoff_cap=backoff_cap,
            jitter_share=jitter_share,
            jitter_cap=jitter_cap,
            max_age=max_age,
            events=events,
            retain_completed=retain_completed,
            retain_failed=retain_failed,
            replace_schema=replace_schema,
            actor=actor,
            is_superuser=is_superuser,
        )
        return Registration.of(rows[0])

    async def set_error_policy(
        self,
        job: str,
        kind: str,
        *,
        is_retryable: bool | None = None,
        backoff_base: timedelta | None = None,
        backoff_cap: timedelta | None = None,
        jitter_share: float | None = None,
        jitter_cap: timedelta | None = None,
    ) -> None:
        await self.driver.call(
            "set_error_policy",
            job=job,
            kind=kind,
            is_retryable=is_retryable,
            backoff_base=backoff_base,
            backoff_cap=backoff_cap,
            jitter_share=jitter_share,
            jitter_cap=jitter_cap,
        )

    async def get_job(self, job: str, *, room: str | None = None) -> Job:
        return Job.of((await self.driver.call("get_job", job=job, room=room))[0])

    async def list_jobs(
        self,
        room: str | None = None,
        *,
        include_archived: bool | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Job]:
        rows = await self.driver.call(
            "list_jobs",
            room=room,
            include_archived=include_archived,
            page_size=page_size,
            page_offset=page_offset,
        )
        return [Job.of(row) for row in rows]

    async def archive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("archive_job", job=job, actor=actor, reason=reason))[0])

    async def unarchive_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("unarchive_job", job=job, actor=actor, reason=reason))[0])

    async def pause_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("pause_job", job=job, actor=actor, reason=reason))[0])

    async def resume_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("resume_job", job=job, actor=actor, reason=reason))[0])

    async def retire_job(self, job: str, *, actor: str | None = None, reason: str | None = None) -> Job:
        return Job.of((await self.driver.call("retire_job", job=job, actor=actor, reason=reason))[0])

    # workers

    async def register_worker(
        self, name: str | None = None, *, jobs: Sequence[str] | None = None, actor: str | None = None
    ) -> Worker:
        return Worker.of((await self.driver.call("register_worker", name=name, jobs=jobs, actor=actor))[0])

    async def heartbeat_worker(self, worker_id: UUID, *, actor: str | None = None) -> Worker:
        return Worker.of((await self.driver.call("heartbeat_worker", worker_id=worker_id, actor=actor))[0])

    async def retire_worker(
        self,
        worker_id: UUID,
        *,
        actor: str | None = None,
        is_superuser: bool | None = None,
        silent_for: timedelta | None = None,
    ) -> Retirement:
        rows = await self.driver.call(
            "retire_worker",
            worker_id=worker_id,
            actor=actor,
            is_superuser=is_superuser,
            silent_for=silent_for,
        )
        return Retirement.of(rows[0])

    async def list_workers(
        self, room: str | None = None, *, page_size: int | None = None, page_offset: int | None = None
    ) -> list[WorkerSummary]:
        rows = await self.driver.call("list_workers", room=room, page_size=page_size, page_offset=page_offset)
        return [WorkerSummary.of(row) for row in rows]

    # tasks

    async def submit_tasks(
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
    ) -> list[Submitted]:
        rows = await self.driver.call(
            "submit_tasks",
            job=job,
            payloads=payloads,
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
        )
        return [Submitted.of(row) for row in rows]

    async def submit_task(
        self, job: str, payload: Json = None, *, idempotency_key: str | None = None, **options: Any
    ) -> Submitted:
        """One task; `options` as in `submit_tasks`."""
        keys = None if idempotency_key is None else [idempotency_key]
        payload = {} if payload is None else payload
        return (await self.submit_tasks(job, [payload], idempotency_keys=keys, **options))[0]

    async def claim_tasks(
        self,
        worker_id: UUID | None = None,
        *,
        quantity: int | None = None,
        lease: timedelta | None = None,
        job_ids: Sequence[int] | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
        of_owner: str | None = None,
        of_project: str | None = None,
        holder: str | None = None,
        start: bool | None = None,
        remote: bool | None = None,
        actor: str | None = None,
    ) -> list[Lease]:
        rows = await self.driver.call(
            "claim_tasks",
            worker_id=worker_id,
            quantity=quantity,
            lease=lease,
            job_ids=job_ids,
            in_room=in_room,
            in_category=in_category,
            of_owner=of_owner,
            of_project=of_project,
            holder=holder,
            start=start,
            remote=remote,
            actor=actor,
        )
        return [Lease.of(row) for row in rows]

    async def start_tasks(self, held: Held) -> list[Started]:
        return [Started.of(row) for row in await self.driver.call("start_tasks", **_named(held))]

    async def start_task(self, held: Lease | tuple[int, UUID]) -> Started:
        return _only(await self.start_tasks([held]))

    async def report_progress(self, held: Held, progress: Sequence[Json]) -> list[Reported]:
        rows = await self.driver.call("report_progress", **_named(held), progress=progress)
        return [Reported.of(row) for row in rows]

    async def renew_tasks(self, held: Held, lease: timedelta, *, holder: str | None = None) -> list[Renewed]:
        rows = await self.driver.call("renew_tasks", **_named(held), lease=lease, holder=holder)
        return [Renewed.of(row) for row in rows]

    async def renew_task(self, held: Lease | tuple[int, UUID], lease: timedelta) -> Renewed:
        return _only(await self.renew_tasks([held], lease))

    async def complete_tasks(
        self, held: Held, results: Sequence[Json] | None = None, *, holder: str | None = None
    ) -> list[Acknowledged]:
        rows = await self.driver.call("complete_tasks", **_named(held), results=results, holder=holder)
        return [Acknowledged.of(row) for row in rows]

    async def complete_task(self, held: Lease | tuple[int, UUID], result: Json = None) -> Acknowledged:
        return _only(await self.complete_tasks([held], None if result is None else [result]))

    async def fail_tasks(
        self,
        held: Held,
        errors: Sequence[str],
        *,
        kinds: Sequence[str | None] | None = None,
        retryable: Sequence[bool] | None = None,
        holder: str | None = None,
    ) -> list[Failed]:
        rows = await self.driver.call(
            "fail_tasks", **_named(held), errors=errors, kinds=kinds, retryable=retryable, holder=holder
        )
        return [Failed.of(row) for row in rows]

    async def fail_task(
        self, held: Lease | tuple[int, UUID], error: str, *, kind: str | None = None, retryable: bool = True
    ) -> Failed:
        kinds = None if kind is None else [kind]
        return _only(await self.fail_tasks([held], [error], kinds=kinds, retryable=[retryable]))

    async def release_tasks(
        self, held: Held, *, delay: timedelta | None = None, holder: str | None = None
    ) -> list[Acknowledged]:
        rows = await self.driver.call("release_tasks", **_named(held), delay=delay, holder=holder)
        return [Acknowledged.of(row) for row in rows]

    async def release_task(
        self, held: Lease | tuple[int, UUID], *, delay: timedelta | None = None
    ) -> Acknowledged:
        return _only(await self.release_tasks([held], delay=delay))

    async def cancel_task(
        self, task_id: int, *, reason: str | None = None, force: bool | None = None, actor: str | None = None
    ) -> Task:
        rows = await self.driver.call("cancel_task", task_id=task_id, reason=reason, force=force, actor=actor)
        return Task.of(rows[0])

    async def retry_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        return Task.of((await self.driver.call("retry_task", task_id=task_id, actor=actor, reason=reason))[0])

    async def ignore_task(self, task_id: int, *, actor: str | None = None, reason: str | None = None) -> Task:
        return Task.of(
            (await self.driver.call("ignore_task", task_id=task_id, actor=actor, reason=reason))[0]
        )

    async def unignore_task(
        self, task_id: int, *, actor: str | None = None, reason: str | None = None
    ) -> Task:
        return Task.of(
            (await self.driver.call("unignore_task", task_id=task_id, actor=actor, reason=reason))[0]
        )

    async def get_task(self, task_id: int | None = None, *, task_uuid: UUID | None = None) -> TaskDocument:
        return TaskDocument.of((await self.driver.call("get_task", task_id=task_id, task_uuid=task_uuid))[0])

    async def list_tasks(
        self,
        *,
        room: str | None = None,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        before: int | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[Task]:
        rows = await self.driver.call(
            "list_tasks",
            room=room,
            job=job,
            status=status,
            owner=owner,
            project=project,
            before=before,
            page_size=page_size,
            page_offset=page_offset,
        )
        return [Task.of(row) for row in rows]

    async def list_attempts(self, task_id: int) -> list[Attempt]:
        return [Attempt.of(row) for row in await self.driver.call("list_attempts", task_id=task_id)]

    async def list_events(
        self,
        after: str | None = None,
        *,
        of_task: int | None = None,
        of_job: str | None = None,
        of_room: str | None = None,
        page_size: int | None = None,
    ) -> list[Event]:
        rows = await self.driver.call(
            "list_events", after=after, of_task=of_task, of_job=of_job, of_room=of_room, page_size=page_size
        )
        return [Event.of(row) for row in rows]

    # waiting

    async def mark_waiting(
        self,
        worker_id: UUID | None = None,
        *,
        job_ids: Sequence[int] | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
        previous: int | None = None,
        remote: bool | None = None,
    ) -> Mark:
        rows = await self.driver.call(
            "mark_waiting",
            worker_id=worker_id,
            job_ids=job_ids,
            in_room=in_room,
            in_category=in_category,
            previous=previous,
            remote=remote,
        )
        return Mark.of(rows[0])

    async def wait_for(
        self, task_id: int, timeout: float | None = None, *, poll: float = 2.0
    ) -> TaskDocument:
        """The task once it has ended, or as it stands when the time is over."""
        ended = asyncio.Event()
        stop = await self.driver.listen(
            "ended", lambda payload: ended.set() if payload in ("", str(task_id)) else None
        )
        try:
            async with asyncio.timeout(timeout):
                while True:
                    await self.driver.call("watch_task", task_id=task_id)
                    task = await self.get_task(task_id)
                    if task.is_ended:
                        return task
                    # A notification can be lost; looking again is the safety net.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(ended.wait(), poll)
                    ended.clear()
        except TimeoutError:
            return await self.get_task(task_id)
        finally:
            stop()

    # upkeep

    async def sweep(self, step: str | None = None, *, batch: int | None = None) -> list[Swept]:
        return [Swept.of(row) for row in await self.driver.call("sweep", step=step, batch=batch)]

    async def prune_tasks(
        self,
        *,
        of_status: str | None = None,
        older_than: timedelta | None = None,
        of_job: str | None = None,
        batch: int | None = None,
        dry_run: bool | None = None,
        in_room: str | None = None,
        in_category: str | None = None,
    ) -> list[Pruned]:
        rows = await self.driver.call(
            "prune_tasks",
            of_status=of_status,
            older_than=older_than,
            of_job=of_job,
            batch=batch,
            dry_run=dry_run,
            in_room=in_room,
            in_category=in_category,
        )
        return [Pruned.of(row) for row in rows]

    async def check(self) -> list[Rule]:
        return [Rule.of(row) for row in await self.driver.call("check")]


def _named(held: Held) -> dict[str, Any]:
    pairs = [(item.task_id, item.token) if isinstance(item, Lease) else item for item in held]
    return {"task_ids": [task_id for task_id, _ in pairs], "tokens": [token for _, token in pairs]}


def _only(items: list[Item]) -> Item:
    """The one item of a batch of one, or its problem raised."""
    item = items[0]
    if item.problem is not None:
        problem = BY_SQLSTATE.get(item.problem, PgJobsError)
        raise problem(f"Task {item.task_id}: {(problem.__doc__ or item.problem).strip()}")
    return item
