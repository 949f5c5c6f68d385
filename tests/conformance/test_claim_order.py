"""Who is next: priority, then due time, then age; and nobody waits for ever."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations

import pytest

from tests.conformance.stages import claim, claim_all


async def _ids(queue, job, quantity, **options):
    return [item.task_id for item in await queue.submit_tasks(job, [{}] * quantity, **options)]


async def test_tasks_of_one_job_are_claimed_in_order_of_submission(queue, job):
    ids = await _ids(queue, job, 5)
    assert [(await claim(queue, job)).task_id for _ in range(5)] == ids


async def test_a_batch_comes_in_order_of_submission(queue, job):
    ids = await _ids(queue, job, 20)
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


@pytest.mark.parametrize("quantity", [1, 2, 7, 499, 500])
async def test_a_claim_takes_no_more_than_asked_for(queue, job, quantity):
    ids = await _ids(queue, job, 501)
    assert [lease.task_id for lease in await claim_all(queue, job, quantity=quantity)] == ids[:quantity]


async def test_a_claim_takes_what_there_is(queue, job):
    await _ids(queue, job, 3)
    assert len(await claim_all(queue, job, quantity=10)) == 3
    assert await claim_all(queue, job, quantity=10) == []


async def test_an_empty_queue_yields_nothing(queue, job):
    assert await claim_all(queue, job) == []


@pytest.mark.parametrize(("urgent", "patient"), list(combinations((1, 2, 5, 9, 10), 2)))
async def test_the_lower_priority_number_goes_first(queue, job, urgent, patient):
    second = (await queue.submit_task(job, priority=patient)).task_id
    first = (await queue.submit_task(job, priority=urgent)).task_id
    assert [(await claim(queue, job)).task_id for _ in range(2)] == [first, second]


async def test_a_batch_runs_on_from_the_urgent_to_the_patient(queue, job):
    ids = {priority: await _ids(queue, job, 3, priority=priority) for priority in range(10, 0, -1)}
    claimed = [lease.task_id for lease in await claim_all(queue, job)]
    assert claimed == [task_id for priority in range(1, 11) for task_id in ids[priority]]


async def test_an_urgent_newcomer_overtakes_a_backlog(queue, clock, job):
    await _ids(queue, job, 20)
    await clock.advance(hours=1)
    urgent = (await queue.submit_task(job, priority=1)).task_id
    assert (await claim(queue, job)).task_id == urgent


@pytest.mark.parametrize("patient", [2, 5, 10])
async def test_an_old_task_of_low_priority_finishes_under_a_stream_of_urgent_ones(queue, clock, job, patient):
    old = (await queue.submit_task(job, priority=patient)).task_id
    for _day in range(patient + 1):
        await _ids(queue, job, 3, priority=1)
        # As much as comes in is worked off, so that urgent tasks are always there.
        for _ in range(3):
            lease = await claim(queue, job)
            await queue.complete_task(lease)
            if lease.task_id == old:
                assert (await queue.get_task(old)).status == "completed"
                return
        await clock.advance(days=1)
    pytest.fail(f"a task of priority {patient} starved")


async def test_an_old_task_waits_its_turn_while_urgent_ones_are_as_old(queue, clock, job):
    await queue.submit_task(job, priority=10)
    urgent = await _ids(queue, job, 3, priority=1)
    await clock.advance(days=20)
    assert [(await claim(queue, job)).task_id for _ in range(3)] == urgent


async def test_of_two_jobs_the_one_whose_task_waits_longer_goes_first(queue, clock, job):
    await queue.register_job("@global", "tests", "Other")
    order = []
    for name in (job, "@global:tests:Other", job, "@global:tests:Other"):
        order.append((await queue.submit_task(name)).task_id)
        await clock.advance(seconds=1)
    claimed = [
        (await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global"))[0].task_id
        for _ in range(4)
    ]
    assert claimed == order


async def test_priority_counts_across_jobs(queue, job):
    await queue.register_job("@global", "tests", "Other")
    second = (await queue.submit_task(job, priority=4)).task_id
    first = (await queue.submit_task("@global:tests:Other", priority=3)).task_id
    claimed = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global", quantity=2)
    assert [lease.task_id for lease in claimed] == [first, second]


async def test_scheduled_tasks_go_in_order_of_their_time(queue, clock, job):
    later = (await queue.submit_task(job, delay=timedelta(seconds=60))).task_id
    sooner = (await queue.submit_task(job, delay=timedelta(seconds=30))).task_id
    await clock.advance(minutes=2)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [sooner, later]


async def test_scheduled_tasks_of_the_same_time_go_in_order_of_submission(queue, clock, job):
    at = clock.now() + timedelta(seconds=30)
    ids = [(await queue.submit_task(job, available_at=at)).task_id for _ in range(5)]
    await clock.advance(minutes=1)
    assert [lease.task_id for lease in await claim_all(queue, job)] == ids


async def test_a_task_that_came_due_goes_before_those_submitted_after_its_time(queue, clock, job):
    scheduled = (await queue.submit_task(job, delay=timedelta(seconds=30))).task_id
    await clock.advance(minutes=1)
    late = (await queue.submit_task(job)).task_id
    assert [(await claim(queue, job)).task_id for _ in range(2)] == [scheduled, late]


async def test_a_task_that_came_due_goes_after_those_that_waited_before_its_time(queue, clock, job):
    scheduled = (await queue.submit_task(job, delay=timedelta(seconds=60))).task_id
    waiting = (await queue.submit_task(job)).task_id
    await clock.advance(minutes=2)
    assert [(await claim(queue, job)).task_id for _ in range(2)] == [waiting, scheduled]


async def test_a_task_available_since_long_goes_before_those_submitted_earlier_today(queue, clock, job):
    today = (await queue.submit_task(job)).task_id
    since_long = (await queue.submit_task(job, available_at=clock.now() - timedelta(days=1))).task_id
    assert [(await claim(queue, job)).task_id for _ in range(2)] == [since_long, today]


async def test_a_failed_attempt_goes_to_the_back_of_the_line(queue, clock, job):
    first, second, third = await _ids(queue, job, 3)
    await queue.fail_task(await claim(queue, job), "broken")
    await clock.advance(seconds=30)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [second, third, first]


async def test_a_task_retried_by_an_operator_goes_to_the_back_of_the_line(queue, job):
    first, second = await _ids(queue, job, 2)
    await queue.cancel_task(first)
    await queue.retry_task(first)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [second, first]


async def test_a_retried_task_keeps_its_priority(queue, job):
    urgent = (await queue.submit_task(job, priority=1)).task_id
    await queue.submit_task(job)
    await queue.cancel_task(urgent)
    await queue.retry_task(urgent)
    assert (await claim(queue, job)).task_id == urgent


async def test_cancelled_and_ignored_tasks_are_passed_by(queue, job):
    first, second, third, fourth = await _ids(queue, job, 4)
    await queue.cancel_task(first)
    await queue.ignore_task(third)
    assert [lease.task_id for lease in await claim_all(queue, job)] == [second, fourth]


async def test_every_lease_has_a_token_of_its_own(queue, job):
    await _ids(queue, job, 100)
    leases = await claim_all(queue, job)
    assert len({lease.token for lease in leases}) == 100


async def test_a_lease_tells_what_the_work_needs(queue, clock, job, worker):
    submitted = await queue.submit_task(job, {"angle": 90}, room="lab", owner="ada", tags=["red"])
    lease = (await queue.claim_tasks(worker.id, lease=timedelta(seconds=30)))[0]
    task = await queue.get_task(submitted.task_id)
    assert (lease.task_id, lease.job, lease.room, lease.payload) == (task.id, job, "lab", {"angle": 90})
    assert (lease.attempt, lease.max_attempts, lease.priority) == (1, 3, 5)
    assert (lease.owner, lease.tags, lease.created_at) == ("ada", ["red"], task.created_at)
    assert (lease.claimed_at, lease.until, lease.job_id) == (task.claimed_at, task.until, task.job_id)
    assert (task.status, task.phase, task.attempt, task.worker_id) == ("claimed", None, 1, worker.id)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"of_owner": "ada"}, [0, 1]),
        ({"of_owner": "bob"}, [2]),
        ({"of_project": "x"}, [0, 2]),
        ({"of_owner": "ada", "of_project": "y"}, [1]),
        ({"of_owner": "nobody"}, []),
        ({}, [0, 1, 2, 3]),
    ],
)
async def test_a_claim_can_ask_for_the_tasks_of_one_owner_or_project(queue, job, wish, expected):
    belongings = [("ada", "x"), ("ada", "y"), ("bob", "x"), (None, None)]
    ids = [(await queue.submit_task(job, owner=o, project=p)).task_id for o, p in belongings]
    claimed = await claim_all(queue, job, **wish)
    assert [lease.task_id for lease in claimed] == [ids[place] for place in expected]
    assert len(await queue.list_tasks(status="pending")) == 4 - len(expected)


@pytest.mark.parametrize("jobs", [1, 2])
async def test_a_claim_for_one_owner_leaves_the_others_in_order(queue, job, jobs):
    await queue.register_job("@global", "tests", "Other")
    names = [job, "@global:tests:Other"][:jobs] * 2
    first, *others = [(await queue.submit_task(name, owner="ada")).task_id for name in names]
    bobs = (await queue.submit_task(job, owner="bob")).task_id
    last = (await queue.submit_task(job, owner="ada")).task_id
    wish = {"holder": "me", "lease": timedelta(minutes=1), "in_room": "@global"}
    assert [lease.task_id for lease in await queue.claim_tasks(**wish, of_owner="bob")] == [bobs]
    claimed = [(await queue.claim_tasks(**wish))[0].task_id for _ in range(len(others) + 2)]
    assert claimed == [first, *others, last]
