"""Two connections, one job, key or worker: one winner, no deadlock, whoever comes first."""

from __future__ import annotations

import pytest

from pgjobs.errors import SchemaConflict, WorkerNotFound
from tests.postgres.stage import JOB

# register and register, submit and submit


async def test_a_second_first_registration_waits_and_finds_the_job(stage, queue, first, second):
    mine = await first.queue.register_job("lab", "tests", "New")
    other = await stage.waits(second, second.queue.register_job("lab", "tests", "New"), behind=first)
    await first.commit()
    assert (mine.registered, (await other).registered) == ("created", "unchanged")
    assert (await other).job_id == mine.job_id


async def test_a_second_first_registration_makes_the_job_when_the_first_rolls_back(
    stage, queue, first, second
):
    await first.queue.register_job("lab", "tests", "New")
    other = await stage.waits(second, second.queue.register_job("lab", "tests", "New"), behind=first)
    await first.rollback()
    assert (await other).registered == "created"
    await second.commit()
    assert (await queue.get_job("lab:tests:New")).id == (await other).job_id


async def test_a_second_first_registration_with_another_schema_is_a_conflict(stage, queue, first, second):
    await first.queue.register_job("lab", "tests", "New", schema={"type": "object"})
    other = await stage.waits(second, second.queue.register_job("lab", "tests", "New"), behind=first)
    await first.commit()
    with pytest.raises(SchemaConflict):
        await other


async def test_a_second_submission_under_one_key_waits_and_gets_the_first_task(stage, queue, first, second):
    mine = await first.queue.submit_task(JOB, idempotency_key="once")
    other = await stage.waits(second, second.queue.submit_task(JOB, idempotency_key="once"), behind=first)
    await first.commit()
    assert (await other).task_id == mine.task_id
    assert (mine.is_new, (await other).is_new) == (True, False)
    await second.commit()
    assert len(await queue.list_tasks()) == 1


async def test_a_second_submission_under_one_key_counts_when_the_first_rolls_back(
    stage, queue, first, second
):
    await first.queue.submit_task(JOB, {"by": "first"}, idempotency_key="once")
    other = await stage.waits(
        second, second.queue.submit_task(JOB, {"by": "second"}, idempotency_key="once"), behind=first
    )
    await first.rollback()
    assert (await other).is_new
    await second.commit()
    assert (await queue.get_task((await other).task_id)).payload == {"by": "second"}


async def test_batches_with_the_same_keys_in_opposite_order_do_not_deadlock(stage, queue, first, second):
    holder = await stage.enter()
    await holder.queue.submit_task(JOB, idempotency_key="b")
    mine = await stage.waits(
        first, first.queue.submit_tasks(JOB, [{}] * 3, idempotency_keys=["a", "b", "c"]), behind=holder
    )
    theirs = await stage.waits(
        second, second.queue.submit_tasks(JOB, [{}] * 3, idempotency_keys=["c", "b", "a"]), behind=first
    )
    await holder.commit()
    assert [item.is_new for item in await mine] == [True, False, True]
    await first.commit()
    assert [item.task_id for item in await theirs] == [item.task_id for item in reversed(await mine)]


# retire and heartbeat


async def test_a_heartbeat_waits_for_a_retirement_and_is_told(stage, queue, worker, first, second):
    await first.queue.retire_worker(worker.id)
    heartbeat = await stage.waits(second, second.queue.heartbeat_worker(worker.id), behind=first)
    await first.commit()
    with pytest.raises(WorkerNotFound):
        await heartbeat


async def test_a_retirement_waits_for_a_heartbeat_and_goes_on(stage, queue, worker, first, second):
    await first.queue.heartbeat_worker(worker.id)
    retirement = await stage.waits(second, second.queue.retire_worker(worker.id), behind=first)
    await first.commit()
    await retirement
    await second.commit()
    assert await queue.list_workers() == []


async def test_of_two_retirements_at_once_one_finds_nothing_left_to_do(stage, queue, worker, first, second):
    await queue.submit_task(JOB)
    await queue.claim_tasks(worker.id)
    await first.queue.retire_worker(worker.id)
    other = await stage.waits(second, second.queue.retire_worker(worker.id), behind=first)
    await first.commit()
    answer = (await other, await second.commit())[0]
    assert (answer.failed, answer.retried, answer.retired_jobs) == (0, 0, 0)
    assert len(await queue.list_attempts((await queue.list_tasks())[0].id)) == 1


async def test_a_heartbeat_in_flight_keeps_its_worker_from_the_sweep(stage, queue, worker, first, second):
    await stage.advance(minutes=2)
    await first.queue.heartbeat_worker(worker.id)
    assert (await stage.soon(second.queue.sweep("workers")))[0].changed == 0
    await first.commit()
    assert (await stage.soon(second.queue.sweep("workers")))[0].changed == 0
    await second.commit()
    assert [shown.id for shown in await queue.list_workers()] == [worker.id]


@pytest.mark.parametrize("is_kept", [False, True])
async def test_a_heartbeat_waits_for_the_sweep_of_its_worker(stage, queue, worker, *, first, second, is_kept):
    await stage.advance(minutes=2)
    await first.queue.sweep("workers")
    heartbeat = await stage.waits(second, second.queue.heartbeat_worker(worker.id), behind=first)
    if is_kept:
        await first.rollback()
        assert (await heartbeat).id == worker.id
        return
    await first.commit()
    with pytest.raises(WorkerNotFound):
        await heartbeat
