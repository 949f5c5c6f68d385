"""What the verbs of providers answer with.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pgjobs.queue.base import Json, Record


@dataclass(frozen=True, slots=True)
class Provider(Record):
    """A row of the relation `providers`."""

    id: UUID
    room: str
    category: str
    name: str
    full_name: str
    schema: Json
    content_type: str
    owner: str | None
    worker_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ProviderRegistration(Record):
    """A row of `register_provider`: registers a provider."""

    provider_id: UUID
    registered: str
