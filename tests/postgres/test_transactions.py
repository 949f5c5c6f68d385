"""Verbs in the caller's transaction: they happen if and only if it commits."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, LeaseLost, TaskNotFound
from tests.postgres.stage import JOB

MINUTE = timedelta(minutes=1)
WISH = {"holder": "me", "lease": MINUTE, "in_room": "@global"}


@pytest.fixture
async def ledger(stage):
    """A table of the application's own."""
    await stage.watcher.execute("create table ledger (entry text)")

    async def entries():
        return [row["entry"] for row in await stage.watcher.fetch("select entry from ledger")]

    return entries


async def test_a_task_exists_once_its_transaction_has_committed(queue, first):
    submitted = await first.queue.submit_task(JOB, {"n": 1})
    assert (await first.queue.get_task(submitted.task_id)).payload == {"n": 1}
    with pytest.raises(TaskNotFound):
        await queue.get_task(submitted.task_id)
    assert await queue.claim_tasks(**WISH) == []
    await first.commit()
    assert [lease.task_id for lease in await queue.claim_tasks(**WISH)] == [submitted.task_id]


async def test_a_task_never_existed_when_its_transaction_rolls_back(queue, first):
    submitted = await first.queue.submit_task(JOB, idempotency_key="once")
    later = await first.queue.submit_task(JOB, delay=MINUTE)
    await first.rollback()
    for task_id in (submitted.task_id, later.task_id):
        with pytest.raises(TaskNotFound):
            await queue.get_task(task_id)
    assert await queue.list_tasks() == []
    assert (await queue.submit_task(JOB, idempotency_key="once")).is_new


async def test_one_key_twice_in_one_transaction_is_one_task(queue, first):
    mine = await first.queue.submit_task(JOB, idempotency_key="once")
    again = await first.queue.submit_task(JOB, idempotency_key="once")
    await first.commit()
    assert (mine.task_id, again.is_new) == (again.task_id, False)
    assert len(await queue.list_tasks()) == 1


async def test_a_task_and_the_work_around_it_share_their_fate(queue, stage, ledger):
    for is_kept in (True, False):
        actor = await stage.enter()
        await actor.connection.execute("insert into ledger values ('order')")
        await actor.queue.submit_task(JOB)
        await (actor.commit() if is_kept else actor.rollback())
    assert len(await queue.list_tasks()) == len(await ledger()) == 1


async def test_a_savepoint_takes_back_only_what_came_after_it(queue, first):
    kept = await first.queue.submit_task(JOB)
    savepoint = first.connection.transaction()
    await savepoint.start()
    await first.queue.submit_task(JOB)
    await savepoint.rollback()
    await first.commit()
    assert [task.id for task in await queue.list_tasks()] == [kept.task_id]


async def test_a_completion_commits_with_the_handlers_work(queue, lease, first, ledger):
    await queue.start_task(lease)
    await first.connection.execute("insert into ledger values ('invoice')")
    assert (await first.queue.complete_task(lease, {"ok": True})).status == "completed"
    before = await queue.get_task(lease.task_id)
    assert (before.status, before.result, await ledger()) == ("running", None, [])
    await first.commit()
    after = await queue.get_task(lease.task_id)
    assert (after.status, after.result, await ledger()) == ("completed", {"ok": True}, ["invoice"])


@pytest.mark.parametrize("verb", ["complete", "fail", "release", "cancel", "force", "renew", "start"])
async def test_a_rollback_leaves_the_lease_as_it_was(queue, lease, first, ledger, verb):
    before = await queue.get_task(lease.task_id)
    bound = first.queue
    await first.connection.execute("insert into ledger values ('invoice')")
    await {
        "complete": lambda: bound.complete_task(lease, "done"),
        "fail": lambda: bound.fail_task(lease, "broken"),
        "release": lambda: bound.release_task(lease),
        "cancel": lambda: bound.cancel_task(lease.task_id),
        "force": lambda: bound.cancel_task(lease.task_id, force=True),
        "renew": lambda: bound.renew_task(lease, 30 * MINUTE),
        "start": lambda: bound.start_task(lease),
    }[verb]()
    assert await bound.get_task(lease.task_id) != before
    await first.rollback()
    assert await queue.get_task(lease.task_id) == before
    assert (await queue.list_attempts(lease.task_id), await ledger()) == ([], [])
    assert (await queue.complete_task(lease, "done")).status == "completed"


async def test_a_claim_that_is_rolled_back_uses_no_attempt(queue, first):
    submitted = (await queue.submit_task(JOB)).task_id
    (lost,) = await first.queue.claim_tasks(**WISH)
    await first.rollback()
    assert (await queue.get_task(submitted)).attempt == 0
    (lease,) = await queue.claim_tasks(**WISH)
    assert (lease.task_id, lease.attempt) == (submitted, 1)
    assert lease.token != lost.token
    with pytest.raises(LeaseLost):
        await queue.complete_task(lost)


async def test_a_session_whose_claim_was_rolled_back_finds_the_task_again(queue, stage, first):
    ids = [item.task_id for item in await queue.submit_tasks(JOB, [{}] * 3)]
    for _ in range(3):
        leases = await first.queue.claim_tasks(**WISH, quantity=2)
        assert [lease.task_id for lease in leases] == ids[:2]
        await first.rollback()
        first.transaction = first.connection.transaction()
        await first.transaction.start()


async def test_a_lease_that_lapses_inside_a_transaction_is_lost_there_too(queue, lease, stage, first, ledger):
    await first.connection.execute("insert into ledger values ('invoice')")
    await stage.advance(minutes=2)
    with pytest.raises(LeaseLost):
        await first.queue.complete_task(lease)
    await first.rollback()
    assert ((await queue.get_task(lease.task_id)).status, await ledger()) == ("claimed", [])


async def test_a_lost_lease_leaves_the_transaction_usable(queue, lease, stage, first):
    await stage.advance(minutes=2)
    with pytest.raises(LeaseLost):
        await first.queue.complete_task(lease)
    submitted = await first.queue.submit_task(JOB)
    await first.commit()
    assert (await queue.get_task(submitted.task_id)).status == "pending"


async def test_a_refused_verb_takes_its_transaction_down_but_not_a_savepoint_around_it(queue, first):
    kept = await first.queue.submit_task(JOB)
    with pytest.raises(JobNotFound):
        async with first.connection.transaction():
            await first.queue.submit_task("@global:tests:Nothing")
    await first.commit()
    assert [task.id for task in await queue.list_tasks()] == [kept.task_id]


async def test_a_whole_life_in_one_transaction(queue, first):
    bound = first.queue
    submitted = (await bound.submit_task(JOB, {"n": 1})).task_id
    (lease,) = await bound.claim_tasks(**WISH)
    await bound.start_task(lease)
    await bound.report_progress([lease], [{"done": 0.5}])
    await bound.renew_task(lease, 2 * MINUTE)
    await bound.complete_task(lease, {"n": 2})
    await first.commit()
    task = await queue.get_task(submitted)
    assert (task.status, task.attempt, task.result) == ("completed", 1, {"n": 2})


async def test_events_tell_of_committed_changes_only(queue, lease, stage, first):
    await first.queue.fail_task(lease, "broken", retryable=False)
    assert await queue.list_events(of_task=lease.task_id) == []
    await first.rollback()
    await queue.fail_task(lease, "broken indeed", retryable=False)
    await stage.settle()
    assert [event.message for event in await queue.list_events(of_task=lease.task_id)] == ["broken indeed"]


@pytest.mark.parametrize("isolation", ["repeatable_read", "serializable"])
async def test_stricter_transactions_work_as_well(queue, lease, database_url, isolation):
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction(isolation=isolation):
            bound = queue.bound_to(connection)
            submitted = await bound.submit_task(JOB)
            assert (await bound.complete_task(lease, "done")).status == "completed"
    finally:
        await connection.close()
    assert (await queue.get_task(lease.task_id)).result == "done"
    assert (await queue.get_task(submitted.task_id)).status == "pending"


async def test_a_bound_queue_cannot_wait_for_what_its_own_transaction_hides(queue, lease, first):
    with pytest.raises(InvalidArgument):
        await first.queue.wait_for(lease.task_id, timeout=1)
