"""What the event feed means for those who listen over Socket.IO."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import cast

from pgjobs.live.models import (
    Emission,
    JobsInvalidate,
    ProviderRequest,
    ProviderResultReady,
    ProvidersInvalidate,
    TaskAvailable,
    TaskStatus,
    TaskStatusEvent,
    room_of,
    room_of_job,
    room_of_provider,
)
from pgjobs.queue.records import Event, TrackedTask

TASK_CAN_BE_CLAIMED = frozenset({"submitted", "due", "released", "retried", "unignored"})
PROVIDER_CAME_OR_WENT = frozenset({"provider_registered", "provider_retired"})
ENDED = frozenset({"completed", "failed", "cancelled"})
INVALIDATIONS = (JobsInvalidate, ProvidersInvalidate)


@dataclass
class Deduplicator:
    """Who was told to look again by the transaction a page ended in: the next page may continue with it."""

    txid: str | None = None
    emissions: set[Emission] = field(default_factory=set)

    def news(self, txid: str, emissions: Iterable[Emission]) -> list[Emission]:
        """Those that the transaction has not caused before."""
        if txid != self.txid:
            self.txid, self.emissions = txid, set()
        news = [emission for emission in emissions if emission not in self.emissions]
        self.emissions.update(emission for emission in news if isinstance(emission.event, INVALIDATIONS))
        return news


def emissions_of(
    events: Sequence[Event],
    tasks: Mapping[int, TrackedTask],
    told: Deduplicator | None = None,
    *,
    are_rooms_closed: bool = False,
) -> list[Emission]:
    """What to send about a page of events; of equal ones in a transaction, only the last.

    A reader of many pages passes `told` along, because a transaction may be longer than a page.
    Where rooms are closed nobody is told a queue position in a shared job: others wait there too.
    """
    told = told or Deduplicator()
    emissions: list[Emission] = []
    for txid, transaction in groupby(events, key=lambda event: event.txid):
        latest: dict[Emission, None] = {}
        for event in transaction:
            for emission in _emissions(event, _seen(event, tasks) if are_rooms_closed else tasks):
                latest.pop(emission, None)
                latest[emission] = None
        emissions += told.news(txid, latest)
    return emissions


def _seen(event: Event, tasks: Mapping[int, TrackedTask]) -> Mapping[int, TrackedTask]:
    task = tasks.get(event.task_id or 0)
    if task is None or str(event.job).startswith(f"{event.room}:"):
        return tasks
    return {task.id: replace(task, queue_position=None)}


def _emissions(event: Event, tasks: Mapping[int, TrackedTask]) -> Iterator[Emission]:
    room = event.room or "@global"
    if event.task_id is not None:
        if (task := tasks.get(event.task_id)) is not None:
            yield from _about_task(event, task, room)
    elif event.kind == "provider_request":
        asked = ProviderRequest.model_validate(event.fields)
        yield Emission(asked, room_of_provider(asked.provider_name))
    elif event.kind == "provider_result_ready":
        yield Emission(ProviderResultReady.model_validate(event.fields), room_of(room))
    elif event.kind in PROVIDER_CAME_OR_WENT:
        yield Emission(ProvidersInvalidate(), room_of(room))
    elif event.kind.startswith("schedule_"):
        return  # The jobs are as they were; a run that starts is told as its task.
    elif event.job is not None or event.kind == "job_deleted":
        yield Emission(JobsInvalidate(), room_of(room))


def _about_task(event: Event, task: TrackedTask, room: str) -> Iterator[Emission]:
    task_id, job = str(event.task_uuid), str(event.job)
    is_later = event.kind == "submitted" and task.phase == "scheduled"
    if event.kind in TASK_CAN_BE_CLAIMED and not is_later and not job.startswith("@internal:"):
        yield Emission(TaskAvailable(job_name=job, room_id=room, task_id=task_id), room_of_job(job))
    if event.status is not None:
        yield Emission(_status_event(event, task, room), room_of(room))


def _status_event(event: Event, task: TrackedTask, room: str) -> TaskStatusEvent:
    """The status is the event's, because the task may have moved on since; the rest is read anew."""
    status = "pending" if event.status == "ignored" else event.status
    is_ended = status in ENDED
    error = task.error if task.status == event.status else None
    return TaskStatusEvent(
        id=str(event.task_uuid),
        name=str(event.job),
        room_id=room,
        status=cast("TaskStatus", status),
        created_at=task.created_at,
        started_at=task.started_at if is_ended or status == "running" else None,
        completed_at=event.at if is_ended else None,
        queue_position=task.queue_position if status == "pending" else None,
        worker_id=str(event.worker_id) if event.worker_id is not None else None,
        error=error or event.message if status != "completed" else None,
    )
