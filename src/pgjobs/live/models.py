"""Live events: what servers and clients tell one another over Socket.IO.

The name of an event is its model's name in snake_case. Models are frozen, so that
equal events are found and sent once.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

TaskStatus = Literal["pending", "claimed", "running", "completed", "failed", "cancelled"]

_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class LiveEvent(BaseModel):
    """Something that is told over Socket.IO."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def event_name(cls) -> str:
        return _INNER_CAPITAL.sub("_", cls.__name__).lower()


class JobsInvalidate(LiveEvent):
    """The jobs of the room, or the workers that serve them, have changed."""


class TaskAvailable(LiveEvent):
    """A task of the job can be claimed."""

    job_name: str
    room_id: str
    task_id: str


class TaskStatusEvent(LiveEvent):
    """A task submitted from the room has another status."""

    id: str
    name: str
    room_id: str
    status: TaskStatus
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    queue_position: int | None = None
    worker_id: str | None = None
    error: str | None = None


class ProvidersInvalidate(LiveEvent):
    """The providers of the room have changed."""


class ProviderRequest(LiveEvent):
    """A question for the provider; `params` is canonical JSON text, `request_id` its hash."""

    request_id: str
    provider_name: str
    params: str


class ProviderResultReady(LiveEvent):
    """A provider's answer can be fetched."""

    provider_name: str
    request_hash: str


class JoinJobRoom(LiveEvent):
    """From a client: its worker wants to hear of tasks of the job."""

    job_name: str
    worker_id: str


class LeaveJobRoom(LiveEvent):
    """From a client: its worker no longer serves the job."""

    job_name: str
    worker_id: str


class JoinProviderRoom(LiveEvent):
    """From a client: its worker wants to hear questions for the provider."""

    provider_name: str
    worker_id: str


class LeaveProviderRoom(LiveEvent):
    """From a client: its worker no longer answers for the provider."""

    provider_name: str
    worker_id: str


class Emission(NamedTuple):
    """An event and the Socket.IO room it goes to."""

    event: LiveEvent
    room: str


def room_of(room_id: str) -> str:
    """Where those who look at a room are."""
    return f"room:{room_id}"


def room_of_job(full_name: str) -> str:
    """Where the workers of a job are."""
    return f"jobs:{full_name}"


def room_of_provider(full_name: str) -> str:
    """Where the worker behind a provider is."""
    return f"providers:{full_name}"
