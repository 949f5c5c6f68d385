"""Submitting workflows: numbers of its tasks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.base import Json


@dataclass(frozen=True, slots=True)
class SubmittedWorkflow:
    """A workflow's numbers, and those of its tasks by name."""

    id: int
    uuid: UUID
    tasks: dict[str, int]


class FlowVerbs:
    """What is written by hand of the verbs for workflows."""

    driver: Driver

    async def submit_workflow(
        self,
        name: str,
        tasks: Sequence[Mapping[str, Json]],
        *,
        room: str | None = None,
        submitter: str | None = None,
        owner: str | None = None,
        project: str | None = None,
        tags: Sequence[str] | None = None,
        trace_context: str | None = None,
        require_workers: bool | None = None,
        cross_room: bool | None = None,
    ) -> SubmittedWorkflow:
        """Submits tasks that belong together: entries of job, name, payload, after, on_failure, …"""
        rows = await self.driver.call(
            "submit_workflow",
            name=name,
            tasks=tasks,
            room=room,
            submitter=submitter,
            owner=owner,
            project=project,
            tags=tags,
            trace_context=trace_context,
            require_workers=require_workers,
            cross_room=cross_room,
        )
        numbers = {row["task_name"]: row["task_id"] for row in rows}
        return SubmittedWorkflow(rows[0]["workflow_id"], rows[0]["workflow_uuid"], numbers)
