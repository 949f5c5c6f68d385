"""What `--json` prints: the models of the HTTP API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pgjobs.queue.records import Counted, Task
from pgjobs.queue.server import ServerQueue
from pgjobs.server.api.schemas import Page, TaskOut


async def shown(queue: ServerQueue, task_id: int) -> TaskOut:
    task = await queue.get_task(task_id)
    return TaskOut.of(await queue.show_task(task.uuid))


async def shown_page(queue: ServerQueue, tasks: Sequence[Task], limit: int) -> Page[TaskOut]:
    answers = await asyncio.gather(*(queue.show_task(task.uuid) for task in tasks))
    return Page[TaskOut].of([TaskOut.of(answer) for answer in answers], counted(tasks, limit), limit, 0)


def counted(items: Sequence[Any], limit: int) -> Counted:
    """A full page tells only that there are at least as many."""
    return Counted(total=len(items), relation="gte" if len(items) >= limit else "eq")
