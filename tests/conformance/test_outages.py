"""An outage is not the task's fault."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Failed
from tests.conformance.homes import Clock

HOLDER: dict[str, Any] = {"holder": "me", "lease": timedelta(minutes=5), "in_room": "@global"}
WHILE = timedelta(seconds=76)
"""Longer than the longest wait after an outage, jitter included."""
JITTER = 1.25


async def struck(queue: Queue, kind: str = "outage", *, retryable: bool = True) -> Failed:
    """Claims the one task and fails it."""
    (lease,) = await queue.claim_tasks(**HOLDER)
    return await queue.fail_task(lease, "too many connections", kind=kind, retryable=retryable)


async def test_an_outage_uses_up_no_attempt_and_is_shown_as_such(queue: Queue, clock: Clock, job: str):
    task = await queue.submit_task(job, max_attempts=1)
    for _ in range(3):
        assert (await struck(queue)).status == "pending"
        seen = await queue.get_task(task.task_id)
        assert (seen.phase, seen.attempt, seen.error_kind) == ("retrying", 0, "outage")
        await clock.advance(WHILE)
    kinds = [attempt.error_kind for attempt in await queue.list_attempts(task.task_id)]
    assert kinds == ["outage"] * 3
    (lease,) = await queue.claim_tasks(**HOLDER)
    assert lease.attempt == 1
    await queue.complete_task(lease)


async def test_waits_between_outages_grow_up_to_a_minute(queue: Queue, clock: Clock, job: str):
    await queue.submit_task(job, max_attempts=1)
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        now = clock.now()
        run_at = (await struck(queue)).run_at
        assert run_at is not None
        assert seconds <= (run_at - now).total_seconds() <= seconds * JITTER + 0.5
        await clock.advance(WHILE)


async def test_after_too_many_in_a_row_an_outage_counts_as_any_error(queue: Queue, clock: Clock, job: str):
    await queue.submit_task(job, max_attempts=2)
    for _ in range(100):
        assert (await struck(queue)).status == "pending"
        await clock.advance(WHILE)
    assert (await struck(queue)).status == "pending", "the first attempt is used up"
    await clock.advance(WHILE)
    assert (await struck(queue)).status == "failed"


async def test_any_other_error_in_between_begins_the_count_anew(queue: Queue, clock: Clock, job: str):
    task = await queue.submit_task(job, max_attempts=3)
    for _ in range(60):
        await struck(queue)
        await clock.advance(WHILE)
    await struck(queue, "ValueError")
    await clock.advance(WHILE)
    for _ in range(60):
        await struck(queue)
        await clock.advance(WHILE)
    assert (await queue.get_task(task.task_id)).attempt == 1


async def test_what_must_not_be_retried_is_not_after_an_outage_either(queue: Queue, job: str):
    await queue.submit_task(job, max_attempts=3)
    assert (await struck(queue, retryable=False)).status == "failed"


async def test_a_policy_for_outages_says_how_long_to_wait(queue: Queue, clock: Clock, job: str):
    await queue.set_error_policy(
        job, "outage", backoff_base=timedelta(seconds=7), backoff_cap=timedelta(seconds=7), jitter_share=0.0
    )
    await queue.submit_task(job, max_attempts=1)
    now = clock.now()
    run_at = (await struck(queue)).run_at
    assert run_at is not None
    assert 7 <= (run_at - now).total_seconds() <= 7.5


async def test_a_cancelled_task_does_not_come_back_after_an_outage(queue: Queue, job: str):
    task = await queue.submit_task(job)
    (lease,) = await queue.claim_tasks(**HOLDER)
    await queue.cancel_task(task.task_id)
    assert (await queue.fail_task(lease, "cut off", kind="outage")).status == "cancelled"
