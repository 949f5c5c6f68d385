"""Claims tasks when there is room for them, and waits to be woken when there are none."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from pgjobs.drivers import Row
from pgjobs.drivers.documents import Unreadable
from pgjobs.jobs.context import TaskContext
from pgjobs.jobs.typed import TypedJob
from pgjobs.queue import records as models
from pgjobs.queue.claims import UNREADABLE
from pgjobs.queue.queue import Queue
from pgjobs.worker.acknowledger import Acknowledger
from pgjobs.worker.log_lines import LogLines
from pgjobs.worker.prefetch import LARGEST_CLAIM, Prefetch
from pgjobs.worker.runner import Runner

log = logging.getLogger("pgjobs.worker")


_PATIENCE = 2.0
"""Seconds a task claimed ahead may wait here before it is given back."""


class Group(NamedTuple):
    """Jobs claimed together, and how many of their tasks may come."""

    job_ids: list[int]
    limit: int


class Fetched(NamedTuple):
    """How many tasks came, and whether that was all there were."""

    quantity: int
    was_all: bool


class Fetcher:
    """Decides how much to claim and when.

    Fast tasks are claimed ahead, as `Prefetch` says. Tasks of a job with a concurrency
    of its own are claimed apart, and never more than may run.
    """

    def __init__(
        self,
        queue: Queue,
        runner: Runner,
        acknowledger: Acknowledger,
        held: dict[int, TaskContext],
        *,
        concurrency: int,
        prefetch: int | None,
        lease: timedelta,
        poll: timedelta,
        durable: bool,
        log_lines: LogLines | None = None,
    ) -> None:
        self.worker_id: UUID | None = None
        self._clock_ahead = timedelta(0)
        self._queue = queue
        self._runner = runner
        self._acknowledger = acknowledger
        self._held = held
        self._concurrency = concurrency
        self._prefetch = Prefetch(runner, prefetch)
        self._lease = lease
        self._durable = durable
        self._log_lines = log_lines
        self._poll = poll.total_seconds()
        self._pause = self._poll / 8
        self._jobs: Mapping[int, TypedJob[..., Any]] = {}
        self._limited: dict[int, int] = {}
        self._changed = asyncio.Event()
        self._mark: int | None = None
        self._is_marking = False
        self._is_stopping = False
        self._needs_room = False
        self._claimed_at = 0.0
        self._has_blocked = False
        acknowledger.on_sent = self._acknowledged

    def serve(self, worker: models.Worker, jobs: Mapping[int, TypedJob[..., Any]]) -> None:
        self.worker_id = worker.id
        # Times come from the database's clock, and this machine's may differ.
        self._clock_ahead = worker.registered_at - datetime.now(UTC)
        self._jobs = jobs
        self._limited = dict.fromkeys((i for i, job in jobs.items() if job.concurrency is not None), 0)

    def stop(self) -> None:
        """Claims no more; `run` returns after the claim in flight."""
        self._is_stopping = True
        self._changed.set()

    def freed(self, task: TaskContext) -> None:
        """A task has ended here, so there may be room for another."""
        job_id = task.row["job_id"]
        if job_id in self._limited:
            self._limited[job_id] -= 1
            self._changed.set()
        elif self._needs_room:
            self._changed.set()

    def woken(self, payload: str) -> None:
        """Somebody submitted: ours, if our mark is named, or nobody can say which."""
        if not payload or self._is_marking or str(self._mark) in payload.split(","):
            self._mark = None
            self._changed.set()

    def _acknowledged(self) -> None:
        """What has ended may have been waited for: whoever claims next releases that."""
        if self._has_blocked:
            self._changed.set()

    def look_again(self) -> None:
        """What is due, or due next, may have changed."""
        self._changed.set()

    async def run(self) -> None:
        while not self._is_stopping:
            self._changed.clear()
            groups = self._groups()
            if not groups:
                await self._room_is_made()
            elif (await self.fetch(groups)).was_all:
                await self._wait_for_work(groups)

    async def run_until_empty(self) -> None:
        """Until nothing is due and nothing runs."""
        while True:
            self._changed.clear()
            groups = self._groups()
            if groups and (await self.fetch(groups)).quantity:
                continue
            if self._runner.load:
                await self._room_is_made()
                continue
            await self._acknowledger.flushed()
            if not (await self.fetch(self._groups())).quantity:
                return

    async def fetch(self, groups: list[Group]) -> Fetched:
        room = self._room()
        fetched, was_all = 0, True
        for group in groups:
            quantity = min(room - fetched, group.limit, LARGEST_CLAIM)
            if quantity < 1:
                return Fetched(fetched, False)
            asked_at = time.monotonic()
            rows = await self._claim(group.job_ids, quantity)
            was_all = was_all and len(rows) < quantity
            if rows:
                fetched += len(rows)
                self._accept(rows, asked_at)
        return Fetched(fetched, was_all)

    async def _room_is_made(self) -> None:
        self._needs_room = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._changed.wait()
        self._needs_room = False
        self._give_back_late_ones()

    def _give_back_late_ones(self) -> bool:
        """Tasks claimed ahead that turned out to wait for long ones go to whoever has room for them."""
        is_late = time.monotonic() - self._claimed_at > _PATIENCE
        if self._prefetch.is_given or not is_late or not self._runner.buffer:
            return False
        self._prefetch.slow_down()
        for task in self._runner.give_back():
            self.freed(task)
            self._acknowledger.release(task)
        return True

    def _room(self) -> int:
        return self._concurrency + self._prefetch.ahead() - self._runner.load

    def _groups(self) -> list[Group]:
        # Half empty or nothing: claiming for each task that ends would be a round trip for each.
        if self._room() < max(1, self._prefetch.ahead() // 2):
            return []
        shared = [job_id for job_id in self._jobs if job_id not in self._limited]
        groups = [Group(shared, LARGEST_CLAIM)] if shared else []
        for job_id, load in self._limited.items():
            limit = self._jobs[job_id].concurrency or 0
            if load < limit:
                groups.append(Group([job_id], limit - load))
        return groups

    async def _claim(self, job_ids: list[int], quantity: int) -> Sequence[Row]:
        return await self._queue.driver.call(
            "claim_tasks",
            worker_id=self.worker_id,
            quantity=quantity,
            lease=self._lease,
            job_ids=job_ids,
            start=True,
            durable=self._durable,
        )

    def _accept(self, rows: Sequence[Row], asked_at: float) -> None:
        self._claimed_at = asked_at
        self._pause = self._poll / 8
        # The database may grant less than was asked for.
        granted = (rows[0]["until"] - rows[0]["claimed_at"]).total_seconds()
        tasks = []
        for row in rows:
            job = self._jobs.get(row["job_id"])
            task = TaskContext(row, job, self._queue, asked_at + granted, self._log_lines)
            self._held[task.id] = task
            if job is None:
                log.error("task %s: this worker has no handler for %s", task.id, row["job"])
                self._acknowledger.fail(task, f"No handler for {row['job']}", "unknown_job")
                continue
            if isinstance(task.payload, Unreadable):
                log.error("task %s: its payload cannot be read", task.id)
                self._acknowledger.fail(task, UNREADABLE, "payload_invalid", retryable=False)
                continue
            if row["job_id"] in self._limited:
                self._limited[row["job_id"]] += 1
            tasks.append(task)
        self._runner.add(tasks)

    async def _wait_for_work(self, groups: list[Group]) -> None:
        """Sleeps until woken, until the next task is due, or for a while.

        The claim after the mark finds what was submitted before the mark could be seen.
        """
        # What was just claimed begins first.
        await asyncio.sleep(0)
        job_ids = [job_id for group in groups for job_id in group.job_ids]
        self._is_marking = True
        try:
            mark = await self._queue.mark_waiting(self.worker_id, job_ids=job_ids, previous=self._mark)
        finally:
            self._is_marking = False
        self._mark = mark.mark
        self._has_blocked = mark.has_blocked
        marked_at = time.monotonic()
        while not self._is_stopping:
            sent = self._acknowledger.sent
            if (await self.fetch(groups)).quantity:
                break
            if self._has_blocked and sent != self._acknowledger.sent:
                continue
            wait = self._pause * random.uniform(0.75, 1.25)  # noqa: S311
            if mark.next_due_at is not None:
                ahead = mark.next_due_at - (datetime.now(UTC) + self._clock_ahead)
                wait = min(wait, max(0.005, ahead.total_seconds()))
            if self._runner.buffer:
                wait = min(wait, _PATIENCE)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()
                return
            self._pause = min(self._pause * 2, self._poll)
            # Marks do not last for ever, and what is due next may have changed.
            is_stale = time.monotonic() - marked_at > 60 or mark.next_due_at is not None
            if self._give_back_late_ones() or is_stale:
                return

    async def forget_mark(self) -> None:
        """Leaves no mark behind that would be woken in place of a living worker's."""
        if self._mark is not None:
            await self._queue.driver.call("unmark_waiting", mark=self._mark)
            self._mark = None
