"""`ReadingCalls` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pgjobs.contrib.manager.events import JobEvent
from pgjobs.contrib.manager.reading import ReadingCalls
from pgjobs.queue._generated.records.manager import GenericJob
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingReadingCalls:
    """The same as `ReadingCalls`, blocking."""

    _wrapped: ReadingCalls

    def list_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        status: str | None = None,
        owner_user_id: str | int | None = None,
        project_id: int | None = None,
        *,
        before: int | None = None,
        limit: int = 50,
        offset: int = 0,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        before_id: int | None = None,
        batch_group: str | None = None,
        sort_by: Literal["id", "created_at", "available_at", "priority", "status"] | None = None,
        sort_order: Literal["asc", "desc"] | None = None,
    ) -> list[GenericJob]:
        """Jobs that fit every filter, newest first, at most 500; `before_id` (or `before`) pages by id.

        Times, `batch_group` and another order need Postgres, and look at every job that fits the rest.
        """
        return run(
            self._wrapped.list_jobs(
                domain,
                queue,
                job_type,
                status,
                owner_user_id,
                project_id,
                before=before,
                limit=limit,
                offset=offset,
                created_after=created_after,
                created_before=created_before,
                before_id=before_id,
                batch_group=batch_group,
                sort_by=sort_by,
                sort_order=sort_order,
            )
        )

    def update_job_progress(
        self,
        id: int,
        progress: Json = None,
        *,
        progress_percent: float | None = None,
        progress_message: str | None = None,
    ) -> GenericJob:
        """Keeps what a job that has not ended reports, also over retries: a document, or percent and text."""
        return run(
            self._wrapped.update_job_progress(
                id, progress, progress_percent=progress_percent, progress_message=progress_message
            )
        )

    def update_job_result(self, id: int, result: Json, *, merge: bool = False) -> GenericJob:
        """Keeps what a job that has not ended has given so far; with `merge`, beside what is there."""
        return run(self._wrapped.update_job_result(id, result, merge=merge))

    def list_job_events_after(
        self, after_id: str | None = None, *, domain: str | None = None, limit: int = 500
    ) -> list[JobEvent]:
        """What happened after an event, none missed; None begins with the oldest that is kept."""
        return run(self._wrapped.list_job_events_after(after_id, domain=domain, limit=limit))

    def set_job_events(
        self, domain: str, queue: str | None = None, *, events: Literal["failures", "full"] = "full"
    ) -> int:
        """Has the job types of a domain tell of everything, creating and acquiring too; how many."""
        return run(self._wrapped.set_job_events(domain, queue, events=events))
