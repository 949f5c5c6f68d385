"""What happened to jobs, in order, for those that must not miss any of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pgjobs.queue.records import Event

if TYPE_CHECKING:
    from pgjobs.contrib.manager.jobs import JobManager

_TYPES = {
    "submitted": "job.created",
    "claimed": "job.acquired",
    "started": "job.started",
    "retrying": "job.retry_scheduled",
    "retried": "job.requeued",
    "unignored": "job.requeued",
    "pruned": "jobs.pruned",
}


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One thing that happened; the next ones come after its `id`."""

    id: str
    event_type: str
    created_at: datetime
    job_id: int | None
    domain: str | None
    queue: str | None
    job_type: str | None
    attrs: dict[str, Any]

    def as_sse(self) -> str:
        """The event for a stream of server-sent events; its id is what a browser sends on reconnecting."""
        data = json.dumps(asdict(self), default=str)
        return f"id: {self.id}\nevent: {self.event_type}\ndata: {data}\n\n"


def job_event(event: Event) -> JobEvent:
    domain, queue, job_type = [*(event.job or "").split(":", 2), "", ""][:3] if event.job else (None,) * 3
    fields = event.fields if isinstance(event.fields, dict) else {}
    said = {"status": event.status, "actor": event.actor, "message": event.message}
    return JobEvent(
        event.cursor,
        _TYPES.get(event.kind, f"job.{event.kind}"),
        event.at,
        event.task_id,
        domain,
        queue,
        job_type,
        {name: value for name, value in said.items() if value is not None} | fields,
    )


async def follow_job_events(
    jm: JobManager, after_id: str | None = None, *, domain: str | None = None, poll_seconds: float = 1.0
) -> AsyncIterator[JobEvent]:
    """Events as they come, without end."""
    while True:
        events = await jm.list_job_events_after(after_id, domain=domain)
        for event in events:
            after_id = event.id
            yield event
        if not events:
            await asyncio.sleep(poll_seconds)
