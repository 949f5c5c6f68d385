"""NOTIFY as a wake-up: for those who wait, when something was committed, also after the connection broke."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.drivers.postgres.listener import Listener
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease

Connection: TypeAlias = "asyncpg.Connection[Any]"
JOB, OTHER_JOB = "@global:tests:Echo", "@global:tests:Other"
MINUTE = timedelta(minutes=1)


class Heard:
    """Notifications in the order they came; whoever waits for one waits long enough."""

    def __init__(self) -> None:
        self._payloads: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, payload: str) -> None:
        self._payloads.put_nowait(payload)

    async def next(self) -> str:
        async with asyncio.timeout(30):
            return await self._payloads.get()

    async def until(self, payload: str) -> list[str]:
        heard = [await self.next()]
        while heard[-1] != payload:
            heard.append(await self.next())
        return heard


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url, max_size=3) as queue:
        await queue.register_job("@global", "tests", "Echo", max_attempts=2)
        await queue.register_job("@global", "tests", "Other")
        yield queue


@pytest.fixture
async def psql(database_url: str, queue: Queue) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def wakes(queue: Queue) -> Heard:
    """What a worker hears; first of all that it may have missed something until now."""
    heard = Heard()
    await queue.driver.listen("wake", heard)
    assert await heard.next() == ""
    return heard


@pytest.fixture
async def silence(psql: Connection, wakes: Heard) -> Callable[[], Awaitable[None]]:
    """Asserts that nothing was sent so far: notifications come in the order of commits."""

    async def nothing_but_the_last() -> None:
        await psql.execute("notify \"pgjobs.wake\", 'the last'")
        assert await wakes.until("the last") == ["the last"]

    return nothing_but_the_last


async def claim(queue: Queue) -> Lease:
    (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    return lease


async def marks(psql: Connection) -> list[int]:
    return [row["id"] for row in await psql.fetch("select id from pgjobs.waiting_marks order by id")]


async def test_a_submit_wakes_an_idle_worker_and_takes_its_mark(queue, psql, wakes):
    mark = (await queue.mark_waiting(in_room="@global")).mark
    assert await marks(psql) == [mark]
    await queue.submit_task(JOB)
    assert await wakes.next() == str(mark)
    assert await marks(psql) == []


async def test_nobody_is_notified_while_nobody_waits(queue, silence):
    await queue.submit_tasks(JOB, [{}] * 3)
    await queue.complete_task(await claim(queue))
    await silence()


async def test_a_worker_hears_nothing_of_jobs_it_does_not_serve(queue, psql, silence):
    worker = await queue.register_worker(jobs=[OTHER_JOB])
    mark = (await queue.mark_waiting(worker.id)).mark
    await queue.submit_task(JOB)
    await silence()
    assert await marks(psql) == [mark]


async def test_one_task_wakes_one_worker_and_many_wake_as_many_as_wait(queue, psql, wakes):
    first, *others = [(await queue.mark_waiting(in_room="@global")).mark for _ in range(3)]
    await queue.submit_task(JOB)
    assert await wakes.next() == str(first)
    await queue.submit_tasks(JOB, [{}] * 10)
    assert sorted(map(int, (await wakes.next()).split(","))) == others
    assert await marks(psql) == []


async def test_a_submit_that_is_rolled_back_wakes_nobody_and_leaves_the_mark(queue, psql, wakes, silence):
    mark = (await queue.mark_waiting(in_room="@global")).mark
    transaction = psql.transaction()
    await transaction.start()
    await Queue(BoundDriver(psql)).submit_task(JOB)
    assert await marks(psql) == []
    await transaction.rollback()
    await silence()
    assert await marks(psql) == [mark]
    await queue.submit_task(JOB)
    assert await wakes.next() == str(mark)


async def test_a_session_that_found_nobody_waiting_finds_who_waits_later(queue, psql, wakes):
    submitter = Queue(BoundDriver(psql))
    for _ in range(3):
        await submitter.submit_task(JOB)
        mark = (await queue.mark_waiting(in_room="@global")).mark
        await submitter.submit_task(JOB)
        assert await wakes.next() == str(mark)


async def test_a_new_mark_takes_the_place_of_the_previous_one(queue, psql):
    first = await queue.mark_waiting(in_room="@global")
    second = await queue.mark_waiting(in_room="@global", previous=first.mark)
    assert await marks(psql) == [second.mark]


async def test_a_mark_tells_when_the_next_task_is_due(queue):
    assert (await queue.mark_waiting(in_room="@global")).next_due_at is None
    task = await queue.submit_task(JOB, delay=MINUTE)
    due_at = (await queue.get_task(task.task_id)).due_at
    assert (await queue.mark_waiting(in_room="@global")).next_due_at == due_at


async def fail_and_retry(queue: Queue, lease: Lease) -> None:
    await queue.fail_task(lease, "broken", retryable=False)
    await queue.retry_task(lease.task_id)


async def ignore_and_unignore(queue: Queue, lease: Lease) -> None:
    await queue.fail_task(lease, "broken", retryable=False)
    await queue.ignore_task(lease.task_id)
    await queue.unignore_task(lease.task_id)


COMES_BACK: dict[str, Callable[[Queue, Lease], Awaitable[Any]]] = {
    "release": lambda queue, lease: queue.release_task(lease),
    "retry": fail_and_retry,
    "unignore": ignore_and_unignore,
}


@pytest.mark.parametrize("step", COMES_BACK)
async def test_a_task_that_comes_back_wakes_as_a_new_one_does(queue, wakes, step):
    await queue.submit_task(JOB)
    lease = await claim(queue)
    mark = (await queue.mark_waiting(in_room="@global")).mark
    await COMES_BACK[step](queue, lease)
    assert await wakes.next() == str(mark)


async def test_a_task_that_becomes_due_wakes_when_the_sweep_finds_it(queue, psql, wakes, silence):
    await queue.submit_task(JOB, delay=MINUTE)
    mark = (await queue.mark_waiting(in_room="@global")).mark
    await silence()
    await psql.execute("update pgjobs.test_clock set shift = '2 minutes'")
    await queue.sweep("scheduled")
    assert await wakes.next() == str(mark)


async def test_who_stops_listening_hears_nothing_more(queue, psql, wakes):
    heard = Heard()
    stop = await queue.driver.listen("wake", heard)
    stop()
    await psql.execute("notify \"pgjobs.wake\", 'for others'")
    await wakes.until("for others")
    assert heard._payloads.empty()


async def test_a_subscriber_to_one_channel_does_not_disturb_those_of_another(queue, silence):
    for _ in range(3):
        stop = await queue.driver.listen("ended", Heard())
        stop()
    await silence()


async def test_whoever_subscribes_while_another_channel_is_set_up_is_not_told_too_early(database_url):
    opened, is_setting_up, listened = asyncio.Event(), asyncio.Event(), []

    class Slow(asyncpg.Connection):
        async def add_listener(self, channel: str, callback: Any) -> None:
            if channel == "pgjobs.first":
                is_setting_up.set()
                await opened.wait()
            await super().add_listener(channel, callback)
            listened.append(channel)

    listener = Listener(lambda: asyncpg.connect(database_url, connection_class=Slow), "pgjobs")
    first = asyncio.create_task(listener.subscribe("first", Heard()))
    await is_setting_up.wait()
    second = asyncio.create_task(listener.subscribe("second", Heard()))
    await asyncio.sleep(0)
    opened.set()
    await second
    assert "pgjobs.second" in listened
    await first
    await listener.close()


async def listeners_pid(queue: Queue) -> int:
    return int(queue.driver._listener._connection.get_server_pid())  # type: ignore[attr-defined]


async def test_a_listener_that_was_cut_off_comes_back_and_says_that_something_may_be_missed(
    queue, psql, wakes
):
    cut_off = await listeners_pid(queue)
    assert await psql.fetchval("select pg_terminate_backend($1)", cut_off)
    assert await wakes.next() == ""
    assert await listeners_pid(queue) != cut_off
    mark = (await queue.mark_waiting(in_room="@global")).mark
    await queue.submit_task(JOB)
    assert await wakes.next() == str(mark)


async def test_a_listener_survives_being_cut_off_again_and_again(queue, psql, wakes):
    for _ in range(3):
        await psql.execute("select pg_terminate_backend($1)", await listeners_pid(queue))
        assert await wakes.next() == ""
    await psql.execute("notify \"pgjobs.wake\", 'still here'")
    assert await wakes.until("still here") == ["still here"]


async def test_a_connection_that_fails_its_self_test_is_replaced(database_url):
    class Dead(asyncpg.Connection):
        async def execute(self, *_: Any, **__: Any) -> str:
            raise ConnectionResetError

    kinds, heard = iter([Dead, asyncpg.Connection]), Heard()
    listener = Listener(
        lambda: asyncpg.connect(database_url, connection_class=next(kinds)), "pgjobs", self_test_seconds=0.01
    )
    await listener.subscribe("wake", heard)
    assert [await heard.next(), await heard.next()] == ["", ""]
    assert type(listener._connection) is asyncpg.Connection
    await listener.close()


async def test_closing_a_queue_ends_its_listener(queue, psql, database_url):
    async with await Queue.connect(database_url, max_size=1) as other:
        await other.driver.listen("wake", Heard())
        pid = await listeners_pid(other)
    async with asyncio.timeout(30):
        while await psql.fetchval("select exists (select from pg_stat_activity where pid = $1)", pid):
            continue


@pytest.mark.parametrize("turns", range(4))
async def test_a_cancellation_is_not_lost_when_listening_begins_at_the_same_moment(turns):
    listener = Listener(asyncio.Event().wait, "pgjobs")
    subscribing = asyncio.create_task(listener.subscribe("wake", Heard()))
    for _ in range(3):
        await asyncio.sleep(0)
    listener._ready.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_waiting = subscribing.cancel()
    await asyncio.wait([subscribing])
    assert subscribing.cancelled() == was_waiting
    await listener.close()


async def test_a_listener_that_finds_no_primary_goes_on_looking(database_url):
    tries, heard = iter(range(3)), Heard()

    async def connect() -> Any:
        if next(tries) < 2:
            raise asyncpg.TargetServerAttributeNotMatched("None of the hosts match")
        return await asyncpg.connect(database_url)

    listener = Listener(connect, "pgjobs")
    await listener.subscribe("wake", heard)
    assert await heard.next() == ""
    assert listener.is_alive
    await listener.close()
