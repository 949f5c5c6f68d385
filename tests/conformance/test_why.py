"""`why` names the true reason: the first check that is not ok, in words, with what would change it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.conformance.stages import STAGES, claim, claim_all, pending

pytestmark = pytest.mark.postgres_only

ORDER = {
    "pending": [
        "exists",
        "ended",
        "ignored",
        "due",
        "archived",
        "paused",
        "limit",
        "workers",
        "heartbeats",
        "line",
    ],
    "held": ["exists", "ended", "ignored", "cancellation", "lease"],
    "ended": ["exists", "ended"],
    "ignored": ["exists", "ended", "ignored"],
}
CHECKS_OF = {
    "pending": "pending",
    "scheduled": "pending",
    "retrying": "pending",
    "claimed": "held",
    "running": "held",
    "completed": "ended",
    "failed": "ended",
    "cancelled": "ended",
    "ignored": "ignored",
}


async def reason_of(queue, task_id):
    """The first check that is not ok, or none."""
    return next((reason for reason in await queue.why(task_id) if not reason.is_ok), None)


@pytest.mark.parametrize("stage", STAGES)
async def test_checks_come_in_order_and_stop_where_the_rest_is_pointless(queue, job, stage):
    task = await STAGES[stage](queue, job)
    reasons = await queue.why(task.id)
    assert [reason.checked for reason in reasons] == ORDER[CHECKS_OF[stage]]
    assert [reason.step for reason in reasons] == list(range(1, len(reasons) + 1))
    assert all(reason.answer.endswith(".") for reason in reasons)
    assert [reason.advice for reason in reasons if reason.is_ok] == [None] * sum(r.is_ok for r in reasons)


async def test_a_task_that_never_was_does_not_exist(queue, job):
    [reason] = await queue.why(999_999)
    assert (reason.checked, reason.is_ok) == ("exists", False)
    assert "999999" in reason.answer


async def test_a_task_is_known_by_its_public_id_too(queue, job):
    task = await pending(queue, job)
    uuid = (await queue.get_task(task.id)).uuid
    [exists, *_] = await queue.why(task_uuid=uuid)
    assert exists.is_ok
    assert f"Task {uuid} of {job}" in exists.answer


async def test_a_delayed_task_is_not_due_yet(queue, clock, worker, job):
    task = await queue.submit_task(job, delay=timedelta(minutes=30))
    await clock.advance(minutes=10)
    await queue.heartbeat_worker(worker.id)
    reason = await reason_of(queue, task.task_id)
    assert (reason.checked, reason.answer) == ("due", "It is due in 20 min.")
    assert "retry_task" in reason.advice


async def test_a_task_backs_off_after_an_error(queue, worker, job):
    task = await STAGES["retrying"](queue, job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "due"
    assert reason.answer.startswith("Attempt 1 of 3 failed (broken); the next is due in ")


async def test_a_paused_job_is_passed_by(queue, worker, job):
    task = await pending(queue, job)
    await queue.pause_job(job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "paused"
    assert reason.answer.startswith(f"Job {job} was paused ")
    assert "resume_job" in reason.advice
    await queue.resume_job(job)
    assert await reason_of(queue, task.id) is None


async def test_an_archived_job_yields_nothing(queue, worker, job):
    task = await pending(queue, job)
    await queue.archive_job(job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "archived"
    assert reason.answer.startswith(f"Job {job} was archived ")
    assert "unarchive_job" in reason.advice


async def test_nobody_is_registered_for_the_job(queue, job):
    task = await pending(queue, job)
    reason = await reason_of(queue, task.id)
    assert (reason.checked, reason.answer) == ("workers", f"No worker is registered for job {job}.")


async def test_all_workers_of_the_job_are_silent(queue, clock, worker, job):
    task = await pending(queue, job)
    await clock.advance(minutes=5)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "heartbeats"
    assert reason.answer == "All its workers are silent; the last heartbeat came 5 min ago."
    await queue.heartbeat_worker(worker.id)
    assert await reason_of(queue, task.id) is None


async def test_nobody_is_registered_any_more_after_a_worker_did_some_work_and_left(queue, worker, job):
    await pending(queue, job)
    await queue.complete_tasks(await queue.claim_tasks(worker.id))
    await queue.sweep()
    await queue.retire_worker(worker.id)
    await queue.register_job(*job.split(":"))
    task = await pending(queue, job)
    reason = await reason_of(queue, task.id)
    assert (reason.checked, reason.answer) == ("workers", f"No worker is registered for job {job}.")


async def test_a_worker_that_did_some_work_and_was_killed_while_it_waited_is_silent(
    queue, clock, worker, job
):
    await pending(queue, job)
    await queue.complete_tasks(await queue.claim_tasks(worker.id))
    await queue.mark_waiting(worker.id)
    await queue.sweep("rollups")
    await clock.advance(minutes=5)
    task = await pending(queue, job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "heartbeats"
    assert reason.answer == "All its workers are silent; the last heartbeat came 5 min ago."


async def test_somebody_without_a_name_waits_for_it(queue, clock, job):
    task = await queue.submit_task(job, delay=timedelta(minutes=1))
    job_id = (await queue.get_job(job)).id
    await clock.advance(minutes=2)
    await queue.mark_waiting(job_ids=[job_id])
    assert await reason_of(queue, task.task_id) is None
    await clock.advance(minutes=2)
    assert (await reason_of(queue, task.task_id)).checked == "workers"


async def test_somebody_without_a_name_ended_one_lately(queue, clock, job):
    await STAGES["completed"](queue, job)
    task = await pending(queue, job)
    assert await reason_of(queue, task.id) is None
    await clock.advance(minutes=11)
    assert (await reason_of(queue, task.id)).checked == "workers"


async def test_others_come_before_it(queue, worker, job):
    for _ in range(3):
        await pending(queue, job)
    task = await pending(queue, job)
    reason = await reason_of(queue, task.id)
    assert (reason.checked, reason.answer) == ("line", "3 tasks of its job come before it.")
    await claim_all(queue, job, quantity=2)
    assert (await reason_of(queue, task.id)).answer == "One task of its job comes before it."
    await claim(queue, job)
    assert await reason_of(queue, task.id) is None


async def test_an_urgent_task_comes_before_it(queue, worker, job):
    task = await pending(queue, job)
    await queue.submit_task(job, priority=1)
    assert (await reason_of(queue, task.id)).answer == "One task of its job comes before it."


async def test_a_worker_holds_it(queue, worker, job):
    task = await pending(queue, job)
    [lease] = await queue.claim_tasks(worker.id)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "lease"
    assert reason.answer.startswith("tester has held it for ")
    assert reason.answer.endswith("attempt 1 of 3, as long as its heartbeats come.")
    await queue.start_task(lease)
    assert (await reason_of(queue, task.id)).answer.startswith("tester has worked on it for ")


async def test_somebody_holds_it_under_a_lease(queue, clock, job):
    task = await STAGES["claimed"](queue, job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "lease"
    assert "somebody has held it" in reason.answer
    assert "leased for 60 s." in reason.answer
    await clock.advance(minutes=6)
    lapsed = await reason_of(queue, task.id)
    assert lapsed.answer == "The lease of somebody lapsed 5 min ago; the next sweep ends it."
    assert "sweep" in lapsed.advice


async def test_its_worker_has_gone_silent(queue, clock, worker, job):
    task = await pending(queue, job)
    await queue.claim_tasks(worker.id)
    await clock.advance(minutes=5)
    reason = await reason_of(queue, task.id)
    assert (reason.checked, reason.answer) == ("lease", "tester holds it and has been silent for 5 min.")


async def test_its_holder_is_asked_to_stop(queue, clock, job):
    task = await STAGES["running"](queue, job)
    await queue.cancel_task(task.id, reason="too late")
    reason = await reason_of(queue, task.id)
    assert reason.checked == "cancellation"
    assert reason.answer.startswith("Cancellation was requested ")
    assert reason.answer.endswith(" ago: too late. somebody stops at its next heartbeat.")
    assert "force" in reason.advice


async def test_an_operator_ignored_it(queue, job):
    task = await pending(queue, job)
    await queue.ignore_task(task.id, actor="ann", reason="known bug")
    reason = await reason_of(queue, task.id)
    assert reason.checked == "ignored"
    assert reason.answer.startswith("ann ignored it ")
    assert reason.answer.endswith(" ago: known bug.")
    assert "unignore_task" in reason.advice


@pytest.mark.parametrize(
    ("stage", "start", "end", "advice"),
    [
        ("completed", "It completed ", " ago.", None),
        ("failed", "It failed ", " ago: broken.", "retry_task"),
        ("cancelled", "It was cancelled ", " ago.", "retry_task"),
    ],
)
async def test_it_has_ended(queue, job, stage, start, end, advice):
    task = await STAGES[stage](queue, job)
    reason = await reason_of(queue, task.id)
    assert reason.checked == "ended"
    assert reason.answer.startswith(start)
    assert reason.answer.endswith(end)
    assert (reason.advice is None) if advice is None else (advice in reason.advice)


async def test_nothing_keeps_the_next_task_of_a_served_job(queue, worker, job):
    task = await pending(queue, job)
    assert await reason_of(queue, task.id) is None
    [lease] = await queue.claim_tasks(worker.id)
    assert lease.task_id == task.id


async def test_a_job_that_holders_without_a_name_claim_from_is_served(queue, job):
    await STAGES["claimed"](queue, job)
    task = await pending(queue, job)
    assert await reason_of(queue, task.id) is None


async def test_a_task_is_called_by_its_public_id(queue, job):
    task = await queue.get_task((await pending(queue, job)).id)
    exists = (await queue.why(task.id))[0]
    assert exists.answer.startswith(f"Task {task.uuid} of {job} was submitted ")
