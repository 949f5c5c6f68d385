"""`FlowVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgjobs.queue.base import Json
from pgjobs.queue.flow import FlowVerbs, SubmittedWorkflow
from pgjobs.queue.run_sync import run


class BlockingFlowVerbs:
    """The same as `FlowVerbs`, blocking."""

    _wrapped: FlowVerbs

    def submit_workflow(
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
        """Submits tasks that belong together: entries of job, name, payload, after, on_failure, …."""
        return run(
            self._wrapped.submit_workflow(
                name,
                tasks,
                room=room,
                submitter=submitter,
                owner=owner,
                project=project,
                tags=tags,
                trace_context=trace_context,
                require_workers=require_workers,
                cross_room=cross_room,
            )
        )
