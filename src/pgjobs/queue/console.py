"""The verbs behind the console: lists with filters, one task in full, workers with what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.records import Json, Record
from pgjobs.queue.server import Counted


@dataclass(frozen=True, slots=True)
class FoundTasks(Record):
    """A page of tasks, and the public id before which to go on, if there is more to look at."""

    found: list[Json]
    next: UUID | None


@dataclass(frozen=True, slots=True)
class InspectedTask(Record):
    """One task in full; `allows` in it says what an operator may do."""

    document: Json
    payload: Json
    result: Json
    queue_position: int | None


@dataclass(frozen=True, slots=True)
class ShownWorker(Record):
    """A worker with the first of its jobs and tasks."""

    id: UUID
    name: str | None
    owner: str | None
    registered_at: datetime
    last_heartbeat_at: datetime
    is_alive: bool
    job_count: int
    serves: list[str]
    task_count: int
    holds: list[Json]


@dataclass(frozen=True, slots=True)
class DatabaseFacts(Record):
    """What the queue lives in."""

    schema_name: str
    version: int
    server: str
    total_bytes: int
    notify_queue_share: float | None


@dataclass(frozen=True, slots=True)
class ActedOn:
    """How many tasks changed, and how many do not allow the step."""

    changed: int
    refused: int


class ConsoleVerbs:
    """The part of `Queue` that the console asks."""

    driver: Driver

    async def find_tasks(
        self,
        *,
        room: str | None = None,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        matching: str | None = None,
        before: UUID | None = None,
        page_size: int | None = None,
    ) -> FoundTasks:
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
        )
        return FoundTasks.of(rows[0])

    async def count_found_tasks(
        self,
        *,
        room: str | None = None,
        job: str | None = None,
        status: str | None = None,
        owner: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        matching: str | None = None,
    ) -> Counted:
        rows = await self.driver.call(
            "count_found_tasks",
            room=room,
            job=job,
            status=status,
            owner=owner,
            since=since,
            until=until,
            matching=matching,
        )
        return Counted.of(rows[0])

    async def inspect_task(self, task_uuid: UUID) -> InspectedTask:
        return InspectedTask.of((await self.driver.call("inspect_task", task_uuid=task_uuid))[0])

    async def show_workers(
        self, *, page_size: int | None = None, page_offset: int | None = None, few: int | None = None
    ) -> list[ShownWorker]:
        rows = await self.driver.call("show_workers", page_size=page_size, page_offset=page_offset, few=few)
        return [ShownWorker.of(row) for row in rows]

    async def invalidate_provider(
        self, provider: str, *, actor: str | None = None, is_superuser: bool | None = None
    ) -> int:
        """Forgets what a provider has answered; says how many answers that were."""
        rows = await self.driver.call(
            "invalidate_provider", provider=provider, actor=actor, is_superuser=is_superuser
        )
        return int(rows[0]["forgotten"])

    async def show_database(self) -> DatabaseFacts:
        return DatabaseFacts.of((await self.driver.call("show_database"))[0])

    async def act_on_tasks(
        self,
        verb: str,
        task_uuids: Sequence[UUID],
        *,
        actor: str | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> ActedOn:
        """Retry, cancel or ignore many tasks in one call: one that has moved on holds up no other."""
        if not task_uuids:
            return ActedOn(0, 0)
        rows = await self.driver.call(
            f"{verb}_tasks", task_uuids=task_uuids, actor=actor, reason=reason, dry_run=dry_run
        )
        refused = sum(row["problem"] is not None for row in rows)
        return ActedOn(len(rows) - refused, refused)
