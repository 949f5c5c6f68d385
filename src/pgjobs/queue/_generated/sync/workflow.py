"""`WorkflowVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from uuid import UUID

from pgjobs.queue._generated.records.workflows import Workflow, WorkflowTask
from pgjobs.queue._generated.verbs.workflows import WorkflowVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingWorkflowVerbs:
    """The same as `WorkflowVerbs`, blocking."""

    _wrapped: WorkflowVerbs

    def cancel_workflow(
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
        return run(
            self._wrapped.cancel_workflow(
                workflow_id,
                workflow_uuid=workflow_uuid,
                reason=reason,
                force=force,
                actor=actor,
                is_superuser=is_superuser,
            )
        )

    def get_workflow(self, workflow_id: int | None = None, *, workflow_uuid: UUID | None = None) -> Workflow:
        """One workflow."""
        return run(self._wrapped.get_workflow(workflow_id, workflow_uuid=workflow_uuid))

    def get_workflow_graph(
        self, workflow_id: int | None = None, *, workflow_uuid: UUID | None = None, most: int | None = None
    ) -> Json:
        """A workflow as a graph."""
        return run(self._wrapped.get_workflow_graph(workflow_id, workflow_uuid=workflow_uuid, most=most))

    def list_workflow_tasks(
        self,
        workflow_id: int | None = None,
        *,
        workflow_uuid: UUID | None = None,
        after: int | None = None,
        page_size: int | None = None,
    ) -> list[WorkflowTask]:
        """The tasks of a workflow."""
        return run(
            self._wrapped.list_workflow_tasks(
                workflow_id, workflow_uuid=workflow_uuid, after=after, page_size=page_size
            )
        )

    def list_workflows(
        self,
        room: str | None = None,
        *,
        name: str | None = None,
        before: int | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> list[Workflow]:
        """Workflows, newest first."""
        return run(
            self._wrapped.list_workflows(room, name=name, before=before, page_size=page_size, cursor=cursor)
        )

    def retry_workflow(
        self,
        workflow_id: int | None = None,
        *,
        workflow_uuid: UUID | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Workflow:
        """Starts what failed of a workflow over."""
        return run(
            self._wrapped.retry_workflow(workflow_id, workflow_uuid=workflow_uuid, actor=actor, reason=reason)
        )
