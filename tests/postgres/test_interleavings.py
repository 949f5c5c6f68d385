"""Two connections, one task: one winner, no deadlock, whoever comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidTransition, LeaseLost
from tests.postgres.stage import JOB

MINUTE = timedelta(minutes=1)


async def status(queue, lease):
    return (await queue.get_task(lease.task_id)).status


# complete and sweep


async def test_a_sweep_passes_by_a_task_that_is_being_completed(stage, queue, lease, first, second):
    await first.queue.complete_task(lease, "done")
    await stage.advance(minutes=2)
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 0
    await second.commit()
    await first.commit()
    assert await status(queue, lease) == "completed"


async def test_a_sweep_takes_a_lapsed_task_whose_completion_was_rolled_back(
    stage, queue, lease, first, second
):
    await first.queue.complete_task(lease, "done")
    await stage.advance(minutes=2)
    await first.rollback()
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 1
    await second.commit()
    assert await status(queue, lease) == "pending"


async def test_a_completion_that_comes_while_its_lease_is_swept_is_refused(
    stage, queue, lease, first, second
):
    await stage.advance(minutes=2)
    assert (await first.queue.sweep("leases"))[0].changed == 1
    with pytest.raises(LeaseLost):
        await stage.soon(second.queue.complete_task(lease))
    await first.commit()
    await second.commit()
    assert await status(queue, lease) == "pending"


async def test_a_completion_waits_for_the_sweep_of_its_worker_and_is_refused(
    stage, queue, worker, first, second
):
    await queue.submit_task(JOB)
    lease = (await queue.claim_tasks(worker.id))[0]
    await stage.advance(minutes=2)
    assert (await first.queue.sweep("workers"))[0].changed == 1
    completion = await stage.waits(second, second.queue.complete_task(lease), behind=first)
    await first.commit()
    with pytest.raises(LeaseLost):
        await completion
    await second.commit()
    assert (await queue.get_task(lease.task_id)).error == "Worker disconnected"


async def test_the_sweep_of_a_worker_waits_for_its_completion(stage, queue, worker, first, second):
    await queue.submit_task(JOB)
    lease = (await queue.claim_tasks(worker.id))[0]
    await stage.advance(minutes=2)
    await first.queue.complete_task(lease, "done")
    sweep = await stage.waits(second, second.queue.sweep("workers"), behind=first)
    await first.commit()
    assert (await sweep)[0].changed == 1
    await second.commit()
    assert await status(queue, lease) == "completed"


# renew and sweep


async def test_a_sweep_passes_by_a_lease_that_is_being_renewed(stage, queue, lease, first, second):
    await stage.advance(seconds=50)
    await first.queue.renew_task(lease, MINUTE)
    await stage.advance(seconds=20)
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 0
    await first.commit()
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 0
    await second.commit()
    assert (await queue.complete_task(lease)).status == "completed"


async def test_a_renewal_that_was_rolled_back_saves_nothing(stage, queue, lease, first, second):
    await stage.advance(seconds=50)
    await first.queue.renew_task(lease, MINUTE)
    await stage.advance(seconds=20)
    await first.rollback()
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 1
    await second.commit()
    with pytest.raises(LeaseLost):
        await queue.renew_task(lease, MINUTE)


async def test_a_renewal_that_comes_while_its_lease_is_swept_is_refused(stage, queue, lease, first, second):
    await stage.advance(minutes=2)
    await first.queue.sweep("leases")
    with pytest.raises(LeaseLost):
        await stage.soon(second.queue.renew_task(lease, MINUTE))
    await first.commit()
    assert await status(queue, lease) == "pending"


# cancel and others


async def test_a_cancel_waits_for_a_completion_and_loses(stage, queue, lease, first, second):
    await first.queue.complete_task(lease, "done")
    cancel = await stage.waits(second, second.queue.cancel_task(lease.task_id), behind=first)
    await first.commit()
    with pytest.raises(InvalidTransition, match="completed"):
        await cancel
    assert await status(queue, lease) == "completed"


@pytest.mark.parametrize(("force", "expected"), [(False, "running"), (True, "cancelled")])
async def test_a_cancel_wins_over_a_completion_that_was_rolled_back(
    stage, queue, lease, *, first, second, force, expected
):
    await queue.start_task(lease)
    await first.queue.complete_task(lease, "done")
    cancel = await stage.waits(second, second.queue.cancel_task(lease.task_id, force=force), behind=first)
    await first.rollback()
    assert (await cancel).status == expected
    await second.commit()
    assert await status(queue, lease) == expected


async def test_a_completion_waits_for_a_request_to_stop_and_may_still_finish(
    stage, queue, lease, first, second
):
    await first.queue.cancel_task(lease.task_id)
    completion = await stage.waits(second, second.queue.complete_task(lease, "done"), behind=first)
    await first.commit()
    assert (await completion).status == "completed"
    await second.commit()
    assert await status(queue, lease) == "completed"


async def test_a_completion_waits_for_a_cancel_by_force_and_is_refused(stage, queue, lease, first, second):
    await first.queue.cancel_task(lease.task_id, force=True)
    completion = await stage.waits(second, second.queue.complete_task(lease, "done"), behind=first)
    await first.commit()
    with pytest.raises(LeaseLost):
        await completion
    assert await status(queue, lease) == "cancelled"


async def test_a_release_waits_for_a_request_to_stop_and_ends_the_task(stage, queue, lease, first, second):
    await first.queue.cancel_task(lease.task_id, reason="not needed")
    release = await stage.waits(second, second.queue.release_task(lease), behind=first)
    await first.commit()
    assert (await release).status == "cancelled"
    await second.commit()
    assert (await queue.get_task(lease.task_id)).reason == "not needed"


@pytest.mark.parametrize("force", [False, True])
async def test_a_cancel_waits_for_a_release_and_cancels_what_is_pending_again(
    stage, queue, lease, *, first, second, force
):
    await first.queue.release_task(lease)
    cancel = await stage.waits(second, second.queue.cancel_task(lease.task_id, force=force), behind=first)
    await first.commit()
    assert (await cancel).status == "cancelled"
    await second.commit()
    assert await status(queue, lease) == "cancelled"


@pytest.mark.parametrize("force", [False, True])
async def test_a_cancel_waits_for_a_failure_and_cancels_what_would_be_retried(
    stage, queue, lease, *, first, second, force
):
    await first.queue.fail_task(lease, "broken")
    cancel = await stage.waits(second, second.queue.cancel_task(lease.task_id, force=force), behind=first)
    await first.commit()
    assert (await cancel).status == "cancelled"
    await second.commit()
    assert await status(queue, lease) == "cancelled"


@pytest.mark.parametrize("verb", ["cancel_task", "ignore_task", "retry_task"])
async def test_a_task_that_is_being_promoted_is_not_missed(stage, queue, *, first, second, verb):
    submitted = (await queue.submit_task(JOB, delay=MINUTE)).task_id
    await stage.advance(minutes=2)
    assert (await first.queue.sweep("scheduled"))[0].changed == 1
    step = await stage.waits(second, getattr(second.queue, verb)(submitted), behind=first)
    await first.commit()
    if verb == "retry_task":
        # It is due now, which is all a retry could have done.
        with pytest.raises(InvalidTransition, match="pending"):
            await step
    else:
        assert (await step).status == {"cancel_task": "cancelled", "ignore_task": "ignored"}[verb]
        await second.commit()


async def test_a_cancel_waits_for_a_claim_and_asks_its_worker_to_stop(stage, queue, first, second):
    submitted = (await queue.submit_task(JOB)).task_id
    (lease,) = await first.queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    cancel = await stage.waits(second, second.queue.cancel_task(submitted), behind=first)
    await first.commit()
    shown = await cancel
    assert (shown.status, shown.cancel_requested_at is None) == ("claimed", False)
    await second.commit()
    assert (await queue.renew_task(lease, MINUTE)).cancel_requested


async def test_a_claim_passes_by_a_task_that_is_being_cancelled(stage, queue, first, second):
    ids = [item.task_id for item in await queue.submit_tasks(JOB, [{}, {}])]
    await first.queue.cancel_task(ids[0])
    leases = await stage.soon(
        second.queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=2)
    )
    assert [lease.task_id for lease in leases] == ids[1:]


async def test_of_two_retries_at_once_one_is_refused(stage, queue, lease, first, second):
    await queue.fail_task(lease, "broken", retryable=False)
    await first.queue.retry_task(lease.task_id)
    retry = await stage.waits(second, second.queue.retry_task(lease.task_id), behind=first)
    await first.commit()
    with pytest.raises(InvalidTransition, match="pending"):
        await retry
    assert len(await queue.list_attempts(lease.task_id)) == 1


async def test_an_ignore_waits_for_a_retry_and_puts_aside_what_is_pending_again(
    stage, queue, lease, first, second
):
    await queue.fail_task(lease, "broken", retryable=False)
    await first.queue.retry_task(lease.task_id)
    ignore = await stage.waits(second, second.queue.ignore_task(lease.task_id), behind=first)
    await first.commit()
    assert (await ignore).status == "ignored"
    await second.commit()
    assert await status(queue, lease) == "ignored"


# claim and others


async def test_two_claims_at_once_take_different_tasks(stage, queue, first, second):
    ids = [item.task_id for item in await queue.submit_tasks(JOB, [{}] * 4)]
    wish = {"lease": MINUTE, "in_room": "@global", "quantity": 2}
    mine = await first.queue.claim_tasks(holder="first", **wish)
    theirs = await stage.soon(second.queue.claim_tasks(holder="second", **wish))
    await second.commit()
    await first.commit()
    assert [lease.task_id for lease in mine + theirs] == ids


async def test_a_claim_finds_nothing_while_another_holds_the_last_task(stage, queue, first, second):
    submitted = (await queue.submit_task(JOB)).task_id
    wish = {"lease": MINUTE, "in_room": "@global"}
    await first.queue.claim_tasks(holder="first", **wish)
    assert await stage.soon(second.queue.claim_tasks(holder="second", **wish)) == []
    await first.rollback()
    (lease,) = await stage.soon(second.queue.claim_tasks(holder="second", **wish))
    assert (lease.task_id, lease.attempt) == (submitted, 1)


async def test_a_claim_does_not_wait_for_an_archiving_and_its_work_can_be_finished(
    stage, queue, first, second
):
    await queue.submit_tasks(JOB, [{}, {}])
    wish = {"holder": "me", "lease": MINUTE, "in_room": "@global"}
    await first.queue.archive_job(JOB)
    (lease,) = await stage.soon(second.queue.claim_tasks(**wish))
    await first.commit()
    assert await stage.soon(second.queue.claim_tasks(**wish)) == []
    await second.commit()
    assert (await queue.complete_task(lease)).status == "completed"


async def test_an_archiving_does_not_wait_for_a_claim(stage, queue, first, second):
    await queue.submit_tasks(JOB, [{}, {}])
    wish = {"holder": "me", "lease": MINUTE, "in_room": "@global"}
    (lease,) = await first.queue.claim_tasks(**wish)
    await stage.soon(second.queue.archive_job(JOB))
    await second.commit()
    assert await stage.soon(first.queue.claim_tasks(**wish)) == []
    await first.commit()
    assert (await queue.complete_task(lease)).status == "completed"


async def test_work_claimed_while_its_worker_is_retired_is_not_lost(stage, queue, worker, first, second):
    submitted = (await queue.submit_task(JOB)).task_id
    await first.queue.claim_tasks(worker.id)
    await stage.soon(second.queue.retire_worker(worker.id))
    await second.commit()
    await first.commit()
    await queue.sweep()
    assert (await queue.get_task(submitted)).status == "pending"


# batches


async def test_completions_of_the_same_tasks_in_opposite_order_do_not_deadlock(stage, queue, first, second):
    await queue.submit_tasks(JOB, [{}] * 3)
    leases = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=3)
    # Somebody holds the middle one, so that both batches stop half-way.
    holder = await stage.enter()
    await holder.queue.renew_task(leases[1], 2 * MINUTE)
    mine = await stage.waits(first, first.queue.complete_tasks(leases), behind=holder)
    theirs = await stage.waits(second, second.queue.complete_tasks(leases[::-1]), behind=first)
    await holder.commit()
    assert {item.status for item in await mine} == {"completed"}
    await first.commit()
    assert [item.status for item in await theirs] == ["completed"] * 3
    await second.commit()


# a step of an operator and a promotion


@pytest.mark.parametrize("step", ["cancel_task", "ignore_task"])
async def test_a_task_that_comes_due_under_an_operators_hands_is_found_in_its_lane(
    stage, queue, first, second, step
):
    task = await queue.submit_task(JOB, delay=MINUTE)
    await stage.advance(minutes=2)
    assert (await first.queue.sweep("scheduled"))[0].changed == 1
    # Not in its lane yet as far as the second can see, and no longer scheduled once the first has committed.
    acting = await stage.waits(second, getattr(second.queue, step)(task.task_id), behind=first)
    await first.commit()
    await stage.soon(acting)
    await second.commit()
    assert (await queue.get_task(task.task_id)).status == {
        "cancel_task": "cancelled",
        "ignore_task": "ignored",
    }[step]


async def test_one_look_of_take_pending_follows_a_task_into_its_lane(stage, queue, first, second):
    """The verbs above look again by themselves; `retry_cleanup` does not."""
    task = await queue.submit_task(JOB, delay=MINUTE)
    await stage.advance(minutes=2)
    await first.queue.sweep("scheduled")
    await second.connection.execute("set local search_path = pg_catalog, pgjobs, pg_temp")
    taking = await stage.waits(
        second,
        second.connection.fetch("select task_id from pgjobs._take_pending(array[$1::bigint])", task.task_id),
        behind=first,
    )
    await first.commit()
    assert [row["task_id"] for row in await stage.soon(taking)] == [task.task_id]
    await second.rollback()
