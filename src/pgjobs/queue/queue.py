"""Queue: one typed method per verb. Rules live in SQL; this module only names and types them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.drivers.confined import ConfinedDriver
from pgjobs.drivers.connect import connect, driver_for_connection
from pgjobs.drivers.tracing import submitting
from pgjobs.queue.cleanups import MaintenanceVerbs
from pgjobs.queue.console import ConsoleVerbs
from pgjobs.queue.generic import GenericVerbs
from pgjobs.queue.leases import LeaseVerbs
from pgjobs.queue.live import LiveVerbs
from pgjobs.queue.moves import StepVerbs
from pgjobs.queue.operators import OperatorVerbs
from pgjobs.queue.providers import ProviderVerbs
from pgjobs.queue.records import (
    Attempt,
    Event,
    Json,
    Mark,
    Pruned,
    Rule,
    Submitted,
    Swept,
    Task,
    TaskDocument,
    TaskEvent,
)
from pgjobs.queue.registry import RegistryVerbs
from pgjobs.queue.rooms import RoomVerbs
from pgjobs.queue.schedules import ScheduleVerbs
from pgjobs.queue.server import RestVerbs
from pgjobs.queue.sessions import SessionVerbs


class Queue(
    RegistryVerbs,
    StepVerbs,
    LeaseVerbs,
    GenericVerbs,
    RestVerbs,
    ProviderVerbs,
    LiveVerbs,
    SessionVerbs,
    RoomVerbs,
    ScheduleVerbs,
    MaintenanceVerbs,
    OperatorVerbs,
    ConsoleVerbs,
):
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

    def confined_to(self, rooms: Sequence[str]) -> Queue:
        """The same queue for a member of these rooms: nothing of the others is shown or changed."""
        return Queue(ConfinedDriver(self.driver, rooms))

    async def migrate(self) -> None:
        await self.driver.migrate()

    async def close(self) -> None:
        await self.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
        trace_context: str | None = None,
    ) -> list[Submitted]:
        with submitting(job, len(payloads), trace_context) as carried:
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
                trace_context=carried,
            )
        return [Submitted.of(row) for row in rows]

    async def submit_task(
        self, job: str, payload: Json = None, *, idempotency_key: str | None = None, **options: Any
    ) -> Submitted:
        """One task; `options` as in `submit_tasks`."""
        keys = None if idempotency_key is None else [idempotency_key]
        payload = {} if payload is None else payload
        return (await self.submit_tasks(job, [payload], idempotency_keys=keys, **options))[0]

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

    async def list_task_events(
        self, task_id: int, *, before: int | None = None, page_size: int | None = None
    ) -> list[TaskEvent]:
        rows = await self.driver.call("list_task_events", task_id=task_id, before=before, page_size=page_size)
        return [TaskEvent.of(row) for row in rows]

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
                        async with asyncio.timeout(poll):
                            await ended.wait()
                    ended.clear()
        except TimeoutError:
            return await self.get_task(task_id)
        finally:
            stop()

    # upkeep

    async def sweep(
        self,
        step: str | None = None,
        *,
        batch: int | None = None,
        worker_timeout: timedelta | None = None,
        internal_timeout: timedelta | None = None,
    ) -> list[Swept]:
        rows = await self.driver.call(
            "sweep", step=step, batch=batch, worker_timeout=worker_timeout, internal_timeout=internal_timeout
        )
        return [Swept.of(row) for row in rows]

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
