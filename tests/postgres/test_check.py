"""`check` finds what is broken: each rule is broken by hand and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from pgjobs.queue.queue import Queue

JOB = "@global:tests:Work"
MINUTE = timedelta(minutes=1)
# What would have to go wrong: guards and keys keep it from happening, so they are switched off.
BREAKS = {
    "a task is in exactly one place": "delete from pgjobs.ready where task_id = {waiting}",
    "every place holds a task of its job": "update pgjobs.leases set job_id = 999",
    "every task has a job": "update pgjobs.tasks set job_id = 999 where id = {waiting}",
    "attempts stay within their limit": "update pgjobs.leases set attempt = 99",
    "outcomes stay within the limit of attempts": "update pgjobs.outcomes set attempt = 99",
    "a task waits in its own lane": "update pgjobs.tasks set created_at = 'epoch' where id = {waiting}",
    "history belongs to a task": "update pgjobs.attempts set task_id = 999",
    "a token is issued once": "update pgjobs.leases set token = (select token from pgjobs.outcomes limit 1)",
    "a lane is known before it is used": "delete from pgjobs.lanes",
    "an idempotency key leads to its task": "update pgjobs.idempotency_keys set key = 'another'",
    "a task is found by its idempotency key": "delete from pgjobs.idempotency_keys",
}


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "tests", "Work", max_attempts=3)
        yield queue


async def fill(queue: Queue) -> int:
    """A task in every place; the number of the one in line."""
    for _ in range(3):
        await queue.submit_task(JOB)
    done, failed, _ = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=3)
    await queue.complete_task(done)
    await queue.fail_task(failed, "broken")
    await queue.submit_task(JOB, delay=MINUTE)
    return (await queue.submit_task(JOB, idempotency_key="once")).task_id


async def test_a_sound_queue_breaks_no_rule(queue):
    await fill(queue)
    assert {rule.rule for rule in await queue.check()} == set(BREAKS)
    assert {rule.violations for rule in await queue.check()} == {0}


@pytest.mark.parametrize("rule", BREAKS)
async def test_a_broken_rule_is_counted(queue, database_url, rule):
    waiting = await fill(queue)
    vandal: asyncpg.Connection[Any] = await asyncpg.connect(database_url)
    await vandal.execute("set session_replication_role = replica")
    await vandal.execute(BREAKS[rule].format(waiting=waiting))
    await vandal.close()
    assert rule in {broken.rule for broken in await queue.check() if broken.violations}
