"""What the queue promises, in plain Python: one job, its tasks, its workers, and the time."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from pgjobs.queue.records import Lease

MINUTES = 60
LEASE = 40 * MINUTES
RENEWAL = 60 * MINUTES
BACKOFF = 30 * MINUTES
DELAY = 30 * MINUTES
STEP = 25 * MINUTES
"""The clock moves in steps that meet no deadline above, so a slow machine cannot change an outcome."""
WORKER_TIMEOUT = 60


@dataclass
class Task:
    max_attempts: int
    status: str = "pending"
    attempt: int = 0
    run_at: int | None = None
    token: UUID | None = None
    worker: UUID | None = None
    until: int | None = None
    is_cancel_requested: bool = False

    @property
    def is_leased(self) -> bool:
        return self.status in ("claimed", "running")

    def end(self, status: str) -> None:
        """Ended, or ignored; the token stays, for whoever repeats an acknowledgement."""
        self.status, self.run_at, self.worker, self.until = status, None, None, None
        self.is_cancel_requested = False

    def wait(self, attempt: int, run_at: int | None = None) -> None:
        self.end("pending")
        self.token, self.attempt, self.run_at = None, attempt, run_at

    def end_attempt(self, now: int, *, is_retryable: bool = True) -> None:
        if self.is_cancel_requested:
            self.end("cancelled")
        elif is_retryable and self.attempt < self.max_attempts:
            self.wait(self.attempt, now + BACKOFF * 2 ** (self.attempt - 1))
        else:
            self.end("failed")


@dataclass
class Model:
    now: int = 0
    is_retired: bool = False
    tasks: dict[int, Task] = field(default_factory=dict)
    heartbeats: dict[UUID, int] = field(default_factory=dict)

    def due(self) -> set[int]:
        """Numbers of the tasks that a claim may take."""
        if self.is_retired:
            return set()
        return {
            number for number, task in self.tasks.items() if task.status == "pending" and task.run_at is None
        }

    def promote(self) -> None:
        for task in self.tasks.values():
            if task.status == "pending" and task.run_at is not None and task.run_at <= self.now:
                task.run_at = None

    def take(self, lease: Lease, worker: UUID | None, *, start: bool, has_end: bool) -> None:
        task = self.tasks[lease.task_id]
        task.status = "running" if start else "claimed"
        task.attempt += 1
        task.run_at, task.token, task.worker = None, lease.token, worker
        task.until = self.now + LEASE if has_end else None

    def holds(self, lease: Lease) -> bool:
        task = self.tasks[lease.task_id]
        return task.is_leased and task.token == lease.token and (task.until is None or task.until > self.now)

    def sweep(self) -> None:
        for task in self.tasks.values():
            if task.is_leased and task.until is not None and task.until <= self.now:
                task.end_attempt(self.now)
        for worker, heartbeat in list(self.heartbeats.items()):
            if heartbeat < self.now - WORKER_TIMEOUT:
                self.clean_up(worker)
        # A task that was retried after its job had gone: nobody would ever claim it.
        if any(task.status == "pending" for task in self.tasks.values()):
            self.is_retired = False
        self.promote()

    def clean_up(self, worker: UUID) -> None:
        for task in self.tasks.values():
            if task.is_leased and task.worker == worker:
                task.end_attempt(self.now)
        del self.heartbeats[worker]
        is_waited_for = any(task.status == "pending" for task in self.tasks.values())
        if not self.heartbeats and not is_waited_for:
            self.is_retired = True
