"""Workflows of durable handlers, run by a real worker."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.errors import InvalidArgument
from tests.surfaces.test_durable import Account, drained, jobs, queue

__all__ = ["jobs", "queue"]


async def test_a_workflow_gives_parents_results_to_children(queue: Queue, jobs: Jobs):
    @jobs.task
    async def fetch(url: str) -> Account:
        return Account(user=len(url), uuid=UUID(int=1))

    @jobs.task
    async def merge(task: TaskContext) -> int:
        return sum(account.user for account in (await task.parents()).values())

    flow = jobs.workflow("nightly")
    fetched = [flow.add(fetch, "x" * length) for length in (1, 2, 3)]
    flow.add(merge, after=fetched)
    handle = await flow.submit(queue)
    async with Worker(queue, jobs):
        assert await handle.wait(timeout=60) == "completed"
    assert handle.results["merge"] == 6
    assert handle.results["fetch-2"].user == 2


async def test_a_chain_does_not_wait_for_the_next_look(queue: Queue, jobs: Jobs):
    """An end that commits after the worker has said that it waits wakes nobody by itself."""

    @jobs.task
    async def work() -> None: ...

    flow = jobs.workflow("chain")
    last = flow.add(work)
    for _ in range(40):
        last = flow.add(work, after=last)
    handle = await flow.submit(queue)
    async with Worker(queue, jobs, poll=timedelta(hours=1), sweep=None):
        assert await handle.wait(timeout=60) == "completed"


async def test_what_runs_whatever_happens_runs(queue: Queue, jobs: Jobs):
    told: list[object] = []

    @jobs.task(max_attempts=1)
    async def broken() -> None:
        raise ValueError("no")

    @jobs.task
    async def notify(task: TaskContext) -> None:
        told.append([(parent.name, parent.status) for parent in await queue.list_parents(task.id)])

    flow = jobs.workflow("nightly")
    flow.add(notify, after=flow.add(broken), on_failure="run")
    handle = await flow.submit(queue)
    await drained(queue, jobs)
    assert await handle.wait(timeout=30) == "failed"
    assert told == [[("broken", "failed")]]


async def test_a_workflow_is_submitted_in_the_transaction_of_the_caller(
    queue: Queue, jobs: Jobs, database_url: str
):
    @jobs.task
    async def work() -> None: ...

    connection = await asyncpg.connect(database_url)
    transaction = connection.transaction()
    await transaction.start()
    flow = jobs.workflow("nightly")
    flow.add(work)
    await flow.submit(queue, connection=connection)
    await transaction.rollback()
    assert await queue.list_workflows() == []
    await connection.close()


async def test_a_task_of_another_workflow_is_no_parent(jobs: Jobs):
    @jobs.task
    async def work() -> None: ...

    other = jobs.workflow("other").add(work)
    with pytest.raises(InvalidArgument, match="no earlier task"):
        jobs.workflow("nightly").add(work, after=other)


async def test_waiting_for_a_workflow_ends_when_its_time_is_over(queue: Queue, jobs: Jobs):
    @jobs.task
    async def work() -> None: ...

    flow = jobs.workflow("nightly")
    flow.add(work)
    handle = await flow.submit(queue)
    with pytest.raises(TimeoutError):
        await handle.wait(timeout=0.1)
