"""When the next attempt comes: base, doubling, cap, jitter, error kinds, age."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound
from tests.conformance.stages import claim, claim_all

NAME = "@global:tests:Backoff"


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


async def _delays(queue, clock, attempts, *, kind=None):
    """How long each of the first failed attempts of a new task makes it wait."""
    task_id = (await queue.submit_task(NAME, max_attempts=attempts + 1)).task_id
    delays = await _delays_of(queue, clock, task_id, attempts, kind)
    await queue.cancel_task(task_id)
    return delays


async def _delays_of(queue, clock, task_id, attempts, kind=None):
    delays = []
    for _ in range(attempts):
        answer = await queue.fail_task(await claim(queue, NAME), "broken", kind=kind)
        ended = (await queue.list_attempts(task_id))[-1].ended_at
        delays.append((answer.run_at - ended) / seconds(1))
        await clock.advance(answer.run_at - clock.now() + seconds(1))
    return delays


@pytest.mark.parametrize(
    ("base", "cap", "expected"),
    [
        (1, 3600, [1, 2, 4, 8, 16, 32]),
        (1, 10, [1, 2, 4, 8, 10, 10]),
        (60, 60, [60, 60, 60]),
        (0, 3600, [0, 0, 0]),
        (0.5, 3600, [0.5, 1, 2]),
        (21_600, 86_400, [21_600, 43_200, 86_400, 86_400]),
    ],
)
async def test_the_wait_doubles_up_to_a_cap(queue, clock, base, cap, expected):
    await queue.register_job(
        *NAME.split(":"), backoff_base=seconds(base), backoff_cap=seconds(cap), jitter_share=0.0
    )
    assert await _delays(queue, clock, len(expected)) == pytest.approx(expected, abs=0.002)


async def test_the_wait_is_a_second_at_first_unless_the_job_says_otherwise(queue, clock):
    await queue.register_job(*NAME.split(":"))
    job = await queue.get_job(NAME)
    assert (job.backoff_base, job.backoff_cap, job.jitter_cap) == (seconds(1), timedelta(hours=1), None)
    assert job.jitter_share == pytest.approx(0.25)
    delays = await _delays(queue, clock, 3)
    for delay, base in zip(delays, (1, 2, 4), strict=True):
        assert base - 0.002 <= delay <= base * 1.25 + 0.002


async def test_the_wait_stays_at_the_cap_however_many_attempts_there_were(queue, clock):
    await queue.register_job(
        *NAME.split(":"), backoff_base=seconds(1), backoff_cap=seconds(2), jitter_share=0.0
    )
    assert (await _delays(queue, clock, 70))[1:] == pytest.approx([2] * 69, abs=0.002)


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
async def test_jitter_adds_up_to_its_share(queue, clock, share):
    await queue.register_job(*NAME.split(":"), max_attempts=2, backoff_base=seconds(100), jitter_share=share)
    await queue.submit_tasks(NAME, [{}] * 40)
    leases = await claim_all(queue, NAME)
    answers = await queue.fail_tasks(leases, ["broken"] * 40)
    ended = (await queue.list_attempts(leases[0].task_id))[0].ended_at
    waits = [(answer.run_at - ended) / seconds(1) for answer in answers]
    assert min(waits) >= 100
    assert max(waits) <= 100 * (1 + share)
    # Spread over the share, not all at one end: the chance of a false alarm is below 1e-9.
    assert min(waits) < 100 * (1 + share / 2) < max(waits)
    assert len({round(wait, 3) for wait in waits}) > 10


async def test_jitter_is_capped(queue, clock):
    await queue.register_job(
        *NAME.split(":"), max_attempts=2, backoff_base=seconds(1000), jitter_share=1.0, jitter_cap=seconds(5)
    )
    await queue.submit_tasks(NAME, [{}] * 40)
    leases = await claim_all(queue, NAME)
    answers = await queue.fail_tasks(leases, ["broken"] * 40)
    ended = (await queue.list_attempts(leases[0].task_id))[0].ended_at
    waits = [(answer.run_at - ended) / seconds(1) for answer in answers]
    assert 1000 <= min(waits) < max(waits) <= 1005


async def test_jitter_comes_on_top_of_the_cap(queue, clock):
    await queue.register_job(
        *NAME.split(":"),
        max_attempts=2,
        backoff_base=seconds(100),
        backoff_cap=seconds(100),
        jitter_share=0.5,
    )
    await queue.submit_tasks(NAME, [{}] * 40)
    answers = await queue.fail_tasks(await claim_all(queue, NAME), ["broken"] * 40)
    first = min(answer.run_at for answer in answers)
    assert max(answer.run_at for answer in answers) - first > seconds(5)


async def test_jitter_is_the_same_for_the_same_attempt_of_a_task(queue, clock):
    await queue.register_job(*NAME.split(":"), backoff_base=seconds(100), jitter_share=1.0)
    task_id = (await queue.submit_task(NAME, max_attempts=4)).task_id
    first = await _delays_of(queue, clock, task_id, 3)
    await queue.fail_task(await claim(queue, NAME), "broken")
    await queue.retry_task(task_id)
    assert await _delays_of(queue, clock, task_id, 3) == pytest.approx(first, abs=0.002)
    assert len({round(delay / 100 / 2**n, 3) for n, delay in enumerate(first)}) > 1


async def test_an_error_kind_can_have_a_wait_of_its_own(queue, clock):
    await queue.register_job(*NAME.split(":"), backoff_base=seconds(1), jitter_share=0.0)
    await queue.set_error_policy(
        NAME, "auth", backoff_base=seconds(600), backoff_cap=seconds(900), jitter_share=0.0
    )
    assert await _delays(queue, clock, 3, kind="auth") == pytest.approx([600, 900, 900], abs=0.002)
    assert await _delays(queue, clock, 2, kind="network") == pytest.approx([1, 2], abs=0.002)
    assert await _delays(queue, clock, 2) == pytest.approx([1, 2], abs=0.002)


async def test_an_error_kind_can_be_not_worth_a_retry(queue, clock):
    await queue.register_job(*NAME.split(":"), max_attempts=5)
    await queue.set_error_policy(NAME, "gone", is_retryable=False)
    await queue.submit_task(NAME)
    assert (await queue.fail_task(await claim(queue, NAME), "404", kind="gone")).status == "failed"
    await queue.submit_task(NAME)
    assert (await queue.fail_task(await claim(queue, NAME), "500", kind="http")).status == "pending"


async def test_a_policy_set_again_replaces_the_former(queue, clock):
    await queue.register_job(*NAME.split(":"), max_attempts=5)
    await queue.set_error_policy(NAME, "gone", is_retryable=False)
    await queue.set_error_policy(NAME, "gone", backoff_base=seconds(7), jitter_share=0.0)
    assert await _delays(queue, clock, 1, kind="gone") == pytest.approx([7], abs=0.002)


async def test_a_policy_counts_for_its_own_job_only(queue):
    await queue.register_job(*NAME.split(":"), max_attempts=5)
    await queue.register_job("@global", "tests", "Other", max_attempts=5)
    await queue.set_error_policy(NAME, "gone", is_retryable=False)
    await queue.submit_task("@global:tests:Other")
    held = await claim(queue, "@global:tests:Other")
    assert (await queue.fail_task(held, "404", kind="gone")).status == "pending"


async def test_a_policy_never_gives_more_attempts_than_there_are(queue):
    await queue.register_job(*NAME.split(":"), max_attempts=1)
    await queue.set_error_policy(NAME, "network", is_retryable=True)
    await queue.submit_task(NAME)
    assert (await queue.fail_task(await claim(queue, NAME), "broken", kind="network")).status == "failed"


async def test_a_lapsed_lease_and_a_lost_worker_are_error_kinds_too(queue, clock):
    await queue.register_job(*NAME.split(":"), max_attempts=5)
    for kind in ("lease_expired", "worker_disconnected"):
        await queue.set_error_policy(NAME, kind, is_retryable=False)
    lapsed = (await queue.submit_task(NAME)).task_id
    await claim(queue, NAME)
    await clock.advance(seconds=61)
    await queue.sweep()
    assert (await queue.get_task(lapsed)).status == "failed"
    lost = (await queue.submit_task(NAME)).task_id
    worker = await queue.register_worker(jobs=[NAME])
    await queue.claim_tasks(worker.id)
    await queue.retire_worker(worker.id)
    assert (await queue.get_task(lost)).status == "failed"


@pytest.mark.parametrize(("age", "status"), [(50, "pending"), (70, "failed")])
async def test_a_task_that_is_too_old_is_not_retried(queue, clock, age, status):
    await queue.register_job(*NAME.split(":"), max_attempts=100, max_age=timedelta(minutes=60))
    await queue.submit_task(NAME)
    await clock.advance(minutes=age)
    answer = await queue.fail_task(await claim(queue, NAME), "broken")
    assert answer.status == status


async def test_age_does_not_keep_an_old_task_from_its_first_attempt(queue, clock):
    await queue.register_job(*NAME.split(":"), max_age=timedelta(minutes=60))
    await queue.submit_task(NAME)
    await clock.advance(days=1)
    assert (await queue.complete_task(await claim(queue, NAME))).status == "completed"


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": ""},
        {"kind": "x" * 201},
        {"backoff_base": seconds(-1)},
        {"backoff_base": seconds(10), "backoff_cap": seconds(5)},
        {"jitter_share": 1.5},
        {"jitter_share": -0.1},
        {"jitter_cap": seconds(-1)},
    ],
    ids=repr,
)
async def test_a_policy_that_cannot_be_is_refused(queue, policy, nothing_changes):
    await queue.register_job(*NAME.split(":"))
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.set_error_policy(NAME, **({"kind": "network"} | policy))


async def test_an_unknown_job_has_no_policy(queue):
    with pytest.raises(JobNotFound):
        await queue.set_error_policy("@global:tests:Nothing", "network")
