"""Operator verbs: every status, every verb, allowed or refused with a conflict that names the status."""

from __future__ import annotations

import pytest

from pgjobs.errors import InvalidArgument, InvalidTransition, TaskNotFound
from tests.conformance.stages import STAGES, STATUS_OF, claim, claim_all

VERBS = {
    "cancel": lambda queue, task_id, **told: queue.cancel_task(task_id, **told),
    "force": lambda queue, task_id, **told: queue.cancel_task(task_id, force=True, **told),
    "retry": lambda queue, task_id, **told: queue.retry_task(task_id, **told),
    "ignore": lambda queue, task_id, **told: queue.ignore_task(task_id, **told),
    "unignore": lambda queue, task_id, **told: queue.unignore_task(task_id, **told),
}
# What a verb makes of a task; what is not here is refused.
MADE_OF = {
    ("pending", "cancel"): "cancelled",
    ("pending", "force"): "cancelled",
    ("pending", "ignore"): "ignored",
    ("scheduled", "cancel"): "cancelled",
    ("scheduled", "force"): "cancelled",
    ("scheduled", "retry"): "pending",
    ("scheduled", "ignore"): "ignored",
    ("retrying", "cancel"): "cancelled",
    ("retrying", "force"): "cancelled",
    ("retrying", "retry"): "pending",
    ("retrying", "ignore"): "ignored",
    ("claimed", "cancel"): "claimed",
    ("claimed", "force"): "cancelled",
    ("running", "cancel"): "running",
    ("running", "force"): "cancelled",
    ("failed", "retry"): "pending",
    ("failed", "ignore"): "ignored",
    ("cancelled", "retry"): "pending",
    ("ignored", "retry"): "pending",
    ("ignored", "unignore"): "pending",
}
REFUSED = [(stage, verb) for stage in STAGES for verb in VERBS if (stage, verb) not in MADE_OF]


@pytest.mark.parametrize(("stage", "verb"), MADE_OF)
async def test_an_operator_changes_what_the_status_allows(queue, job, stage, verb):
    task = await STAGES[stage](queue, job)
    shown = await VERBS[verb](queue, task.id, actor="operator", reason="because")
    assert shown.status == MADE_OF[stage, verb]
    assert shown == type(shown).of(vars_of(await queue.get_task(task.id)))


@pytest.mark.parametrize(("stage", "verb"), REFUSED)
async def test_an_operator_is_refused_with_the_status_named(queue, job, stage, verb, nothing_changes):
    task = await STAGES[stage](queue, job)
    async with nothing_changes():
        with pytest.raises(InvalidTransition, match=STATUS_OF[stage]) as refused:
            await VERBS[verb](queue, task.id, actor="operator", reason="because")
    assert STATUS_OF[stage] in (refused.value.detail or "")
    assert refused.value.hint


@pytest.mark.parametrize("verb", VERBS)
async def test_unknown_tasks_are_told_apart_from_conflicts(queue, job, verb, nothing_changes):
    async with nothing_changes():
        with pytest.raises(TaskNotFound):
            await VERBS[verb](queue, 999_999)


@pytest.mark.parametrize(("stage", "verb"), [pair for pair, status in MADE_OF.items() if status == "pending"])
async def test_a_task_brought_back_is_due_with_no_attempts_used(queue, job, stage, verb):
    task = await STAGES[stage](queue, job)
    shown = await VERBS[verb](queue, task.id)
    assert (shown.phase, shown.attempt, shown.error, shown.error_kind) == ("due", 0, None, None)
    assert (shown.is_ended, shown.reason, shown.started_at) == (False, None, None)
    lease = await claim(queue, job)
    assert (lease.task_id, lease.attempt) == (task.id, 1)
    assert (await queue.complete_task(lease)).status == "completed"


@pytest.mark.parametrize("stage", ["failed", "retrying"])
async def test_a_retry_keeps_the_history(queue, job, stage):
    task = await STAGES[stage](queue, job)
    await queue.retry_task(task.id)
    await queue.complete_task(await claim(queue, job))
    attempts = await queue.list_attempts(task.id)
    assert [(a.attempt, a.status, a.error) for a in attempts] == [
        (1, "failed", "broken"),
        (2, "completed", None),
    ]


async def test_ignoring_a_failed_task_keeps_its_history(queue, job):
    task = await STAGES["failed"](queue, job)
    shown = await queue.ignore_task(task.id, reason="known bug")
    assert (shown.status, shown.reason, shown.is_ended) == ("ignored", "known bug", False)
    assert [a.error for a in await queue.list_attempts(task.id)] == ["broken"]


async def test_an_ignored_task_is_never_claimed(queue, clock, job):
    task = await STAGES["ignored"](queue, job)
    await clock.advance(days=100)
    await queue.sweep()
    assert await claim_all(queue, job) == []
    assert (await queue.get_task(task.id)).status == "ignored"


async def test_an_ignored_task_remembers_the_attempts_used(queue, job):
    task = await STAGES["retrying"](queue, job)
    assert (await queue.ignore_task(task.id)).attempt == 1
    assert (await queue.unignore_task(task.id)).attempt == 0


async def test_a_task_can_be_ignored_again_and_again(queue, job):
    task = await STAGES["pending"](queue, job)
    for _ in range(3):
        assert (await queue.ignore_task(task.id)).status == "ignored"
        assert (await queue.unignore_task(task.id)).status == "pending"
    assert (await claim(queue, job)).task_id == task.id


async def test_a_task_can_be_failed_and_retried_again_and_again(queue, job):
    task = await STAGES["failed"](queue, job)
    for life in range(2, 5):
        await queue.retry_task(task.id)
        await queue.fail_task(await claim(queue, job), f"life {life}", retryable=False)
    assert [a.error for a in await queue.list_attempts(task.id)] == ["broken", "life 2", "life 3", "life 4"]


@pytest.mark.parametrize(("length", "is_fine"), [(200, True), (201, False)])
async def test_a_reason_to_ignore_is_short(queue, job, length, is_fine, nothing_changes):
    task = await STAGES["pending"](queue, job)
    if is_fine:
        assert (await queue.ignore_task(task.id, reason="x" * length)).reason == "x" * length
        return
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.ignore_task(task.id, reason="x" * length)


@pytest.mark.parametrize("verb", ["retry", "unignore"])
async def test_a_task_brought_back_to_a_paused_job_waits_there(queue, job, verb):
    task = await STAGES["ignored"](queue, job)
    await queue.pause_job(job)
    await VERBS[verb](queue, task.id)
    assert await claim_all(queue, job) == []
    await queue.resume_job(job)
    assert (await claim(queue, job)).task_id == task.id


def vars_of(document):
    return {name: getattr(document, name) for name in document.__dataclass_fields__}


async def test_attempts_are_numbered_through_an_operators_retry(queue, job):
    task = await queue.submit_task(job, max_attempts=1)
    for _ in range(2):
        await queue.fail_task(await claim(queue, job), "broken")
        await queue.retry_task(task.task_id)
    assert (await queue.get_task(task.task_id)).attempt == 0
    await queue.complete_task(await claim(queue, job))
    attempts = await queue.list_attempts(task.task_id)
    assert [(attempt.attempt, attempt.status) for attempt in attempts] == [
        (1, "failed"),
        (2, "failed"),
        (3, "completed"),
    ]
    assert (await queue.get_task(task.task_id)).attempt == 1
