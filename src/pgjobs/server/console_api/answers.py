"""How the queue and its database are, over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pgjobs.server.api.schemas import Wire
from pgjobs.server.console_api.schemas import Told, seconds


class OverviewOut(Wire):
    """The queue in one answer; lines longer than a thousand are estimated."""

    at: datetime
    jobs: int
    paused_jobs: int
    workers: int
    silent_workers: int
    waiting: int
    oldest_wait_seconds: float | None
    scheduled: int
    claimed: int
    running: int
    overdue: int
    ignored: int
    completed_last_hour: int
    failed_last_hour: int
    cancelled_last_hour: int
    retried_last_hour: int
    completed_per_minute: float
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None

    @classmethod
    def of(cls, row: Any) -> Self:
        named = {name: getattr(row, name) for name in cls.model_fields if name != "oldest_wait_seconds"}
        return cls(**named, oldest_wait_seconds=seconds(row.oldest_wait))


class Seen(Wire):
    """One row of an operator's view, as it is."""

    @classmethod
    def of(cls, row: Any) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class Step(Seen):
    """What ended in one step of time; waits and runs in seconds."""

    at: datetime
    completed: int
    failed: int
    cancelled: int
    retried: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None


class Throughput(Wire):
    """Steps of time, the oldest first."""

    items: list[Step]
    step_seconds: float


class Finding(Seen):
    """Something to look at, with the SQL to run or what else to do."""

    severity: str
    subject: Told
    message: Told
    advice: str | None


class Findings(Wire):
    """What is known to be wrong, the worst first."""

    items: list[Finding]


class Check(Seen):
    """One reason why a task could be waiting: whether it is fine, in words, and what would change it."""

    checked: str
    is_ok: bool
    answer: Told
    advice: str | None


class Reasons(Wire):
    """Checks in order; the first that is not fine is the reason."""

    items: list[Check]


class TableSeen(Seen):
    """The health of a table."""

    relation: str
    live: int
    dead: int
    dead_share: float | None
    total_bytes: int
    hot_share: float | None
    last_vacuum_at: datetime | None


class BlockerSeen(Seen):
    """Who keeps dead rows from being removed."""

    kind: str
    name: Told
    state: str | None
    since: datetime | None
    held_back: int | None
    advice: str | None


class DatabaseSeen(Wire):
    """The database under the queue."""

    schema_name: str
    version: int
    server: str
    total_bytes: int
    notify_queue_share: float | None
    tables: list[TableSeen]
    blockers: list[BlockerSeen]
