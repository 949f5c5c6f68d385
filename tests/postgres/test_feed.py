"""The event feed on Postgres: every event once, as soon as it is committed, in whatever order that happens."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from pgjobs.errors import InvalidArgument
from pgjobs.queue.records import Event
from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.ears import eventually

JOB = "@global:tests:Work"


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url) as queue:
        await queue.register_job(*JOB.split(":"), events="full")
        yield queue


@pytest.fixture
async def connections(database_url: str) -> AsyncIterator[list[Any]]:
    opened = [await asyncpg.connect(database_url) for _ in range(3)]
    yield opened
    for connection in opened:
        await connection.close()


async def submit_within(queue: Queue, connection: Any, quantity: int = 1) -> list[int]:
    submitted = await queue.bound_to(connection).submit_tasks(JOB, [{}] * quantity)
    return [task.task_id for task in submitted]


def tasks_of(events: list[Event]) -> list[int | None]:
    return [event.task_id for event in events]


async def read_all(queue: Queue, cursor: str | None, **options: Any) -> list[Event]:
    events: list[Event] = []
    while page := await queue.list_events(cursor, **options):
        events += page
        cursor = page[-1].cursor
    return events


async def test_what_was_shown_is_safe_from_a_crash(queue, connections):
    hasty, looker, _ = connections
    await hasty.execute("set synchronous_commit = off")
    cursor = None
    for _ in range(20):
        await submit_within(queue, hasty)
        written = await looker.fetchval("select pg_current_wal_insert_lsn()")
        page = await queue.list_events(cursor)
        cursor = page[-1].cursor
        assert await looker.fetchval("select pg_current_wal_flush_lsn() >= $1::pg_lsn", written)


async def test_reading_in_a_transaction_of_ones_own_leaves_its_commit_as_it_was(queue, connections):
    reader, *_ = connections
    for chosen in ("on", "remote_write", "local"):
        await reader.execute(f"set synchronous_commit = {chosen}")
        await queue.submit_task(JOB)
        async with reader.transaction():
            await queue.bound_to(reader).list_events()
            assert await reader.fetchval("show synchronous_commit") == chosen


async def test_two_transactions_that_commit_in_reverse_order_are_both_shown_once(queue, connections):
    first, second, _ = connections
    cursor = await queue.watch_events()
    one, two = first.transaction(), second.transaction()
    await one.start()
    early = await submit_within(queue, first)
    await two.start()
    late = await submit_within(queue, second)
    await two.commit()
    events = await queue.list_events(cursor)
    assert tasks_of(events) == late
    await one.commit()
    rest = await queue.list_events(events[-1].cursor)
    assert tasks_of(rest) == early
    assert await queue.list_events(rest[-1].cursor) == []


async def test_a_transaction_that_writes_for_hours_delays_nobody(queue, connections):
    writer, *_ = connections
    cursor = await queue.watch_events()
    transaction = writer.transaction()
    await transaction.start()
    held = await submit_within(queue, writer)
    for _ in range(3):
        task = await queue.submit_task(JOB)
        events = await queue.list_events(cursor)
        assert tasks_of(events) == [task.task_id]
        cursor = events[-1].cursor
    await transaction.commit()
    assert tasks_of(await queue.list_events(cursor)) == held


async def test_a_rollback_shows_nothing(queue, connections):
    writer, *_ = connections
    cursor = await queue.watch_events()
    transaction = writer.transaction()
    await transaction.start()
    await submit_within(queue, writer)
    await transaction.rollback()
    assert await queue.list_events(cursor) == []


async def test_a_transaction_does_not_see_its_own_events_and_nobody_misses_them_later(queue, connections):
    writer, other, _ = connections
    cursor = await queue.watch_events()
    transaction = writer.transaction()
    await transaction.start()
    mine = await submit_within(queue, writer)
    # A later transaction makes the writer's number look finished to its own snapshot.
    theirs = await submit_within(queue, other)
    events = await queue.bound_to(writer).list_events(cursor)
    assert tasks_of(events) == theirs
    mine += await submit_within(queue, writer)
    await transaction.commit()
    assert tasks_of(await queue.list_events(events[-1].cursor)) == mine


async def test_small_pages_and_large_pages_tell_the_same(queue, connections):
    first, second, _ = connections
    cursor = await queue.watch_events()
    transaction = first.transaction()
    await transaction.start()
    await submit_within(queue, first, 5)
    await submit_within(queue, second, 5)
    position = (await queue.list_events(cursor, page_size=2))[-1].cursor
    await transaction.commit()
    await submit_within(queue, second, 5)
    rest = await read_all(queue, position)
    assert len(rest) == 13
    assert tasks_of(await read_all(queue, position, page_size=1)) == tasks_of(rest)
    assert tasks_of(await read_all(queue, position, page_size=3)) == tasks_of(rest)


async def test_a_crowd_that_commits_in_any_order_is_told_of_exactly_once(queue, database_url):
    chance = random.Random(4)
    cursor: str | None = await queue.watch_events()
    submitted: Counter[int] = Counter()

    async def write() -> None:
        connection = await asyncpg.connect(database_url)
        for _ in range(12):
            transaction = connection.transaction()
            await transaction.start()
            tasks = await submit_within(queue, connection, chance.randint(1, 4))
            await asyncio.sleep(chance.random() / 100)
            if chance.random() < 0.2:
                await transaction.rollback()
            else:
                await transaction.commit()
                submitted.update(tasks)
        await connection.close()

    writers = asyncio.gather(*(write() for _ in range(8)))
    told: Counter[int | None] = Counter()
    transactions: list[str] = []
    while True:
        is_over = writers.done()
        page = await queue.list_events(cursor, page_size=3)
        told.update(tasks_of(page))
        transactions += [event.txid for event in page]
        cursor = page[-1].cursor if page else cursor
        if is_over and not page:
            break
    await writers
    assert told == submitted
    changes = sum(here != there for here, there in zip(transactions, transactions[1:], strict=False))
    assert changes + 1 == len(set(transactions)), "the events of a transaction come together"


async def test_filters_do_not_skip_what_they_do_not_show(queue):
    await queue.register_job("@global", "tests", "Other", events="full")
    cursor = await queue.watch_events()
    other = await queue.submit_task("@global:tests:Other", room="lab")
    task = await queue.submit_task(JOB)
    assert tasks_of(await queue.list_events(cursor, of_job=JOB)) == [task.task_id]
    assert tasks_of(await queue.list_events(cursor, of_room="lab")) == [other.task_id]
    assert tasks_of(await queue.list_events(cursor, of_task=other.task_id)) == [other.task_id]


@pytest.mark.parametrize(
    "cursor", ["x", "7", "3:2:", "3:3:/3:3:", "3:3:/3:3:/1", "3:3:/3:3:/a-b", "0-1", "3:3:/" * 3]
)
async def test_a_cursor_that_nobody_gave_out_is_refused(queue, cursor):
    with pytest.raises(InvalidArgument):
        await queue.list_events(cursor)


async def test_a_cursor_outlives_the_events_it_points_to(queue, connections):
    await queue.submit_task(JOB)
    cursor = (await read_all(queue, None))[-1].cursor
    await connections[0].execute("update pgjobs.test_clock set shift = '30 days'")
    await queue.sweep("retention")
    assert await queue.list_events() == []
    task = await queue.submit_task(JOB)
    assert tasks_of(await queue.list_events(cursor)) == [task.task_id]


async def test_the_next_event_is_announced_to_whoever_asked_and_no_other(queue, connections):
    listener, writer, _ = connections
    heard: list[str] = []
    await listener.add_listener("pgjobs.events", lambda *message: heard.append(message[-1]))

    async def submit_many() -> None:
        async with writer.transaction():
            for _ in range(5):
                await submit_within(queue, writer)
        # Notifications come in order of commit, so this one is the last.
        await writer.execute("""notify "pgjobs.events", 'end'""")
        await eventually(lambda: "end" in heard)

    await submit_many()
    assert heard == ["end"]
    heard.clear()
    await queue.watch_events()
    await submit_many()
    assert heard == ["", "end"]
    heard.clear()
    await submit_many()
    assert heard == ["end"]
