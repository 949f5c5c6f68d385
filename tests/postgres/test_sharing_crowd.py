"""Many claimers at once: a trigger of the test's own refuses what exceeds a limit, so nothing is left to sampling."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from typing import Any

import asyncpg
import pytest

from pgjobs import Queue
from tests.postgres.stage import JOB
from tests.postgres.test_sharing import take

CLAIMERS = int(os.environ.get("PGJOBS_TEST_CLAIMERS", "6"))
TASKS = int(os.environ.get("PGJOBS_TEST_TASKS", "400"))
KEYS = int(os.environ.get("PGJOBS_TEST_KEYS", "12"))

# At commit, one transaction of a key after the other, so that none overlooks another's lease.
GUARD = """
create function public.refuse_excess() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(42, hashtext(new.key));
  if (select count(*) from pgjobs.leases as l where l.job_id = new.job_id and l.key = new.key) > {limit} then
    raise exception 'too many tasks of key %', new.key;
  end if;
  return null;
end
$$;
create constraint trigger no_excess after insert on pgjobs.leases deferrable initially deferred
for each row execute function public.refuse_excess();
"""


async def guard(url: str, limit: int) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(GUARD.format(limit=limit))
    await connection.close()


async def fill(queue: Queue) -> None:
    for start in range(0, TASKS, 5000):
        keys = [f"key {number % KEYS}" for number in range(start, min(start + 5000, TASKS))]
        await queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys, max_attempts=50)


async def work(url: str, seed: int, left: Counter[str]) -> None:
    """Claims and ends tasks in every way, until all are completed."""
    dice = random.Random(seed)
    async with await Queue.connect(url) as queue:
        while left["tasks"] > 0:
            leases = await take(queue, dice.randint(1, 5))
            if not leases:
                await asyncio.sleep(0.01)
            for lease in leases:
                chance = dice.random()
                if chance < 0.8:
                    await queue.complete_task(lease)
                    left["tasks"] -= 1
                elif chance < 0.9:
                    await queue.release_task(lease)
                elif chance < 0.95:
                    await queue.cancel_task(lease.task_id, force=True)
                    left["tasks"] -= 1
                else:
                    await queue.fail_task(lease, "broken", retryable=False)
                    left["tasks"] -= 1


@pytest.mark.parametrize(
    "options", [{"max_running_per_key": 2}, {"max_running_per_key": 1, "fair": True}, {"ordered": True}]
)
async def test_no_limit_is_exceeded_and_nothing_is_left_over(database_url, queue, options):
    await queue.limit_job(JOB, **options)
    await guard(database_url, options.get("max_running_per_key", 1))
    await fill(queue)
    left = Counter(tasks=TASKS)
    async with asyncio.timeout(600):
        await asyncio.gather(*(work(database_url, seed, left) for seed in range(CLAIMERS)))
    assert await take(queue) == []
    assert await queue.list_tasks(status="pending") == []


async def test_the_guard_of_these_tests_notices_an_excess(database_url, queue):
    await queue.limit_job(JOB, max_running_per_key=2)
    await guard(database_url, 1)
    await queue.submit_tasks(JOB, [{"key": "a"}] * 2, keys=["a", "a"])
    with pytest.raises(Exception, match="too many tasks of key a"):
        await take(queue)


async def test_claimers_that_are_killed_leave_no_slot_behind(stage, database_url, queue):
    """Their connections are cut in the middle of claims and before their ends."""
    await queue.limit_job(JOB, max_running_per_key=2)
    await guard(database_url, 2)
    keys = [f"key {number % 4}" for number in range(40)]
    await queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys, max_attempts=50)

    async def killed(seed: int) -> None:
        connection = await asyncpg.connect(database_url)
        claim = asyncio.ensure_future(take(queue.bound_to(connection), 8))
        await asyncio.sleep(random.Random(seed).random() * 0.05)
        connection.terminate()
        await asyncio.gather(claim, return_exceptions=True)

    for round_ in range(3):
        await asyncio.gather(*(killed(round_ * 10 + number) for number in range(4)))
    await stage.settle()
    await stage.advance(minutes=2)
    await queue.sweep("leases")
    await stage.advance(hours=1)
    taken: list[Any] = await take(queue)
    assert Counter(lease.payload["key"] for lease in taken) == {f"key {number}": 2 for number in range(4)}


async def test_no_slot_stays_unused_while_a_task_waits_for_it(database_url, queue):
    """Whoever polls finds it: with as many claimers as slots, each round hands out all of them."""
    await queue.limit_job(JOB, max_running_per_key=1)
    keys = [f"key {number % 8}" for number in range(40)]
    await queue.submit_tasks(JOB, [{"key": key} for key in keys], keys=keys)
    async with await Queue.connect(database_url) as other:
        for _ in range(5):
            taken = [
                lease
                for batch in await asyncio.gather(*(take(other, 1) for _ in range(8)))
                for lease in batch
            ]
            taken += [lease for _ in range(8 - len(taken)) for lease in await take(other, 1)]
            assert len({lease.payload["key"] for lease in taken}) == len(taken) == 8
            await other.complete_tasks(taken)
