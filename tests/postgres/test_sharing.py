"""Limits by key: never more of one key at once than it may, and no slot that stays unused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Queue
from pgjobs.errors import InvalidArgument
from tests.postgres.stage import JOB

MINUTE = timedelta(minutes=1)


async def take(queue: Queue, quantity: int = 30, **options: Any) -> list[Any]:
    wish: dict[str, Any] = {"holder": "somebody", "lease": MINUTE, "in_room": "@global"}
    return await queue.claim_tasks(**wish | {"quantity": quantity} | options)


async def submit(queue: Queue, keys: str, **options: Any) -> list[int]:
    """A task for each letter, which is its key; a dot has none."""
    submitted = await queue.submit_tasks(
        JOB,
        [{"key": key} for key in keys],
        keys=[None if key == "." else key for key in keys],
        **options,
    )
    return [item.task_id for item in submitted]


def keys_of(leases: list[Any]) -> str:
    return "".join(lease.payload["key"] for lease in leases)


async def end(queue: Queue, leases: list[Any]) -> None:
    for lease in leases:
        await queue.complete_task(lease)


@pytest.fixture
async def two_each(queue):
    await queue.limit_job(JOB, max_running_per_key=2)


async def test_a_key_has_no_more_tasks_than_it_may(queue, two_each):
    await submit(queue, "aaaab")
    assert sorted(keys_of(await take(queue))) == ["a", "a", "b"]
    assert await take(queue) == []


async def test_claims_of_one_stop_at_the_limit_of_a_key(queue, two_each):
    await submit(queue, "aaab")
    taken = [keys_of(await take(queue, 1)) for _ in range(4)]
    assert sorted(taken) == ["", "a", "a", "b"]


async def test_tasks_without_a_key_are_not_limited_by_key(queue, two_each):
    await submit(queue, "....a")
    assert len(await take(queue)) == 5


ENDINGS = {
    "complete": lambda queue, lease: queue.complete_task(lease),
    "fail for good": lambda queue, lease: queue.fail_task(lease, "broken", retryable=False),
    "fail": lambda queue, lease: queue.fail_task(lease, "broken"),
    "cancel": lambda queue, lease: queue.cancel_task(lease.task_id, force=True),
    "give back for later": lambda queue, lease: queue.release_task(lease, delay=timedelta(hours=1)),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_whatever_ends_a_lease_frees_the_slot_of_its_key(queue, two_each, ending):
    await submit(queue, "aaaa")
    first, _ = await take(queue)
    assert await take(queue) == []
    await ENDINGS[ending](queue, first)
    assert keys_of(await take(queue)) == "a"
    assert await take(queue) == []


async def test_a_task_that_is_given_back_is_claimed_again_in_its_place(queue, two_each):
    ids = await submit(queue, "aaaa")
    leases = await take(queue)
    await queue.release_task(leases[0])
    assert [lease.task_id for lease in await take(queue)] == [ids[0]]


async def test_a_lapsed_lease_frees_its_slot_when_it_is_swept(stage, queue, two_each):
    await submit(queue, "aaaa")
    await take(queue)
    await stage.advance(minutes=2)
    await queue.sweep("leases")
    assert keys_of(await take(queue)) == "aa"


async def test_a_worker_that_is_gone_frees_its_slots(queue, two_each, worker):
    await submit(queue, "aaaa")
    assert len(await queue.claim_tasks(worker.id, quantity=10)) == 2
    await queue.retire_worker(worker.id)
    assert keys_of(await take(queue)) == "aa"


async def test_delayed_tasks_and_retries_count_when_they_are_due(stage, queue, two_each):
    await submit(queue, "aaa", delay=MINUTE)
    assert await take(queue) == []
    await stage.advance(minutes=2)
    assert keys_of(await take(queue)) == "aa"


async def test_priorities_decide_within_a_key(queue, two_each):
    [late] = await submit(queue, "a", priority=9)
    ids = await submit(queue, "aa", priority=5)
    [urgent] = await submit(queue, "a", priority=1)
    assert [lease.task_id for lease in await take(queue)] == [urgent, ids[0]]
    assert late not in [lease.task_id for lease in await take(queue)]


async def test_cancelled_and_ignored_tasks_are_not_claimed(queue, two_each):
    cancelled, ignored, left = await submit(queue, "abb")
    await queue.cancel_task(cancelled)
    await queue.ignore_task(ignored)
    assert [lease.task_id for lease in await take(queue)] == [left]
    await queue.unignore_task(ignored)
    assert [lease.task_id for lease in await take(queue)] == [ignored]


async def test_the_limit_of_the_job_holds_as_well(queue):
    await queue.limit_job(JOB, 3, max_running_per_key=2)
    await submit(queue, "aaabbbccc")
    assert len(await take(queue)) == 3
    assert await take(queue) == []


async def test_what_runs_and_waits_already_is_counted_when_a_limit_is_set(queue):
    await submit(queue, "aaaab")
    held = await take(queue, 3)
    await queue.limit_job(JOB, max_running_per_key=2)
    assert keys_of(await take(queue)) == "b"
    await end(queue, held[:2])
    assert keys_of(await take(queue)) == "a"


async def test_a_limit_can_be_raised_and_lifted(queue, two_each):
    await submit(queue, "aaaaa")
    await take(queue)
    await queue.limit_job(JOB, max_running_per_key=3)
    assert len(await take(queue)) == 1
    await queue.limit_job(JOB, max_running_per_key=0)
    assert len(await take(queue)) == 2


async def test_setting_the_limit_of_a_key_leaves_that_of_the_job(queue):
    await queue.limit_job(JOB, 7)
    assert (await queue.limit_job(JOB, max_running_per_key=2)).max_running == 7


async def test_registering_sets_the_limit_of_a_key_and_leaves_it_when_it_names_none(queue):
    await queue.register_job(*JOB.split(":"), max_running_per_key=1)
    await queue.register_job(*JOB.split(":"))
    await submit(queue, "aa")
    assert len(await take(queue)) == 1


async def test_whoever_serves_other_jobs_too_has_tasks_of_both(queue, two_each):
    await queue.register_job("@global", "tests", "Other")
    await submit(queue, "aaaa")
    await queue.submit_tasks("@global:tests:Other", [{"key": "-"}] * 3)
    taken = [keys_of(await take(queue, 1)) for _ in range(6)]
    assert sorted(taken) == ["", "-", "-", "-", "a", "a"]


async def test_claims_that_choose_by_owner_find_their_tasks(queue, two_each):
    await submit(queue, "aaaa", owner="ann")
    [bobs] = await submit(queue, "a", owner="bob")
    assert [lease.task_id for lease in await take(queue, of_owner="bob")] == [bobs]
    assert len(await take(queue)) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"max_running_per_key": -1},
        {"max_running_per_key": 1_000_001},
        {"rate": "often"},
        {"rate": "0/min"},
        {"rate_per_key": "5"},
        {"on_failure": "stop"},
        {"weights": {"a": 0}},
        {"weights": {"a": 1.5}},
        {"weights": ["a"]},
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(queue, options):
    with pytest.raises(InvalidArgument):
        await queue.limit_job(JOB, 1, **options)
    assert (await queue.get_job(JOB)).max_running is None


@pytest.mark.parametrize("keys", [["a", "b"], [""], ["x" * 201], []])
async def test_keys_that_cannot_be_are_refused(queue, keys):
    with pytest.raises(InvalidArgument):
        await queue.submit_tasks(JOB, [{}], keys=keys)
    assert await queue.list_tasks() == []
