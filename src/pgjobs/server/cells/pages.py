"""Pages of several cells as one: ordered streams merged, with a cursor that carries one for each cell."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, NamedTuple
from uuid import UUID

from pgjobs.queue.cells import merged
from pgjobs.server.console_api.schemas import TaskSeen, TasksFound
from pgjobs.server.problems import problem

Cursor = dict[str, str | None]
"""By cell: the task before which the next page begins, None after the last. Others begin."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Merged(NamedTuple):
    """A page of tasks of several cells."""

    items: list[tuple[str, TaskSeen]]
    following: str | None
    looked: int | None
    looked_to: datetime | None


def cursor_of(text: str | None) -> Cursor:
    """What a cursor carries."""
    if text is None:
        return {}
    try:
        carried = json.loads(base64.urlsafe_b64decode(text.encode()))
        return {str(cell): None if before is None else str(UUID(before)) for cell, before in carried.items()}
    except (ValueError, AttributeError, TypeError):
        raise problem("invalid-filter", "`before` is not a cursor of this list") from None


def text_of(cursor: Mapping[str, str | None]) -> str:
    """A cursor as callers have it, who need not look inside."""
    return base64.urlsafe_b64encode(json.dumps(dict(cursor)).encode()).decode()


def merged_tasks(
    pages: Mapping[str, TasksFound], before: Cursor, limit: int, missing: Sequence[str] = ()
) -> Merged:
    """The newest tasks of all pages, and where each continues.

    A page ends where a cell was not looked through yet: what it has from there on may come first.
    What is missing continues, once it is back, from where it was.
    """
    frontier = max(
        (_looked_to(page, limit) for page in pages.values() if page.next is not None), default=_LONG_AGO
    )
    newest = merged({cell: page.items for cell, page in pages.items()}, lambda task: _newest(task.created_at))
    items = list(takewhile(lambda item: item[1].created_at >= frontier, newest))[:limit]
    cursor: Cursor = {cell: place for cell, place in before.items() if cell in missing or place is None}
    for cell, page in pages.items():
        taken = [task for of, task in items if of == cell]
        if len(taken) == len(page.items):
            cursor[cell] = None if page.next is None else str(page.next)
        elif taken:
            cursor[cell] = str(taken[-1].id)
        elif cell in before:
            cursor[cell] = before[cell]
    is_over = all(cursor.get(cell, "") is None for cell in pages)
    looked = [page.looked for page in pages.values() if page.looked is not None]
    return Merged(
        items,
        None if is_over else text_of(cursor),
        sum(looked) if looked else None,
        frontier if looked and frontier is not _LONG_AGO else None,
    )


def merged_page(
    streams: Mapping[str, Sequence[tuple[Any, dict[str, Any]]]], limit: int, offset: int
) -> list[dict[str, Any]]:
    """Items of a page, each with its cell: `streams` are pairs of a key and an item, in order of the key."""
    found = merged(streams, lambda pair: pair[0], offset + limit)
    return [item | {"cell": cell} for cell, (_, item) in found[offset:]]


def newest_first(moment: datetime) -> float:
    """A key that puts what is newer first."""
    return _newest(moment)


def _newest(moment: datetime) -> float:
    return -moment.timestamp()


def _looked_to(page: TasksFound, limit: int) -> datetime:
    """Whatever is newer is on the page."""
    oldest = min((task.created_at for task in page.items), default=datetime.max.replace(tzinfo=UTC))
    is_full = len(page.items) >= limit
    return oldest if is_full or page.looked_to is None else min(oldest, page.looked_to)
