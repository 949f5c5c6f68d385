"""The verbs of workflows.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.workflows import Workflow, WorkflowTask
from pgjobs.queue.base import Json


class WorkflowVerbs:
    """The verbs of workflows."""

    driver: Driver

    async def cancel_workflow(
        self,
        workflow_id: int | None = None,
        *,
        workflow_uuid: UUID | None = None,
        reason: str | None = None,
        force: bool | None = None,
        actor: str | None = None,
        is_superuser: bool | None = None,
    ) -> Workflow:
        """Cancels what has not ended of a workflow."""
        rows = await self.driver.call(
            "cancel_workflow",
            workflow_id=workflow_id,
            workflow_uuid=workflow_uuid,
            reason=reason,
            force=force,
            actor=actor,
            is_superuser=is_superuser,
        )
        return Workflow.of(rows[0])

    async def get_workflow(
        self, workflow_id: int | None = None, *, workflow_uuid: UUID | None = None
    ) -> Workflow:
        """One workflow."""
        rows = await self.driver.call("get_workflow", workflow_id=workflow_id, workflow_uuid=workflow_uuid)
        return Workflow.of(rows[0])

    async def get_workflow_graph(
        self, workflow_id: int | None = None, *, workflow_uuid: UUID | None = None, most: int | None = None
    ) -> Json:
        """A workflow as a graph."""
        rows = await self.driver.call(
            "get_workflow_graph", workflow_id=workflow_id, workflow_uuid=workflow_uuid, most=most
        )
        document: Json = rows[0]["document"]
        return document

    async def list_workflow_tasks(
        self,
        workflow_id: int | None = None,
        *,
        workflow_uuid: UUID | None = None,
        after: int | None = None,
        page_size: int | None = None,
    ) -> list[WorkflowTask]:
        """The tasks of a workflow."""
        rows = await self.driver.call(
            "list_workflow_tasks",
            workflow_id=workflow_id,
            workflow_uuid=workflow_uuid,
            after=after,
            page_size=page_size,
        )
        return WorkflowTask.each(rows)

    async def list_workflows(
        self,
        room: str | None = None,
        *,
        name: str | None = None,
        before: int | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> list[Workflow]:
        """Workflows, newest first."""
        rows = await self.driver.call(
            "list_workflows", room=room, name=name, before=before, page_size=page_size, cursor=cursor
        )
        return Workflow.each(rows)

    async def retry_workflow(
        self,
        workflow_id: int | None = None,
        *,
        workflow_uuid: UUID | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Workflow:
        """Starts what failed of a workflow over."""
        rows = await self.driver.call(
            "retry_workflow", workflow_id=workflow_id, workflow_uuid=workflow_uuid, actor=actor, reason=reason
        )
        return Workflow.of(rows[0])
