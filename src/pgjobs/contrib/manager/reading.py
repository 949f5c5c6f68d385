"""Finding jobs, and keeping what is known of them before they end."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pgjobs.contrib.manager.calls import GenericCalls, owner_text
from pgjobs.contrib.manager.events import JobEvent, job_event
from pgjobs.contrib.manager.quotas import fitting
from pgjobs.contrib.manager.settings import ManagerSettings
from pgjobs.contrib.manager.words import own_words, required
from pgjobs.errors import InvalidArgument
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import GenericJob, Json


class ReadingCalls:
    """The part of the manager that looks, and that keeps what jobs have given so far."""

    queue: Queue
    settings: ManagerSettings
    _calls: GenericCalls

    async def list_jobs(  # noqa: PLR0917
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
        further: dict[str, Any] = {
            "created_after": created_after,
            "created_before": created_before,
            "batch_group": batch_group,
            "sort_by": sort_by,
            "sort_order": sort_order,
        }
        known: dict[str, Any] = {
            "status": status,
            "owner_user_id": owner_text(owner_user_id),
            "project_id": project_id,
            "page_size": limit,
            "page_offset": offset,
        }
        below = before if before_id is None else before_id
        with own_words():
            if any(value is not None for value in further.values()):
                return await self._calls.find_generic_jobs(
                    domain, queue, job_type, before_id=below, **known, **further
                )
            return await self._calls.list_generic_jobs(domain, queue, job_type, before=below, **known)

    async def update_job_progress(
        self,
        id: int,  # noqa: A002
        progress: Json = None,
        *,
        progress_percent: float | None = None,
        progress_message: str | None = None,
    ) -> GenericJob:
        """Keeps what a job that has not ended reports, also over retries: a document, or percent and text."""
        if progress is None:
            said = {"percent": progress_percent, "message": progress_message}
            progress = {name: value for name, value in said.items() if value is not None}
        if not progress:
            raise InvalidArgument("progress is required")
        return await self._updated(id, progress=progress)

    async def update_job_result(
        self,
        id: int,  # noqa: A002
        result: Json,
        *,
        merge: bool = False,
    ) -> GenericJob:
        """Keeps what a job that has not ended has given so far; with `merge`, beside what is there."""
        required(result=result)
        return await self._updated(id, result=fitting(result, "Result", self.settings), merge=merge)

    async def _updated(self, job_id: int, **document: Any) -> GenericJob:
        required(id=job_id)
        with own_words():
            return await self._calls.update_generic_job(job_id, **document)

    async def list_job_events_after(
        self, after_id: str | None = None, *, domain: str | None = None, limit: int = 500
    ) -> list[JobEvent]:
        """What happened after an event, none missed; None begins with the oldest that is kept."""
        with own_words(after="after_id", of_room="domain"):
            events = await self.queue.list_events(after_id, of_room=domain, page_size=limit)
        return [job_event(event) for event in events]

    async def set_job_events(
        self, domain: str, queue: str | None = None, *, events: Literal["failures", "full"] = "full"
    ) -> int:
        """Has the job types of a domain tell of everything, creating and acquiring too; how many."""
        known = [
            job
            for job in await self.queue.list_jobs(domain, page_size=500)
            if job.room == domain and queue in {None, job.category}
        ]
        for job in known:
            await self.queue.set_job_policy(job.full_name, events=events)
        return len(known)
