"""Which jobs of the generic manager a bulk verb chooses: those that fit, however many that do not come first."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.queue.queue import Queue

JOB = "chatbooks:default:export"
HOUR = timedelta(hours=1)


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("chatbooks", "default", "export", max_attempts=2, keep=True)
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
async def connection(database_url: str):
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def advance(connection: asyncpg.Connection, **parts: float) -> None:
    await connection.execute("update pgjobs.test_clock set shift = shift + $1", timedelta(**parts))


async def submitted(queue: Queue, quantity: int) -> list[int]:
    return [task.task_id for task in await queue.submit_tasks(JOB, [{}] * quantity)]


async def claimed(queue: Queue, quantity: int = 1):
    return await queue.claim_tasks(holder="w", lease=HOUR, in_room="chatbooks", quantity=quantity)


async def ids(connection: asyncpg.Connection, call: str) -> list[int]:
    return [row["task_id"] for row in await connection.fetch(f"select task_id from pgjobs.{call}")]


async def test_a_job_that_is_named_is_retried_though_others_failed_before_it(queue, connection):
    await submitted(queue, 3)
    leases = await claimed(queue, 3)
    await queue.fail_tasks(leases, ["broken"] * 3, retryable=[False] * 3)
    last = leases[-1].task_id
    call = f"retry_generic_jobs('failed', 'chatbooks', task_ids => array[{last}], most => 1)"
    assert await ids(connection, call) == [last]


async def test_a_job_that_backs_off_is_retried_though_others_wait_before_it(queue, connection):
    first, second = await submitted(queue, 2)
    [one, two] = await claimed(queue, 2)
    await queue.fail_tasks([two], ["busy"])
    await queue.release_tasks([one])
    assert await ids(connection, "retry_generic_jobs('queued', 'chatbooks', most => 1)") == [second]
    assert first != second


async def test_a_job_that_runs_too_long_is_ended_though_younger_leases_have_smaller_numbers(
    queue, connection
):
    first, second = await submitted(queue, 2)
    [one, _two] = await claimed(queue, 2)
    await queue.release_tasks([one])
    await advance(connection, minutes=30)
    assert [lease.task_id for lease in await claimed(queue)] == [first]
    call = "expire_generic_jobs('chatbooks', runtime => '20 min', most => 1)"
    assert await ids(connection, call) == [second]


async def test_a_job_that_may_be_moved_is_moved_though_blocked_ones_come_first(queue, connection):
    [parent] = await submitted(queue, 1)
    await claimed(queue)
    blocked = await queue.submit_task(JOB, {}, after=[parent])
    [free] = await submitted(queue, 1)
    call = "reschedule_generic_jobs('chatbooks', shift => '1 hour', most => 1)"
    assert await ids(connection, call) == [free]
    assert (await queue.get_task(blocked.task_id)).status == "pending"


@pytest.mark.parametrize(
    "call",
    [
        "expire_generic_jobs('chatbooks', age => '1 s', action => null)",
        "retry_generic_jobs(null, 'chatbooks')",
        "control_queue(null, 'default', 'pause')",
        "control_queue('chatbooks', null, 'pause')",
        "find_generic_jobs('chatbooks', sort_by => null)",
        "find_generic_jobs('chatbooks', sort_order => null)",
    ],
)
async def test_a_choice_of_none_is_refused(queue, connection, call: str):
    await submitted(queue, 1)
    await advance(connection, minutes=1)
    with pytest.raises(asyncpg.PostgresError) as refusal:
        await connection.fetch(f"select * from pgjobs.{call}")
    assert refusal.value.sqlstate == "PJ014"
    assert (await queue.list_tasks(status="pending", page_size=5))[0].status == "pending"
