"""Keys in a program: what tasks are grouped by, and how many of one group run at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Jobs, Queue, Worker
from pgjobs.errors import InvalidArgument

pytestmark = pytest.mark.postgres_only


async def test_workers_together_keep_to_the_limit_of_a_key(url: str, queue: Queue, jobs: Jobs):
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()

    @jobs.task(key=lambda customer, number: customer, max_running_per_key=2)
    async def serve(customer: str, number: int) -> None:
        running[customer] += 1
        most[customer] = max(most[customer], running[customer])
        await asyncio.sleep(0.01)
        running[customer] -= 1

    payloads = [serve.payload(customer, number) for number in range(8) for customer in "abc"]
    handles = await serve.submit_many(payloads)
    handles.append(await serve.submit("a", number=99))
    other = await Queue.connect(url)
    async with Worker(queue, jobs), Worker(other, jobs):
        for handle in handles:
            await handle.result(timeout=30)
    await other.close()
    assert most == {"a": 2, "b": 2, "c": 2}


async def test_tasks_of_a_key_run_in_order_of_submission(queue: Queue, jobs: Jobs):
    seen: list[int] = []

    @jobs.task(key=lambda number: "one", ordered=True)
    async def note(number: int) -> None:
        await asyncio.sleep(0.01 / (number + 1))
        seen.append(number)

    handles = await note.submit_many([note.payload(number) for number in range(5)])
    async with Worker(queue, jobs):
        for handle in handles:
            await handle.result(timeout=30)
    assert seen == [0, 1, 2, 3, 4]


async def test_a_key_can_be_given_at_the_call(queue: Queue, jobs: Jobs):
    @jobs.task(max_running_per_key=1)
    async def work() -> None: ...

    await work.with_options(key="acme").submit()
    assert [key.key for key in await queue.list_keys(work.address)] == ["acme"]


async def test_what_is_no_text_is_no_key(queue: Queue, jobs: Jobs):
    number: Any = 7

    @jobs.task(key=lambda: number)
    async def work() -> None: ...

    with pytest.raises(InvalidArgument, match="key must give text"):
        await work.submit()


async def test_what_a_program_says_of_sharing_is_registered(queue: Queue, jobs: Jobs):
    @jobs.task(key=lambda: None, fair=True, rate="100/min", rate_per_key="10/min", on_failure="skip")
    async def work() -> None: ...

    await jobs.register()
    sharing = await queue.get_sharing(work.address)
    assert sharing is not None
    assert (sharing.fair, sharing.rate, sharing.rate_per_key, sharing.on_failure) == (
        True,
        "100/min",
        "10/min",
        "skip",
    )


async def test_a_task_is_submitted_once_while_it_waits(queue: Queue, jobs: Jobs):
    @jobs.task
    async def index(document: int, words: str = "") -> None: ...

    send = index.with_options(unique="waiting")
    first = await send.submit(1)
    again = await send.submit(1)
    assert (first.outcome, again.outcome, again.id) == ("new", "found", first.id)
    chosen = index.with_options(
        unique_fields=["document"], debounce=timedelta(minutes=5), max_wait=timedelta(hours=1)
    )
    first = await chosen.submit(2, "old")
    again = await chosen.submit(2, "new")
    assert (again.outcome, again.is_new, again.id) == ("replaced", False, first.id)
    assert (await again.get()).payload == {"document": 2, "words": "new"}
    period = index.with_options(unique=timedelta(hours=1))
    assert (await period.submit(3)).id == (await period.submit(3)).id
    with pytest.raises(InvalidArgument, match="one by one"):
        await send.submit_many([index.payload(1)])
