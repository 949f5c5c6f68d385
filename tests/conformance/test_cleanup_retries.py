"""Cleanup tasks that fail: how soon they are tried again, and when no more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.queue.records import CLEANUP_JOB
from tests.conformance.runs import (
    cleanup_of,
    fail,
    finish,
    kinds,
)

pytestmark = pytest.mark.postgres_only

TABLE = [
    ("network", 60, 6 * 3600, 30, "retrying"),
    ("http", 60, 6 * 3600, 30, "retrying"),
    ("io", 300, 6 * 3600, 60, "retrying"),
    ("unknown", 300, 6 * 3600, 60, "retrying"),
    ("auth", 6 * 3600, 24 * 3600, 600, "blocked"),
    ("config", 6 * 3600, 24 * 3600, 600, "blocked"),
]


@pytest.mark.parametrize(("kind", "base", "cap", "jitter", "shown_as"), TABLE)
async def test_each_kind_of_error_has_its_delays_and_twenty_abandon(
    queue, clock, kind, base, cap, jitter, shown_as
):
    # Age must not end it first.
    run = await cleanup_of(queue, clock)
    await queue.register_job(*CLEANUP_JOB.split(":", 2), max_age=timedelta(days=3650))
    extras = set()
    for attempt in range(1, 20):
        await fail(queue, kind)
        task = await queue.get_cleanup(run)
        assert (task.status, task.attempts, task.last_error_kind) == (shown_as, attempt, kind)
        delay = (task.next_attempt_at - task.updated_at).total_seconds()
        extra = delay - min(base * 2 ** (attempt - 1), cap)
        assert -0.01 <= extra <= jitter + 0.01
        extras.add(round(extra, 3))
        assert await queue.claim_cleanups("too early") == []
        await clock.advance(seconds=delay + 1)
        task = await queue.get_cleanup(run)
        assert (task.status, task.last_error) == (shown_as, "no route")
    await fail(queue, kind)
    task = await queue.get_cleanup(run)
    assert (task.status, task.attempts, task.next_attempt_at) == ("abandoned", 20, None)
    assert len(extras) > 10
    await clock.advance(days=3)
    assert await queue.claim_cleanups("cleaner") == []
    assert (await kinds(queue, run))[-2:] == ["attempt", "abandoned"]


async def test_jitter_is_the_same_for_the_same_attempt_of_the_same_run(queue, clock):
    run = await cleanup_of(queue, clock)
    delays = []
    for _ in range(2):
        await fail(queue)
        task = await queue.get_cleanup(run)
        delays.append(task.next_attempt_at - task.updated_at)
        await queue.retry_cleanup(run)
    assert abs(delays[0] - delays[1]) < timedelta(milliseconds=5)


async def test_thirty_days_abandon(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    await clock.advance(days=30)
    await fail(queue)
    task = await queue.get_cleanup(run)
    assert (task.status, task.attempts) == ("abandoned", 2)


async def test_a_cleaner_that_is_stuck_loses_its_lease_and_the_task_is_retried_soon(queue, clock):
    run = await cleanup_of(queue, clock)
    (stuck,) = await queue.claim_cleanups("stuck")
    await clock.advance(minutes=29)
    await queue.sweep("leases")
    assert (await queue.get_cleanup(run)).status == "running"
    await clock.advance(minutes=2)
    await queue.sweep("leases")
    task = await queue.get_cleanup(run)
    assert (task.status, task.last_error_kind) == ("retrying", "lease_expired")
    assert task.next_attempt_at - task.updated_at <= timedelta(seconds=90)
    await clock.advance(seconds=90)
    await finish(queue)
    with pytest.raises(Exception, match="lease"):
        await queue.complete_task(stuck.held, {"outcome": "deleted"})
