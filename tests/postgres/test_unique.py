"""Tasks that are to be done once: found, replaced or new, exactly, whoever submits beside them."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from datetime import timedelta

import pytest

from pgjobs import Queue
from pgjobs.errors import InvalidArgument
from tests.postgres.stage import JOB
from tests.postgres.test_sharing import MINUTE, take

SUBMITTERS = int(os.environ.get("PGJOBS_TEST_SUBMITTERS", "8"))
SECOND = timedelta(seconds=1)


async def once(queue: Queue, payload=None, **options):
    return await queue.submit_unique(JOB, {"n": 1} if payload is None else payload, **options)


async def test_a_task_that_waits_is_found_and_one_that_runs_is_not(queue):
    first = await once(queue)
    assert (first.is_new, first.outcome) == (True, "new")
    again = await once(queue)
    assert (again.task_id, again.is_new, again.outcome) == (first.task_id, False, "found")
    await take(queue)
    assert (await once(queue)).is_new


async def test_unfinished_counts_what_runs_too(queue):
    first = await once(queue, unique_while="unfinished")
    [lease] = await take(queue)
    assert (await once(queue, unique_while="unfinished")).task_id == first.task_id
    await queue.complete_task(lease)
    assert (await once(queue, unique_while="unfinished")).is_new


async def test_a_period_counts_what_has_ended_too(stage, queue):
    options = {"unique_while": "period", "unique_period": MINUTE}
    first = await once(queue, **options)
    await queue.complete_task((await take(queue))[0])
    assert (await once(queue, **options)).task_id == first.task_id
    await stage.advance(seconds=61)
    assert (await once(queue, **options)).is_new


async def test_a_task_that_is_retried_is_waiting(queue):
    first = await once(queue)
    await queue.fail_task((await take(queue))[0], "broken")
    assert (await once(queue)).task_id == first.task_id


async def test_arguments_are_equal_however_they_are_written(queue):
    first = await once(queue, {"a": 1, "b": [1.0, "x"]})
    assert (await once(queue, {"b": [1, "x"], "a": 1.0})).task_id == first.task_id
    assert (await once(queue, {"a": 1, "b": ["x", 1]})).is_new


async def test_chosen_arguments_count(queue):
    first = await once(queue, {"a": 1, "b": 1}, unique_fields=["a"])
    assert (await once(queue, {"a": 1, "b": 2}, unique_fields=["a"])).task_id == first.task_id
    assert (await once(queue, {"a": 2, "b": 1}, unique_fields=["a"])).is_new
    assert (await once(queue, {"a": 1, "b": 2}, unique_fields=["a", "b"])).is_new


async def test_a_key_counts_whatever_the_arguments(queue):
    first = await once(queue, {"a": 1}, key="acme")
    assert (await once(queue, {"a": 2}, key="acme")).task_id == first.task_id
    assert (await once(queue, {"a": 1}, key="other")).is_new
    assert (await once(queue, {"a": 1}, key="acme", unique_by="arguments")).is_new


async def test_an_idempotency_key_counts_while_its_task_waits(queue):
    first = await once(queue, {"a": 1}, idempotency_key="k")
    assert (await once(queue, {"a": 2}, idempotency_key="k")).task_id == first.task_id
    await take(queue)
    assert (await once(queue, {"a": 2}, idempotency_key="k")).is_new


async def test_rooms_are_apart(queue):
    first = await once(queue, room="lab")
    assert (await once(queue, room="office")).task_id != first.task_id


async def test_a_payload_is_replaced_under_the_same_number_and_leaves_an_event(queue):
    first = await once(queue, {"n": 1}, key="a")
    second = await once(
        queue, {"n": 2}, key="a", priority=1, replace=["payload", "priority"], submitter="ann"
    )
    assert (second.task_id, second.outcome) == (first.task_id, "replaced")
    [event] = [event for event in await queue.list_events(of_task=first.task_id) if event.kind == "replaced"]
    assert (event.actor, event.fields["replaced"]) == ("ann", ["payload", "priority"])
    [lease] = await take(queue)
    assert (lease.task_id, lease.payload, lease.priority) == (first.task_id, {"n": 2}, 1)


async def test_only_what_is_named_is_replaced(queue):
    await once(queue, {"n": 1}, key="a", priority=7)
    await once(queue, {"n": 2}, key="a", priority=1, replace=["payload"])
    [lease] = await take(queue)
    assert (lease.payload, lease.priority) == ({"n": 2}, 7)


async def test_a_body_that_was_claimed_is_never_changed(queue):
    """Neither while it runs, nor when it waits again."""
    first = await once(queue, {"n": 1}, key="a")
    [lease] = await take(queue)
    second = await once(queue, {"n": 2}, key="a", replace=["payload"])
    assert second.outcome == "new"
    await queue.cancel_task(second.task_id)
    await queue.release_task(lease)
    again = await queue.submit_unique(JOB, {"n": 3}, key="b")
    assert again.is_new
    assert (await queue.get_task(first.task_id)).payload == {"n": 1}


async def test_a_released_task_keeps_its_body(queue):
    first = await once(queue, {"n": 1}, key="a")
    await queue.release_task((await take(queue))[0])
    second = await once(queue, {"n": 2}, key="a", replace=["payload"])
    assert (second.outcome, second.task_id != first.task_id) == ("new", True)
    assert (await queue.get_task(first.task_id)).payload == {"n": 1}


async def test_debounced_submits_become_one_task_after_the_last_of_them(stage, queue):
    first = await once(queue, {"n": 1}, key="a", debounce=5 * SECOND)
    for number in (2, 3):
        await stage.advance(seconds=4)
        assert (await once(queue, {"n": number}, key="a", debounce=5 * SECOND)).outcome == "replaced"
    assert await take(queue) == []
    await stage.advance(seconds=6)
    [lease] = await take(queue)
    assert (lease.task_id, lease.payload) == (first.task_id, {"n": 3})


async def test_a_debounced_task_waits_no_longer_than_it_may(stage, queue):
    for _ in range(4):
        await once(queue, {"n": 1}, key="a", debounce=5 * SECOND, max_wait=8 * SECOND)
        await stage.advance(seconds=3)
    assert len(await take(queue)) == 1


async def test_keyed_jobs_have_unique_tasks_too(stage, queue):
    await queue.limit_job(JOB, max_running_per_key=1)
    await once(queue, {"n": 1}, key="a")
    await once(queue, {"n": 2}, key="a", replace=["payload"])
    await once(queue, {"n": 3}, key="b", debounce=SECOND)
    assert [lease.payload["n"] for lease in await take(queue)] == [2]
    await stage.advance(seconds=2)
    assert [lease.payload["n"] for lease in await take(queue)] == [3]


async def test_of_many_submitters_at_once_one_makes_the_task(database_url, queue):
    async def submit() -> str:
        async with await Queue.connect(database_url) as own:
            return str((await once(own, key="a")).outcome)

    for round_ in range(3):
        outcomes = Counter(await asyncio.gather(*(submit() for _ in range(SUBMITTERS))))
        assert outcomes == {"new": 1, "found": SUBMITTERS - 1}, round_
        assert len(await take(queue)) == 1


async def test_many_debouncing_submitters_leave_one_task_with_the_body_of_one_of_them(database_url, queue):
    async def submit(number: int) -> None:
        async with await Queue.connect(database_url) as own:
            await once(own, {"n": number}, key="a", debounce=SECOND)

    await asyncio.gather(*(submit(number) for number in range(SUBMITTERS)))
    assert len(await queue.list_tasks()) == 1


async def test_a_submit_waits_for_a_claim_under_way_and_then_makes_its_own(stage, queue, first, second):
    await once(queue)
    await take(first.queue)
    other = await stage.waits(second, once(second.queue), behind=first)
    await first.commit()
    assert (await other).is_new


async def test_a_submit_that_waited_for_a_claim_that_came_to_nothing_finds_the_task(
    stage, queue, first, second
):
    await once(queue)
    await take(first.queue)
    other = await stage.waits(second, once(second.queue), behind=first)
    await first.rollback()
    assert (await other).outcome == "found"


async def test_a_task_that_an_open_submit_has_found_is_not_claimed_before_that_commits(stage, queue, first):
    await once(queue)
    await once(first.queue)
    assert await stage.soon(take(queue)) == []
    await first.commit()
    assert len(await take(queue)) == 1


async def test_what_is_over_is_forgotten(stage, queue):
    await once(queue, key="a")
    await queue.complete_task((await take(queue))[0])
    await once(queue, key="b")
    await stage.advance(hours=2)
    await queue.sweep("sharing")
    assert await stage.watcher.fetchval(
        "select array_agg(split_part(name, ':', 3)) from pgjobs.unique_tasks"
    ) == ["b"]


@pytest.mark.parametrize(
    "options",
    [
        {"unique_while": "often"},
        {"unique_while": "period"},
        {"unique_period": MINUTE},
        {"unique_by": "key"},
        {"unique_fields": []},
        {"unique_fields": ["a"], "key": "k", "unique_by": "key"},
        {"debounce": timedelta(0)},
        {"max_wait": MINUTE},
        {"debounce": MINUTE, "max_wait": SECOND},
        {"replace": ["owner"]},
        {"replace": ["payload"], "unique_while": "unfinished"},
        {"priority": 11},
        {"key": "x" * 201},
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_nothing(stage, queue, options):
    with pytest.raises(InvalidArgument):
        await once(queue, **options)
    assert await queue.list_tasks() == []
    assert await stage.watcher.fetchval("select count(*) from pgjobs.unique_tasks") == 0
