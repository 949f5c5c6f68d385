"""Workflows of a round: submitted once each whatever goes wrong, and signalled a little later."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import asyncpg

from pgjobs import Queue
from tests.chaos.ground import Ground, until_there
from tests.reliability.durable_worker import begin, finish, jobs, middle

EACH = 5
"""Tasks of a workflow: three, and two that the middle one calls."""
LINES = 6
"""Transactional steps of a workflow, each with a line of the ledger."""
_MIDDLE = """
select w.task_id
from pgjobs.workflow_tasks as w
join pgjobs.workflows as f on f.id = w.workflow_id
where f.name = $1 and w.name = 'middle'
"""
_COUNT = """
select
  (select count(*)::int from pgjobs.workflows),
  (select count(*)::int from (select distinct number, name from ledger where name is not null) as l),
  (select count(*)::int from ledger where name is not null)
"""


async def submit(
    ground: Ground, queue: Queue, numbers: Sequence[int], acknowledged: set[int], luck: random.Random
) -> None:
    jobs.use(queue)
    async with asyncio.TaskGroup() as group:
        for number in numbers:
            task = await until_there(lambda number=number: _submit_once(ground, queue, number))  # type: ignore[misc]
            acknowledged.add(number)
            # Before it is waited for, or while, or after.
            group.create_task(_signal(queue, task, luck.uniform(0, 2)))


async def _submit_once(ground: Ground, queue: Queue, number: int) -> int:
    """A submit whose reply was lost is not repeated: it has left its number in the same transaction."""
    name = f"chaos {number}"
    connection = await asyncpg.connect(ground.postgres.url, timeout=5)
    try:
        async with connection.transaction():
            is_new = await connection.fetchval(
                "insert into begun (number) values ($1) on conflict do nothing returning true", number
            )
            if is_new:
                flow = jobs.workflow(name)
                first = flow.add(begin, number)
                second = flow.add(middle, number, after=first)
                flow.add(finish, number, after=[first, second])
                await flow.submit(queue, connection=connection)
        return int(await connection.fetchval(_MIDDLE, name))
    finally:
        connection.terminate()


async def _signal(queue: Queue, task: int, pause: float) -> None:
    await asyncio.sleep(pause)
    await until_there(lambda: queue.send_signal(task, "go", 1))


async def count(ground: Ground, acknowledged: set[int]) -> tuple[int, int]:
    """How many workflows or transactional steps are lost, and how many are there twice."""
    connection = await asyncpg.connect(ground.postgres.url)
    try:
        counted = await connection.fetchrow(_COUNT)
    finally:
        await connection.close()
    assert counted is not None
    flows, effects, lines = counted
    lost = max(0, len(acknowledged) - flows) + max(0, len(acknowledged) * LINES - effects)
    return lost, max(0, flows - len(acknowledged)) + lines - effects
