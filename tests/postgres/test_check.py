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
    "a suspended task waits for something": "update pgjobs.scheduled set blocked_by = null",
    "no task waits for a signal that was sent": (
        "insert into pgjobs.signals (task_id, name, payload, sent_at)"
        " select task_id, signal, '1', now() from pgjobs.scheduled where waits_for = 'signal'"
    ),
    "no task is blocked that could run": "delete from pgjobs.dependencies; delete from pgjobs.rechecks",
    "steps, signals, log lines and dependencies belong to a task": "update pgjobs.steps set task_id = 999",
    "a workflow has tasks": "delete from pgjobs.workflow_tasks",
    "a key that may run a task has a turn": "delete from pgjobs.key_turns",
    "a job that shares has a policy": "update pgjobs.jobs set is_shared = false",
    "a task waits under its own key": "update pgjobs.tasks set key = 'another' where key is not null",
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
    await queue.submit_workflow("pair", [{"job": JOB, "name": "a"}, {"job": JOB, "after": ["a"]}])
    listener = await queue.submit_task(JOB, priority=1)
    (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    while lease.task_id != listener.task_id:
        (lease,) = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
    await queue.register_job("@global", "tests", "Share")
    await queue.limit_job("@global:tests:Share", max_running_per_key=1)
    await queue.submit_tasks("@global:tests:Share", [{}], keys=["acme"])
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
