"""Cancel, retry, ignore and unignore many tasks in one call, each with an answer of its own."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from pgjobs.errors import Conflict, InvalidArgument
from tests.conformance.stages import STAGES, STATUS_OF, claim

STEPS = ("retry", "cancel", "ignore", "unignore")
AFTER = {"retry": "pending", "cancel": "cancelled", "ignore": "ignored", "unignore": "pending"}


async def _one_of_each(queue, job):
    """A task in every stage, by stage; the one in line comes last, where no stage claims it."""
    stages = sorted(STAGES, key="pending".__eq__)
    return {stage: (await STAGES[stage](queue, job)).id for stage in stages}


async def _by_one(queue, step, task_id):
    """Whether the verb for one task is allowed on it."""
    try:
        await getattr(queue, f"{step}_task")(task_id)
    except Conflict:
        return False
    return True


@pytest.mark.parametrize("step", STEPS)
async def test_many_are_allowed_what_one_is_allowed(queue, job, step):
    await queue.register_job("@global", "tests", "Other", max_attempts=3)
    one, many = await _one_of_each(queue, job), await _one_of_each(queue, "@global:tests:Other")
    allowed = {stage: await _by_one(queue, step, task_id) for stage, task_id in one.items()}
    answers = await getattr(queue, f"{step}_tasks")(list(many.values()))
    assert [answer.task_id for answer in answers] == list(many.values())
    assert {stage: answer.problem is None for stage, answer in zip(many, answers, strict=True)} == allowed
    assert {answer.problem for answer in answers} == {None, "PJ006"}
    for stage, answer in zip(many, answers, strict=True):
        now = await queue.get_task(answer.task_id)
        assert answer.status == now.status == (await queue.get_task(one[stage])).status
        if answer.problem is not None:
            assert now.status == STATUS_OF[stage]


@pytest.mark.parametrize("step", STEPS)
async def test_a_dry_run_answers_the_same_and_changes_nothing(queue, job, step, nothing_changes):
    tasks = list((await _one_of_each(queue, job)).values())
    verb = getattr(queue, f"{step}_tasks")
    async with nothing_changes():
        told = await verb(tasks, dry_run=True)
    done = await verb(tasks)
    assert [(answer.task_id, answer.problem) for answer in told] == [
        (answer.task_id, answer.problem) for answer in done
    ]


@pytest.mark.parametrize("step", STEPS)
async def test_public_ids_name_tasks_as_well(queue, job, step):
    stages = {"retry": "failed", "cancel": "pending", "ignore": "failed", "unignore": "ignored"}
    task = await STAGES[stages[step]](queue, job)
    shown = await queue.get_task(task.id)
    known, unknown = await getattr(queue, f"{step}_tasks")(task_uuids=[shown.uuid, uuid.uuid4()])
    assert (known.task_id, known.status, known.problem) == (task.id, AFTER[step], None)
    assert (unknown.task_id, unknown.status, unknown.problem) == (None, None, "PJ002")


@pytest.mark.parametrize("step", STEPS)
async def test_a_task_that_does_not_exist_holds_up_no_other(queue, job, step):
    task_id = (await STAGES["ignored" if step == "unignore" else "failed"](queue, job)).id
    if step == "cancel":
        task_id = (await queue.submit_task(job)).task_id
    missing, done = await getattr(queue, f"{step}_tasks")([10**12, task_id])
    assert (missing.task_id, missing.status, missing.problem) == (10**12, None, "PJ002")
    assert (done.status, done.problem) == (AFTER[step], None)


@pytest.mark.parametrize("step", STEPS)
async def test_a_task_named_twice_is_moved_once(queue, job, step):
    stage = "ignored" if step == "unignore" else "failed"
    task_id = (await STAGES[stage](queue, job)).id
    if step == "cancel":
        task_id = (await queue.submit_task(job)).task_id
    before = len(await queue.list_events(of_task=task_id))
    answers = await getattr(queue, f"{step}_tasks")([task_id, task_id])
    assert [(answer.status, answer.problem) for answer in answers] == [(AFTER[step], None)] * 2
    assert len(await queue.list_events(of_task=task_id)) == before + 1


async def test_each_task_has_an_event_with_actor_and_reason(queue, job):
    tasks = [(await STAGES["failed"](queue, job)).id for _ in range(3)]
    await queue.retry_tasks(tasks, actor="ann", reason="disk replaced")
    for task_id in tasks:
        event = (await queue.list_events(of_task=task_id))[-1]
        assert (event.kind, event.actor, event.message) == ("retried", "ann", "disk replaced")


async def test_tasks_that_were_retried_together_can_be_claimed(queue, job):
    tasks = [(await STAGES["failed"](queue, job)).id for _ in range(3)]
    await queue.retry_tasks(tasks)
    assert sorted([(await claim(queue, job)).task_id for _ in range(3)]) == tasks


async def test_force_ends_what_holders_have_in_hand(queue, job):
    tasks = [await STAGES[stage](queue, job) for stage in ("claimed", "running")]
    asked = await queue.cancel_tasks([task.id for task in tasks])
    assert [(answer.status, answer.problem) for answer in asked] == [("claimed", None), ("running", None)]
    ended = await queue.cancel_tasks([task.id for task in tasks], force=True, reason="too late")
    assert [(answer.status, answer.problem) for answer in ended] == [("cancelled", None)] * 2
    assert {(await queue.get_task(task.id)).reason for task in tasks} == {"too late"}


async def test_nothing_is_done_with_no_tasks(queue):
    assert await queue.retry_tasks([]) == []
    assert await queue.cancel_tasks([]) == []


@pytest.mark.parametrize("step", STEPS)
async def test_tasks_are_named_in_one_way_and_not_too_many(queue, job, step, nothing_changes):
    task = await STAGES["failed"](queue, job)
    verb = getattr(queue, f"{step}_tasks")
    async with nothing_changes():
        for wish in (
            {},
            {"task_ids": [task.id], "task_uuids": [(await queue.get_task(task.id)).uuid]},
            {"task_ids": list(range(1001))},
        ):
            with pytest.raises(InvalidArgument):
                await verb(**wish)


async def test_a_reason_that_is_too_long_puts_nothing_aside(queue, job, nothing_changes):
    task = await STAGES["failed"](queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.ignore_tasks([task.id], reason="x" * 201)


async def test_an_ended_run_is_not_brought_back_by_a_cancel(queue, job):
    task = await STAGES["completed"](queue, job)
    [answer] = await queue.cancel_tasks([task.id], force=True)
    assert (answer.status, answer.problem) == ("completed", "PJ006")
    assert await queue.list_tasks(status="cancelled") == []


async def test_scheduled_tasks_can_be_brought_forward_together(queue, job):
    made = [(await queue.submit_task(job, delay=timedelta(hours=1))).task_id for _ in range(3)]
    assert {answer.problem for answer in await queue.retry_tasks(made)} == {None}
    assert {(await queue.get_task(task_id)).phase for task_id in made} == {"due"}
