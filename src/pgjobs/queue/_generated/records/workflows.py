"""What the verbs of workflows answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import Json, Record


@dataclass(frozen=True, slots=True)
class Workflow(Record):
    """A row of the relation `workflow`."""

    id: int
    uuid: UUID
    name: str
    room: str
    status: str
    tasks: int
    running: int
    completed: int
    failed: int
    cancelled: int
    held: int
    created_at: datetime
    ended_at: datetime | None
    submitter: str | None


@dataclass(frozen=True, slots=True)
class WorkflowTask(Record):
    """A row of `list_workflow_tasks`: the tasks of a workflow."""

    name: str
    task_id: int
    task_uuid: UUID
    job: str
    status: str
    phase: str | None
    result: Json
    error: str | None
    reason: str | None
