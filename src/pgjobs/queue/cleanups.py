"""The verbs behind maintenance: targets of jobs, and clean-up after runs that did not complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.records import Json, Record

CleanupStatus = Literal["queued", "running", "retrying", "blocked", "done", "ignored", "abandoned"]
CLEANUP_JOB = "@internal:maintenance:incomplete-cleanup"


@dataclass(frozen=True, slots=True)
class JobTarget(Record):
    """Where the runs of a job write, on which node."""

    job_name: str
    node: str
    job_target: Json


@dataclass(frozen=True, slots=True)
class CleanupLease(Record):
    """One cleaner's right to clean up after one run."""

    task_id: int
    token: UUID
    attempt: int
    until: datetime
    run_id: UUID
    job: str
    node: str
    target: Json

    @property
    def held(self) -> tuple[int, UUID]:
        return self.task_id, self.token


@dataclass(frozen=True, slots=True)
class CleanupTask(Record):
    """How the clean-up after one run stands."""

    run_id: UUID
    job_id: UUID
    job_name: str
    node_id: str
    target_type: str
    target_snapshot_json: Json
    status: CleanupStatus
    attempts: int
    created_at: datetime
    updated_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    last_error_kind: str | None
    last_error: str | None
    ignored_at: datetime | None
    ignored_by_user_id: str | None
    ignore_reason: str | None
    task_id: int


@dataclass(frozen=True, slots=True)
class CleanupsFound:
    """A page of clean-up tasks, and how many there are on all pages."""

    tasks: Sequence[CleanupTask]
    total: int


@dataclass(frozen=True, slots=True)
class CleanupEvent(Record):
    """Something that happened to a clean-up task; `seq` counts from 1."""

    run_id: UUID
    seq: int
    ts: datetime
    level: Literal["info", "warn", "error"]
    kind: str
    message: str
    fields_json: Json


@dataclass(frozen=True, slots=True)
class CleanupMark(Record):
    """A cleaner's wish to be woken; `due_in` is how long until something is due by itself."""

    mark: int | None
    due_in: timedelta | None


@dataclass(frozen=True, slots=True)
class CleanupNode(Record):
    """Who cleans up targets of one type on one node, and how many cleanups are open there."""

    node_id: str
    target_type: str
    open: int
    waiting: int
    is_served: bool
    served_by: list[str]
    last_seen_at: datetime | None
    advice: str | None


class MaintenanceVerbs:
    """The part of `Queue` that looks after what runs leave behind."""

    driver: Driver

    async def set_job_target(
        self, job: str, target: Json = None, *, node_id: str | None = None, actor: str | None = None
    ) -> JobTarget:
        """Says where the runs of a job write; None takes it back."""
        rows = await self.driver.call("set_job_target", job=job, target=target, node_id=node_id, actor=actor)
        return JobTarget.of(rows[0])

    async def get_job_target(self, job: str) -> JobTarget | None:
        rows = await self.driver.call("get_job_target", job=job)
        return JobTarget.of(rows[0]) if rows else None

    async def reconcile_cleanups(
        self, batch: int | None = None, *, after: timedelta | None = None, of_job: str | None = None
    ) -> int:
        """Gives runs that need one their clean-up task; how many are new.

        Runs need one a while after they ended: `after`, else what the settings say.
        """
        rows = await self.driver.call("reconcile_cleanups", batch=batch, after=after, of_job=of_job)
        return int(rows[0]["created"])

    async def claim_cleanups(
        self,
        holder: str,
        *,
        node_id: str | None = None,
        quantity: int | None = None,
        lease: timedelta | None = None,
    ) -> list[CleanupLease]:
        """Due cleanups of a node; without a name the hub's, and WebDAV targets of every node."""
        rows = await self.driver.call(
            "claim_cleanups", holder=holder, node_id=node_id, quantity=quantity, lease=lease
        )
        return [CleanupLease.of(row) for row in rows]

    async def await_cleanups(self, *, node_id: str | None = None, previous: int | None = None) -> CleanupMark:
        rows = await self.driver.call("await_cleanups", node_id=node_id, previous=previous)
        return CleanupMark.of(rows[0])

    async def list_cleanup_nodes(self) -> list[CleanupNode]:
        """Which node cleans up what, and where nobody does."""
        return [CleanupNode.of(row) for row in await self.driver.call("list_cleanup_nodes")]

    async def find_cleanups(
        self,
        *,
        statuses: Sequence[str] | None = None,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> CleanupsFound:
        """A page of clean-up tasks, and how many there are on all pages."""
        wanted = {
            "statuses": statuses,
            "target_types": target_types,
            "of_node": of_node,
            "of_job": of_job,
        }
        rows = await self.driver.call("list_cleanups", **wanted, page_size=page_size, page_offset=page_offset)
        # A page behind the last has no row to say it.
        [counted, *_] = rows or await self.driver.call("count_cleanups", **wanted)
        return CleanupsFound([CleanupTask.of(row) for row in rows], int(counted["total"]))

    async def list_cleanups(
        self,
        *,
        statuses: Sequence[str] | None = None,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> list[CleanupTask]:
        rows = await self.driver.call(
            "list_cleanups",
            statuses=statuses,
            target_types=target_types,
            of_node=of_node,
            of_job=of_job,
            page_size=page_size,
            page_offset=page_offset,
        )
        return [CleanupTask.of(row) for row in rows]

    async def count_cleanups(
        self,
        *,
        statuses: Sequence[str] | None = None,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
    ) -> int:
        rows = await self.driver.call(
            "count_cleanups", statuses=statuses, target_types=target_types, of_node=of_node, of_job=of_job
        )
        return int(rows[0]["total"])

    async def get_cleanup(self, run_id: UUID) -> CleanupTask:
        return CleanupTask.of((await self.driver.call("get_cleanup", run_id=run_id))[0])

    async def list_cleanup_events(self, run_id: UUID, *, page_size: int | None = None) -> list[CleanupEvent]:
        rows = await self.driver.call("list_cleanup_events", run_id=run_id, page_size=page_size)
        return [CleanupEvent.of(row) for row in rows]

    async def retry_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        rows = await self.driver.call("retry_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def ignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        rows = await self.driver.call("ignore_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def unignore_cleanup(
        self, run_id: UUID, *, actor: str | None = None, reason: str | None = None
    ) -> CleanupTask:
        rows = await self.driver.call("unignore_cleanup", run_id=run_id, actor=actor, reason=reason)
        return CleanupTask.of(rows[0])

    async def delete_job(
        self,
        job: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        batch: int | None = None,
        dry_run: bool = False,
    ) -> int:
        """Removes a job and all of its tasks for good, batch by batch; how many tasks went, or would go."""
        removed = 0
        while True:
            rows = await self.driver.call(
                "delete_job", job=job, actor=actor, reason=reason, batch=batch, dry_run=dry_run or None
            )
            removed += int(rows[0]["removed"])
            if rows[0]["is_done"]:
                return removed
