"""The one reader of events in a process, on every driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from pgjobs.live.feed import EventFeed, feed_of
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Event
from tests.surfaces.ears import eventually

JOB = "lab:modifiers:Rotate"


class Notebook:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.tasks: list[int | None] = []

    async def __call__(self, events: Sequence[Event]) -> None:
        self.tasks += [event.task_id for event in events]


@pytest.fixture
async def feed(queue: Queue) -> AsyncIterator[EventFeed]:
    """One that would look only every minute, if nobody woke it."""
    await queue.register_job("lab", "modifiers", "Rotate", events="full")
    feed = EventFeed(queue, poll=60, page_size=3)
    yield feed
    await feed.close()


async def test_every_subscriber_is_told_from_its_subscription_on(queue, feed):
    early, late = Notebook(), Notebook()
    await feed.subscribe(early)
    first = await queue.submit_task(JOB)
    await eventually(lambda: early.tasks == [first.task_id])
    stop = await feed.subscribe(late)
    more = [task.task_id for task in await queue.submit_tasks(JOB, [{}] * 8)]
    await eventually(lambda: late.tasks == more)
    assert early.tasks == [first.task_id, *more]
    stop()
    await queue.submit_task(JOB)
    await eventually(lambda: len(early.tasks) == 10)
    assert late.tasks == more


async def test_a_sleeping_feed_is_woken_again_and_again(queue, feed):
    notebook = Notebook()
    await feed.subscribe(notebook)
    for quantity in range(1, 4):
        # Long enough for it to have stopped looking by itself.
        await asyncio.sleep(0.5)
        await queue.submit_task(JOB)
        await eventually(lambda: len(notebook.tasks) == quantity, patience=5)  # noqa: B023


async def test_notifications_that_are_lost_cost_time_and_nothing_else(queue, feed, monkeypatch):
    async def deaf(_channel: str, _wake: object) -> object:
        return lambda: None

    monkeypatch.setattr(queue.driver, "listen", deaf)
    notebook, looking = Notebook(), EventFeed(queue, poll=0.1)
    await looking.subscribe(notebook)
    for quantity in (1, 2):
        await asyncio.sleep(0.3)
        await queue.submit_task(JOB)
        await eventually(lambda: len(notebook.tasks) == quantity)  # noqa: B023
    await looking.close()


async def test_a_subscriber_that_fails_does_not_harm_the_others(queue, feed):
    async def fail(_events: Sequence[Event]) -> None:
        raise RuntimeError("not today")

    notebook = Notebook()
    await feed.subscribe(fail)
    await feed.subscribe(notebook)
    tasks = [task.task_id for task in await queue.submit_tasks(JOB, [{}] * 4)]
    await eventually(lambda: notebook.tasks == tasks)


async def test_a_feed_nobody_listens_to_stops_and_starts_again(queue, feed):
    first, second = Notebook(), Notebook()
    (await feed.subscribe(first))()
    await eventually(lambda: not feed.is_running)
    missed = await queue.submit_task(JOB)
    await feed.subscribe(second)
    task = await queue.submit_task(JOB)
    await eventually(lambda: second.tasks == [task.task_id])
    assert missed.task_id not in first.tasks


def test_a_queue_has_one_feed_in_a_process(queue):
    assert feed_of(queue) is feed_of(queue)
