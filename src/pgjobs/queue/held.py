"""Leases to acknowledge, as claimed or as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pgjobs.queue._generated.records.tasks import Lease

OneHeld = Lease | tuple[int, UUID]
Held = Sequence[OneHeld]
"""Leases to acknowledge, as claimed or as (task id, token) pairs."""


def named(held: Held) -> dict[str, Any]:
    pairs = [(item.task_id, item.token) if isinstance(item, Lease) else item for item in held]
    return {"task_ids": [task_id for task_id, _ in pairs], "tokens": [token for _, token in pairs]}
