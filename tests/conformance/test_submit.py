"""Submitting: what a task is when it enters the queue."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, JobUnavailable, NoWorkersAvailable
from tests.conformance.stages import claim, claim_all

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PAYLOADS = [
    {},
    {"angle": 90},
    {"deep": {"list": [1, [2, [3]]], "null": None, "flag": True}},
    [],
    [1, "two", None],
    "text",
    "",
    0,
    -12,
    0.1,
    10**25,
    True,
    False,
    {"text": "žluťoučký 馬 🐎"},
    {"quotes": "'; drop table tasks; --", "back\\slash": '"'},
    {"": "empty key"},
    {"escapes": "\\u0000 \n\t\r\x7f"},
    {"long": "x" * 100_000},
]


async def test_a_submitted_task_is_pending_and_due(queue, clock, job):
    before = clock.now() - timedelta(seconds=1)
    submitted = await queue.submit_task(job, {"angle": 90})
    task = await queue.get_task(submitted.task_id)
    assert submitted.is_new
    assert (task.status, task.phase, task.attempt, task.priority) == ("pending", "due", 0, 5)
    assert (task.job, task.room, task.max_attempts) == (job, "@global", 3)
    assert before <= task.created_at <= clock.now() + timedelta(seconds=1)
    assert task.due_at == task.created_at
    assert (task.claimed_at, task.started_at, task.ended_at, task.until) == (None, None, None, None)
    assert (task.worker_id, task.holder, task.error, task.result, task.is_ended) == (None,) * 4 + (False,)


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: repr(payload)[:30])
async def test_a_payload_comes_back_as_it_was_given(queue, job, payload):
    submitted = (await queue.submit_tasks(job, [payload]))[0]
    kept = (await queue.get_task(submitted.task_id)).payload
    leased = (await claim(queue, job)).payload
    assert kept == payload
    assert leased == payload
    assert type(kept) is type(payload)


async def test_a_payload_left_out_is_an_empty_object(queue, job):
    submitted = await queue.submit_task(job)
    assert (await queue.get_task(submitted.task_id)).payload == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("priority", 1),
        ("priority", 10),
        ("max_attempts", 1),
        ("max_attempts", 10_000),
        ("submitter", "ada"),
        ("owner", "ada@example.org"),
        ("project", "lab: 7"),
        ("tags", ["red", "blue"]),
        ("tags", []),
        ("room", "lab-7"),
    ],
)
async def test_a_task_keeps_what_it_was_submitted_with(queue, job, field, value):
    submitted = await queue.submit_task(job, **{field: value})
    task = await queue.get_task(submitted.task_id)
    lease = await claim(queue, job)
    assert getattr(task, field) == value
    assert getattr(lease, field) == value


async def test_fields_left_out_are_empty(queue, job):
    task = await queue.get_task((await queue.submit_task(job)).task_id)
    assert (task.submitter, task.owner, task.project, task.tags, task.idempotency_key) == (None,) * 5


@pytest.mark.parametrize("quantity", [1, 2, 100, 10_000])
async def test_many_tasks_are_answered_in_the_order_given(queue, job, quantity):
    submitted = await queue.submit_tasks(job, [{"place": place} for place in range(quantity)])
    ids = [item.task_id for item in submitted]
    assert len(set(ids)) == quantity
    assert ids == sorted(ids)
    assert all(item.is_new for item in submitted)
    for place in {0, quantity // 2, quantity - 1}:
        assert (await queue.get_task(ids[place])).payload == {"place": place}


async def test_submitting_nothing_leaves_nothing(queue, job):
    assert await queue.submit_tasks(job, []) == []
    assert await queue.list_tasks() == []


async def test_ids_are_never_given_twice(queue, clock, job):
    ids = [(await queue.submit_task(job)).task_id for _ in range(5)]
    await queue.complete_tasks(await claim_all(queue, job))
    await clock.advance(seconds=1)
    assert len(await queue.prune_tasks(older_than=timedelta(0))) == 5
    ids += [(await queue.submit_task(job)).task_id for _ in range(5)]
    assert len(set(ids)) == 10
    assert ids == sorted(ids)


@pytest.mark.parametrize("form", ["full_name", "id", "uuid"])
async def test_a_job_is_named_by_address_number_or_public_id(queue, job, form):
    name = str(getattr(await queue.get_job(job), form))
    submitted = await queue.submit_task(name)
    assert (await queue.get_task(submitted.task_id)).job == job


@pytest.mark.parametrize("room", ["lab-7", "@global", "@internal", "žluť", "with space", "a" * 200])
async def test_a_global_job_takes_tasks_from_every_room(queue, job, room):
    submitted = await queue.submit_task(job, room=room)
    assert (await queue.get_task(submitted.task_id)).room == room
    assert [task.id for task in await queue.list_tasks(room=room)] == [submitted.task_id]


async def test_a_private_job_takes_tasks_from_its_own_room_by_default(queue):
    await queue.register_job("lab", "tests", "Private")
    submitted = await queue.submit_task("lab:tests:Private")
    assert (await queue.get_task(submitted.task_id)).room == "lab"


@pytest.mark.parametrize("room", ["other", "@global", "@internal"])
async def test_a_private_job_does_not_exist_for_other_rooms(queue, room, nothing_changes):
    await queue.register_job("lab", "tests", "Private")
    async with nothing_changes():
        with pytest.raises(JobNotFound):
            await queue.submit_task("lab:tests:Private", room=room)


async def test_a_private_job_takes_tasks_from_elsewhere_when_rooms_may_be_crossed(queue):
    await queue.register_job("lab", "tests", "Private")
    submitted = await queue.submit_task("lab:tests:Private", room="other", cross_room=True)
    assert (await queue.get_task(submitted.task_id)).room == "other"


async def test_a_job_without_workers_takes_tasks_unless_workers_are_required(queue, job, nothing_changes):
    await queue.submit_task(job)
    async with nothing_changes():
        with pytest.raises(NoWorkersAvailable):
            await queue.submit_task(job, require_workers=True)


async def test_a_served_job_takes_tasks_that_require_workers(queue, job, worker):
    assert (await queue.submit_task(job, require_workers=True)).is_new


async def test_an_archived_job_takes_no_tasks(queue, job, nothing_changes):
    await queue.archive_job(job)
    async with nothing_changes():
        with pytest.raises(JobUnavailable, match="archived"):
            await queue.submit_task(job)


async def test_a_paused_job_takes_tasks(queue, job):
    await queue.pause_job(job)
    submitted = await queue.submit_task(job)
    assert (await queue.get_task(submitted.task_id)).status == "pending"


async def test_a_retired_job_takes_no_tasks(queue, job, nothing_changes):
    await queue.retire_job(job)
    async with nothing_changes():
        with pytest.raises(JobNotFound):
            await queue.submit_task(job)


@pytest.mark.parametrize("name", ["@global:tests:Nothing", "nowhere:tests:Work", "999999", "Work", "a:b", ""])
async def test_an_unknown_job_takes_no_tasks(queue, job, name, nothing_changes):
    async with nothing_changes():
        with pytest.raises(JobNotFound):
            await queue.submit_task(name)


async def test_the_attempts_a_task_asks_for_win_over_those_of_its_job(queue, job):
    submitted = await queue.submit_task(job, max_attempts=1)
    await queue.fail_task(await claim(queue, job), "broken")
    assert (await queue.get_task(submitted.task_id)).status == "failed"


async def test_a_later_change_of_the_job_leaves_submitted_tasks_as_they_are(queue, job):
    submitted = await queue.submit_task(job)
    await queue.register_job(*job.split(":"), max_attempts=7)
    assert (await queue.get_task(submitted.task_id)).max_attempts == 3
    assert (await queue.get_task((await queue.submit_task(job)).task_id)).max_attempts == 7


@pytest.mark.parametrize(
    "trace_context", [None, TRACEPARENT, f"{TRACEPARENT} shop=1,mail=2", f"{TRACEPARENT} {'x' * 512}"]
)
async def test_a_task_carries_the_trace_it_was_submitted_from(queue, job, trace_context):
    await queue.submit_tasks(job, [{}, {}], trace_context=trace_context)
    leases = await claim_all(queue, job)
    assert [lease.trace_context for lease in leases] == [trace_context] * 2
    await queue.release_tasks(leases)
    leases = await claim_all(queue, job)
    assert [lease.trace_context for lease in leases] == [trace_context] * 2


@pytest.mark.parametrize(
    "trace_context",
    [
        "",
        "anything",
        TRACEPARENT.upper(),
        TRACEPARENT[:-1],
        f"{TRACEPARENT} ",
        f"{TRACEPARENT} x\n",
        f"{TRACEPARENT} é",
        f"{TRACEPARENT} {'x' * 513}",
    ],
)
async def test_a_trace_context_that_is_none_is_refused(queue, job, trace_context, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument, match="traceparent"):
            await queue.submit_task(job, trace_context=trace_context)


async def test_each_answer_says_which_item_it_is_of(queue, job):
    submitted = await queue.submit_tasks(job, [{}, {}, {}], idempotency_keys=["a", None, "a"])
    assert [item.item for item in submitted] == [1, 2, 3]
    named = await queue.submit_tasks(job, [{}, {}], items=[7, 5])
    assert [item.item for item in named] == [7, 5]
    assert (await queue.submit_tasks(job, [{}], items=[9]))[0].item == 9
    with pytest.raises(InvalidArgument):
        await queue.submit_tasks(job, [{}, {}], items=[1])
