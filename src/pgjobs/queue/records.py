"""The nouns: what verbs answer with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue._generated import records as generated
from pgjobs.queue._generated.records import *  # noqa: F403
from pgjobs.queue._generated.records import CleanupTask
from pgjobs.queue.base import (
    CleanupStatus,
    GenericStatus,
    JobState,
    Json,
    Record,
    Severity,
    ShownStatus,
    Status,
)
from pgjobs.queue.behaviours import ScheduleRun

__all__ = [
    "CLEANUP_JOB",
    "ActedOn",
    "CleanupStatus",
    "CleanupsFound",
    "GenericStatus",
    "Heartbeat",
    "JobState",
    "Json",
    "Record",
    "ScheduleRun",
    "Severity",
    "ShownStatus",
    "Status",
]
__all__ += generated.__all__

CLEANUP_JOB = "@internal:maintenance:incomplete-cleanup"


@dataclass(frozen=True, slots=True)
class CleanupsFound:
    """A page of cleanup tasks, and how many there are on all pages."""

    tasks: Sequence[CleanupTask]
    total: int


@dataclass(frozen=True, slots=True)
class ActedOn:
    """How many tasks changed, and how many do not allow the step."""

    changed: int
    refused: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A worker that is alive, and those of its tasks that it should stop."""

    id: UUID
    last_heartbeat_at: datetime
    cancel_requested: list[UUID]
