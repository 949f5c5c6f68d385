"""Behind PgBouncer in transaction mode: every transaction may run on another server connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import asyncpg
import pytest

from pgjobs import sync
from pgjobs.errors import JobNotFound, LeaseLost
from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue as Queue
from tests.postgres.pooler import find_pgbouncer, pgbouncer

pytestmark = pytest.mark.skipif(
    find_pgbouncer() is None, reason="pgbouncer is not installed (apt install pgbouncer)"
)

JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)
SERVER_CONNECTIONS = 3
NEVER = 3600.0


@pytest.fixture
def pooled_url(database_url: str) -> Iterator[str]:
    with pgbouncer(database_url, pool_size=SERVER_CONNECTIONS) as url:
        yield url


@pytest.fixture
async def queue(pooled_url: str, database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(pooled_url, is_pooled=True, listen_url=database_url, max_size=20) as queue:
        await queue.register_job("@global", "tests", "Echo", max_attempts=3)
        yield queue
        assert {rule.violations for rule in await queue.check()} == {0}


async def claim(queue: Queue, quantity: int = 1) -> list[Lease]:
    return await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=quantity)


async def server_connections(database_url: str) -> int:
    connection = await asyncpg.connect(database_url)
    count = await connection.fetchval(
        """
        select count(*) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        """
    )
    await connection.close()
    return int(count)


def test_a_synchronous_queue_works_through_the_pooler(pooled_url, queue, monkeypatch):
    """Psycopg prepares what it has run five times; the next one may meet another server connection."""
    monkeypatch.setenv("PGJOBS_POOLED", "true")

    def work(_: int) -> int:
        with sync.Queue.connect(pooled_url, max_size=1) as blocking:
            for _ in range(12):
                blocking.submit_task(JOB)
                [lease] = blocking.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
                blocking.complete_task(lease)
        return 12

    with ThreadPoolExecutor(4) as crowd:
        assert sum(crowd.map(work, range(8))) == 96


async def test_a_task_lives_its_whole_life_through_the_pooler(queue):
    worker = await queue.register_worker("night shift", jobs=[JOB])
    await queue.submit_tasks(JOB, [{"n": n} for n in range(3)])
    done, failed, released = await queue.claim_tasks(worker.id, quantity=3, lease=MINUTE)
    await queue.start_task(done)
    await queue.report_progress([done], [{"done": 0.5}])
    await queue.renew_task(done, 2 * MINUTE)
    assert (await queue.complete_task(done, {"ok": True})).status == "completed"
    assert (await queue.fail_task(failed, "no route to host")).status == "pending"
    assert (await queue.release_task(released)).status == "pending"
    assert (await queue.get_task(done.task_id)).result == {"ok": True}
    await queue.heartbeat_worker(worker.id)
    assert {swept.error for swept in await queue.sweep()} == {None}
    assert (await queue.retire_worker(worker.id)).failed == 0


async def test_one_verb_many_times_needs_no_statement_that_outlives_its_transaction(queue):
    for n in range(20):
        await queue.submit_task(JOB, {"n": n})
        (lease,) = await claim(queue)
        assert lease.payload == {"n": n}
        await queue.complete_task(lease)


async def test_twenty_workers_share_three_server_connections(queue, database_url):
    await queue.submit_tasks(JOB, [{"n": n} for n in range(400)])
    done: list[int] = []

    async def work() -> None:
        while leases := await claim(queue, 5):
            await asyncio.gather(*(queue.start_task(lease) for lease in leases))
            done.extend(item.task_id for item in await queue.complete_tasks(leases))

    await asyncio.gather(*(work() for _ in range(20)))
    assert len(done) == len(set(done)) == 400
    assert await server_connections(database_url) <= SERVER_CONNECTIONS


async def test_refusals_come_through_and_leave_the_connection_usable(queue):
    for _ in range(2 * SERVER_CONNECTIONS):
        with pytest.raises(JobNotFound):
            await queue.submit_task("@global:tests:None")
    assert (await queue.submit_task(JOB)).is_new


async def test_a_callers_transaction_holds_through_the_pooler(queue, pooled_url):
    connection = await asyncpg.connect(pooled_url, statement_cache_size=0)
    async with connection.transaction():
        kept = await queue.bound_to(connection).submit_task(JOB, {"kept": True})
        assert await queue.list_tasks(room="@global") == []
    transaction = connection.transaction()
    await transaction.start()
    await queue.bound_to(connection).submit_task(JOB, {"kept": False})
    await transaction.rollback()
    (lease,) = await claim(queue)
    assert (lease.task_id, lease.payload) == (kept.task_id, {"kept": True})
    async with connection.transaction():
        await queue.bound_to(connection).complete_task(lease)
    with pytest.raises(LeaseLost):
        await queue.fail_task(lease, "too late")
    await connection.close()


async def test_whoever_waits_is_woken_over_the_direct_connection(queue):
    task = await queue.submit_task(JOB)
    (lease,) = await claim(queue)
    waiting = asyncio.create_task(queue.wait_for(task.task_id, poll=NEVER))
    await queue.complete_task(lease, {"n": 1})
    assert (await asyncio.wait_for(waiting, 30)).result == {"n": 1}


async def test_an_idle_worker_is_woken_over_the_direct_connection(queue):
    heard: asyncio.Queue[str] = asyncio.Queue()
    await queue.driver.listen("wake", heard.put_nowait)
    assert await asyncio.wait_for(heard.get(), 30) == ""
    mark = (await queue.mark_waiting(in_room="@global")).mark
    await queue.submit_task(JOB)
    assert await asyncio.wait_for(heard.get(), 30) == str(mark)


async def test_without_a_direct_connection_whoever_waits_looks_again(queue, pooled_url):
    await queue.submit_task(JOB)
    (lease,) = await claim(queue)
    async with await Queue.connect(pooled_url, is_pooled=True) as deaf:
        waiting = asyncio.create_task(deaf.wait_for(lease.task_id, poll=0.01))
        await queue.complete_task(lease)
        assert (await asyncio.wait_for(waiting, 30)).status == "completed"


async def test_strangers_who_share_a_session_share_its_floors_without_harm(pooled_url, database_url):
    """Floors live in session settings; behind a pooler they describe the data to whoever comes next."""
    with pgbouncer(database_url, pool_size=1) as narrow_url:
        async with (
            await Queue.connect(narrow_url, is_pooled=True) as one,
            await Queue.connect(narrow_url, is_pooled=True) as other,
        ):
            await one.register_job("@global", "tests", "Echo")
            await one.submit_tasks(JOB, [{"n": n} for n in range(30)])
            leases = [lease for n in range(30) for lease in await claim(one if n % 2 else other)]
            assert [lease.payload["n"] for lease in leases] == list(range(30))
            await other.release_task(leases[3])
            (again,) = await claim(one)
            assert again.task_id == leases[3].task_id


async def test_the_schema_can_be_checked_through_the_pooler(queue):
    await queue.driver.require_current()
