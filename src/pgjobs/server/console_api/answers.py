"""The state of the queue and its database, over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from pgjobs.server.api.schemas import Wire
from pgjobs.server.console_api.schemas import Redacted, seconds


class OverviewOut(Wire):
    """The queue in one answer; queues longer than a thousand are estimated."""

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
    """What ended in one interval; queue latency and duration in seconds."""

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
    """Intervals, the oldest first."""

    items: list[Step]
    step_seconds: float


class Row(Wire):
    """One row of a verb, as it is."""

    @classmethod
    def of_row(cls, row: Any) -> Self:
        return cls(**{name: row[name] for name in cls.model_fields})


class Advised(Row):
    """Something with advice; `action` names what the console can do about it, with its arguments."""

    advice: str | None
    action: str | None = None
    arguments: Any = None

    @classmethod
    def of(cls, row: Any) -> Self:
        """What the command line found; it acts by commands of its own."""
        return cls(**{name: getattr(row, name, None) for name in cls.model_fields})


class Finding(Advised):
    """An issue, with the SQL that fixes it or what else to do."""

    severity: str
    subject: Redacted
    message: Redacted


class Findings(Wire):
    """Known issues, the worst first."""

    items: list[Finding]


class Check(Advised):
    """One reason why a task could be waiting: whether it is fine, in words, and what would change it."""

    checked: str
    is_ok: bool
    answer: Redacted


class ErrorsSeen(Row):
    """Failed attempts that differ only in numbers, ids and quoted words."""

    job: str
    error_kind: str | None
    message: Redacted
    last_hour: int
    last_day: int
    last_week: int
    last_at: datetime


class Errors(Wire):
    """Failed attempts of the last week, those of today first."""

    items: list[ErrorsSeen]


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
    """Who holds back the removal of dead rows."""

    kind: str
    name: Redacted
    state: str | None
    since: datetime | None
    held_back: int | None
    advice: str | None


class DatabaseSeen(Wire):
    """The database of the queue."""

    schema_name: str
    version: int
    server: str
    total_bytes: int
    notify_queue_share: float | None
    tables: list[TableSeen]
    blockers: list[BlockerSeen]
