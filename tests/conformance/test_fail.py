"""Failing: what is kept of an attempt that went wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidTransition
from tests.conformance.stages import MINUTE, claim, claim_all, claimed, running


async def fail_once(queue, clock, job, **options):
    """The next attempt of the only task, failed; the clock stands after its backoff."""
    lease = await claim(queue, job)
    answer = await queue.fail_task(lease, options.pop("error", "broken"), **options)
    if answer.run_at is not None:
        await clock.advance(answer.run_at - clock.now() + timedelta(seconds=1))
    return answer


@pytest.mark.parametrize("stage", [claimed, running])
async def test_a_failed_attempt_waits_for_another(queue, job, stage):
    task = await stage(queue, job)
    answer = await queue.fail_task(task.held, "no route to host", kind="network")
    after = await queue.get_task(task.id)
    assert (answer.status, answer.run_at) == ("pending", after.due_at)
    assert (after.status, after.phase, after.attempt, after.is_ended) == ("pending", "retrying", 1, False)
    assert (after.error, after.error_kind) == ("no route to host", "network")
    assert (after.worker_id, after.holder, after.until, after.started_at) == (None,) * 4


@pytest.mark.parametrize("kind", ["auth", "config"])
async def test_errors_that_need_a_person_show_as_blocked(queue, job, kind):
    task = await running(queue, job)
    await queue.fail_task(task.held, "no access", kind=kind)
    assert (await queue.get_task(task.id)).phase == "blocked"


@pytest.mark.parametrize("attempts", [1, 2, 3, 5])
async def test_a_task_fails_for_good_when_its_attempts_are_used_up(queue, clock, job, attempts):
    submitted = (await queue.submit_task(job, max_attempts=attempts)).task_id
    for attempt in range(1, attempts):
        assert (await fail_once(queue, clock, job)).status == "pending"
        assert (await queue.get_task(submitted)).attempt == attempt
    last = await fail_once(queue, clock, job, error="the last straw", kind="io")
    assert (last.status, last.run_at) == ("failed", None)
    task = await queue.get_task(submitted)
    assert (task.status, task.phase, task.attempt, task.is_ended) == ("failed", None, attempts, True)
    assert (task.error, task.error_kind, task.result) == ("the last straw", "io", None)
    await clock.advance(days=1)
    assert await claim_all(queue, job) == []


async def test_a_job_allows_one_attempt_unless_it_says_otherwise(queue, clock):
    await queue.register_job("@global", "tests", "Once")
    await queue.submit_task("@global:tests:Once")
    assert (await fail_once(queue, clock, "@global:tests:Once")).status == "failed"


async def test_an_error_that_is_not_retryable_fails_the_task_at_once(queue, job):
    task = await running(queue, job)
    answer = await queue.fail_task(task.held, "bad request", retryable=False)
    assert (answer.status, answer.run_at) == ("failed", None)
    after = await queue.get_task(task.id)
    assert (after.status, after.attempt, after.error) == ("failed", 1, "bad request")


async def test_every_failed_attempt_is_kept(queue, clock, job, worker):
    submitted = (await queue.submit_task(job)).task_id
    for number in (1, 2, 3):
        lease = (await queue.claim_tasks(worker.id, start=number > 1, lease=MINUTE))[0]
        assert lease.attempt == number
        await queue.fail_task(lease, f"error {number}", kind=f"kind {number}")
        await clock.advance(minutes=1)
    attempts = await queue.list_attempts(submitted)
    assert [(attempt.attempt, attempt.status, attempt.error, attempt.error_kind) for attempt in attempts] == [
        (number, "failed", f"error {number}", f"kind {number}") for number in (1, 2, 3)
    ]
    assert {attempt.worker_id for attempt in attempts} == {worker.id}
    assert [attempt.started_at is not None for attempt in attempts] == [False, True, True]
    assert all(attempt.claimed_at <= attempt.ended_at for attempt in attempts)
    assert attempts[0].ended_at < attempts[1].claimed_at


async def test_a_task_that_never_ended_an_attempt_has_no_history(queue, job):
    task = await claimed(queue, job)
    assert await queue.list_attempts(task.id) == []


async def test_attempts_name_a_holder_that_is_not_registered(queue, job):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken")
    assert [(attempt.holder, attempt.worker_id) for attempt in await queue.list_attempts(task.id)] == [
        ("somebody", None)
    ]


@pytest.mark.parametrize("retryable", [True, False])
async def test_failing_again_gets_the_same_answer(queue, job, retryable, nothing_changes):
    task = await running(queue, job)
    first = await queue.fail_task(task.held, "broken", retryable=retryable)
    async with nothing_changes():
        assert await queue.fail_task(task.held, "broken again") == first
    assert [attempt.error for attempt in await queue.list_attempts(task.id)] == ["broken"]


async def test_an_error_text_is_bounded(queue, job):
    task = await running(queue, job)
    await queue.fail_task(task.held, "x" * 100_000, retryable=False)
    error = (await queue.get_task(task.id)).error
    assert error == "x" * len(error)
    assert 500 <= len(error) <= 8000


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("GET https://ada:secret@example.org/x failed", "GET https://example.org/x failed"),
        ("postgresql://u:p@db/a and redis://:p@cache/0", "postgresql://db/a and redis://cache/0"),
        ("mail ada@example.org about it", "mail ada@example.org about it"),
        ("see https://example.org/@ada", "see https://example.org/@ada"),
    ],
)
@pytest.mark.parametrize("retryable", [True, False])
async def test_credentials_are_stripped_from_errors(queue, job, told, kept, retryable):
    task = await running(queue, job)
    await queue.fail_task(task.held, told, retryable=retryable)
    assert (await queue.get_task(task.id)).error == kept
    assert [attempt.error for attempt in await queue.list_attempts(task.id)] == [kept]


async def test_a_failed_task_keeps_its_payload(queue, job):
    submitted = (await queue.submit_task(job, {"angle": 90}, max_attempts=1)).task_id
    await queue.fail_task(await claim(queue, job), "broken")
    assert (await queue.get_task(submitted)).payload == {"angle": 90}


async def test_a_failed_task_cannot_be_cancelled(queue, job, nothing_changes):
    task = await running(queue, job)
    await queue.fail_task(task.held, "broken", retryable=False)
    async with nothing_changes():
        with pytest.raises(InvalidTransition, match="failed"):
            await queue.cancel_task(task.id)


async def test_an_operator_gives_a_failed_task_all_its_attempts_again(queue, clock, job):
    submitted = (await queue.submit_task(job, max_attempts=2)).task_id
    for _ in range(2):
        await fail_once(queue, clock, job)
    await queue.retry_task(submitted)
    assert (await queue.get_task(submitted)).attempt == 0
    assert (await fail_once(queue, clock, job)).status == "pending"
    assert (await fail_once(queue, clock, job)).status == "failed"
    assert [attempt.attempt for attempt in await queue.list_attempts(submitted)] == [1, 2, 3, 4]
