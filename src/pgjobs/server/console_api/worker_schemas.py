"""One worker in full, over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from pgjobs.server.api.schemas import Wire
from pgjobs.server.console_api.schemas import HeldTask, Redacted, RedactedDocument, seconds


class HeldInFull(HeldTask):
    """A task that a worker holds, with its lease."""

    until: datetime | None
    progress: RedactedDocument
    cancel_requested_at: datetime | None


class WorkerError(Wire):
    """An attempt of a worker that failed."""

    id: UUID
    job: str
    attempt: int
    ended_at: datetime
    error_kind: str | None
    error: Redacted | None


class WorkerInFull(Wire):
    """A worker with the jobs it serves, the tasks it holds and its newest errors."""

    id: UUID
    name: Redacted | None
    owner: Redacted | None
    registered_at: datetime
    last_heartbeat: datetime
    is_alive: bool
    silent_after_seconds: float
    clock_ahead_seconds: float | None = Field(
        description="How far its clock was ahead of the database's at its last heartbeat; null if not told."
    )
    jobs: list[str]
    tasks: list[HeldInFull]
    errors: list[WorkerError]
    errors_looked_at: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            id=row["id"],
            name=row["name"],
            owner=row["owner"],
            registered_at=row["registered_at"],
            last_heartbeat=row["last_heartbeat_at"],
            is_alive=row["is_alive"],
            silent_after_seconds=row["silent_after"].total_seconds(),
            clock_ahead_seconds=seconds(row["clock_ahead"]),
            jobs=row["serves"],
            tasks=[HeldInFull(**task) for task in row["holds"]],
            errors=[WorkerError(**error) for error in row["failures"]],
            errors_looked_at=row["failures_looked_at"],
        )
