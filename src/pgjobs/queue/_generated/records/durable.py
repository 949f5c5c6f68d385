"""What the verbs of durable answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgjobs.queue.base import Json, Record


@dataclass(frozen=True, slots=True)
class Called(Record):
    """A row of `call_tasks`: submits tasks and waits for them."""

    is_suspended: bool
    called_id: int
    called_job: str
    status: str
    result: Json
    error: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Parent(Record):
    """A row of `list_parents`: the parents of a task with their results."""

    name: str
    parent_id: int
    job: str
    status: str
    on_failure: str
    result: Json
    error: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SavedStep(Record):
    """A row of `save_step`: keeps the result of a step."""

    number: int
    is_new: bool
    kept: Json


@dataclass(frozen=True, slots=True)
class SentSignal(Record):
    """A row of `send_signal`: sends a named fact to a task."""

    is_new: bool
    kept: Json
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Step(Record):
    """A row of `list_steps`: the steps of a task."""

    number: int
    name: str
    kind: str
    is_done: bool
    result: Json
    until: datetime | None
    saved_at: datetime


@dataclass(frozen=True, slots=True)
class Suspension(Record):
    """A row of `suspend_task`: suspends a running task until a time or a signal."""

    is_suspended: bool
    until: datetime | None
    result: Json
