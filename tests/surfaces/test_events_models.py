"""Event models, and what the feed means for those who listen."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pydantic
import pytest

from pgjobs.live import models as events
from pgjobs.live.emissions import Deduplicator, emissions_of
from pgjobs.live.models import (
    Emission,
    JobsInvalidate,
    LiveEvent,
    ProviderRequest,
    ProvidersInvalidate,
    TaskAvailable,
    TaskStatusEvent,
)
from pgjobs.queue.records import Event, TrackedTask

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TASK = UUID(int=7)
JOB = "@global:modifiers:Rotate"


def event(kind: str, **fields: Any) -> Event:
    empty = dict.fromkeys(
        ("task_id", "task_uuid", "job", "room", "status", "worker_id", "actor", "message", "fields")
    )
    return Event(**{**empty, "cursor": "c", "txid": "1", "at": NOW, "kind": kind, **fields})


def of_task(kind: str, status: str, **fields: Any) -> Event:
    return event(kind, task_id=1, task_uuid=TASK, job=JOB, room="lab", status=status, **fields)


def task(**fields: Any) -> TrackedTask:
    known = {
        "id": 1,
        "phase": "due",
        "created_at": NOW,
        "started_at": NOW,
        "status": "pending",
        "error": None,
    }
    return TrackedTask(**{**known, "queue_position": 3, **fields})


def told(*page: Event, **fields: Any) -> list[Emission]:
    return emissions_of(page, {1: task(**fields)})


def test_there_are_ten_events_with_snake_case_names():
    models = [cls for cls in vars(events).values() if isinstance(cls, type) and issubclass(cls, LiveEvent)]
    assert {cls.event_name() for cls in models if cls is not LiveEvent} == {
        "jobs_invalidate", "task_available", "task_status_event", "providers_invalidate", "provider_request",
        "provider_result_ready", "join_job_room", "leave_job_room", "join_provider_room", "leave_provider_room",
    }  # fmt: skip


def test_events_are_frozen_and_equal_ones_are_one():
    first, second = (TaskAvailable(job_name=JOB, room_id="lab", task_id="1") for _ in range(2))
    assert {first, second} == {first}
    assert {Emission(JobsInvalidate(), "room:a"), Emission(JobsInvalidate(), "room:b")}.__len__() == 2
    with pytest.raises(pydantic.ValidationError):
        first.task_id = "2"  # type: ignore[misc]


def test_a_submitted_task_is_offered_and_told_of():
    available, status = told(of_task("submitted", "pending"))
    assert available == (TaskAvailable(job_name=JOB, room_id="lab", task_id=str(TASK)), f"jobs:{JOB}")
    assert status.room == "room:lab"
    assert isinstance(status.event, TaskStatusEvent)
    assert status.event.queue_position == 3
    assert status.event.started_at is None


def test_a_task_that_moved_on_is_told_of_as_it_was():
    page = [of_task("submitted", "pending"), replace(of_task("claimed", "claimed"), txid="2")]
    page += [replace(of_task("completed", "completed"), txid="3")]
    statuses = [e.event for e in told(*page, status="completed", queue_position=None) if e.room == "room:lab"]
    assert [s.status for s in statuses if isinstance(s, TaskStatusEvent)] == [
        "pending",
        "claimed",
        "completed",
    ]


def test_equal_events_of_one_transaction_are_told_once_and_in_the_order_of_the_last():
    page = [of_task("submitted", "pending"), of_task("claimed", "claimed"), of_task("released", "pending")]
    kinds = [e.event.event_name() for e in told(*page)]
    assert kinds == ["task_status_event", "task_available", "task_status_event"]
    assert [e.event.status for e in told(*page) if isinstance(e.event, TaskStatusEvent)] == [
        "claimed",
        "pending",
    ]
    later = [replace(e, txid=str(place)) for place, e in enumerate(page)]
    assert len(told(*later)) == 5


def test_a_transaction_longer_than_a_page_tells_a_room_once_to_look_again():
    told = Deduplicator()
    pages = [
        [event("worker_joined", job=JOB, room="lab"), of_task("submitted", "pending")],
        [of_task("claimed", "claimed"), event("worker_joined", job=JOB, room="lab")],
        [replace(event("worker_left", job=JOB, room="lab"), txid="2")],
    ]
    sent = [[e.event.event_name() for e in emissions_of(page, {1: task()}, told)] for page in pages]
    assert sent == [
        ["jobs_invalidate", "task_available", "task_status_event"],
        ["task_status_event"],
        ["jobs_invalidate"],
    ]
    assert len(told.emissions) == 1, "what was said of tasks is not kept"


def test_an_ignored_task_counts_as_pending():
    (status,) = told(of_task("ignored", "ignored", message="known"), status="ignored", queue_position=None)
    assert isinstance(status.event, TaskStatusEvent)
    assert status.event.status == "pending"


def test_what_has_no_status_and_what_is_gone_is_not_told():
    assert (
        told(of_task("cancel_requested", "running", message="why"))[0].event.event_name()
        == "task_status_event"
    )
    assert told(replace(of_task("cancel_requested", "running"), status=None)) == []
    assert emissions_of([of_task("submitted", "pending")], {}) == []


def test_schedules_are_told_by_the_tasks_they_submit():
    page = [
        event("schedule_paused", job=JOB, room="@global", fields={"schedule": "@global:nightly"}),
        event("schedule_skipped", job=JOB, room="@global", message="A run before it has not ended"),
        of_task("submitted", "pending"),
        replace(of_task("schedule_fired", "pending"), status=None),
    ]
    assert [emission.event.event_name() for emission in told(*page)] == [
        "task_available",
        "task_status_event",
    ]


def test_the_registry_is_told_to_rooms_and_reads_to_their_provider():
    page = [
        event("worker_joined", job=JOB, room="@global"),
        event("paused", job=JOB, room="@global"),
        event("job_deleted", room="hall", fields={"job": "hall:modifiers:Bend"}),
        event("provider_retired", room="lab", fields={"provider_name": "lab:f:x"}),
        event(
            "provider_request",
            room="lab",
            fields={"provider_name": "lab:f:x", "request_id": "h", "params": "{}"},
        ),
    ]
    assert emissions_of(page, {}) == [
        Emission(JobsInvalidate(), "room:@global"),
        Emission(JobsInvalidate(), "room:hall"),
        Emission(ProvidersInvalidate(), "room:lab"),
        Emission(ProviderRequest(request_id="h", provider_name="lab:f:x", params="{}"), "providers:lab:f:x"),
    ]


def test_the_documentation_names_every_event_and_its_fields():
    page = (Path(__file__).parents[2] / "docs" / "live.md").read_text()
    for model in (JobsInvalidate, TaskAvailable, TaskStatusEvent, ProvidersInvalidate, ProviderRequest):
        fields = " ".join(model.model_fields)
        row = f"| `{model.event_name()}` | `{fields}` |" if fields else f"| `{model.event_name()}` | |"
        assert row in page
    for name in re.findall(r"\]\(\.\./(\S+)\)", page):
        assert (Path(__file__).parents[2] / name).exists()
