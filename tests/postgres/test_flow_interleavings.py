"""Durable work in two open transactions: whatever commits first, nobody waits for what has already come."""

from __future__ import annotations

import pytest

from pgjobs.errors import InvalidArgument
from tests.postgres.durable import begin, claim, claim_later, end_all, standing, submit
from tests.postgres.stage import JOB


async def test_a_parent_that_ends_while_its_child_is_submitted_releases_it(stage, queue, first, second):
    """Neither sees the other: the child would wait for ever."""
    lease = await begin(queue)
    await first.queue.complete_task(lease)
    (child,) = await submit(second.queue, lease.task_id)
    await first.commit()
    await second.commit()
    assert await standing(queue, child) == ("pending", "dependent")
    assert await claim_later(stage, queue) == [child]


async def test_a_child_that_is_submitted_while_its_parent_ends_is_released(stage, queue, first, second):
    lease = await begin(queue)
    (child,) = await submit(second.queue, lease.task_id)
    await first.queue.complete_task(lease)
    await second.commit()
    await first.commit()
    assert await claim_later(stage, queue) == [child]


async def test_a_child_is_not_lost_to_an_end_that_commits_last(stage, queue, first, second):
    """A note that is dropped as soon as its submit is over would be dropped too early."""
    await submit(queue, (await begin(queue)).task_id)
    await end_all(queue)
    await queue.sweep("waits")
    lease = await begin(queue)
    await first.queue.complete_task(lease)
    (child,) = await submit(second.queue, lease.task_id)
    await second.commit()
    for _ in range(3):
        assert await claim(queue) == []
    await first.commit()
    await stage.settle()
    assert [each.task_id for each in await claim(queue)] == [child]


async def test_a_child_is_not_lost_to_a_claim_in_a_transaction_older_than_the_end(
    stage, queue, first, second
):
    """The number of whoever sees a note first says nothing: they may have had it before the end."""
    await submit(queue, (await begin(queue)).task_id)
    await end_all(queue)
    await queue.sweep("waits")
    lease = await begin(queue)
    await second.connection.fetchval("select pg_current_xact_id()::text")
    await first.queue.complete_task(lease)
    (child,) = await submit(queue, lease.task_id)
    assert await claim(second.queue) == []
    await second.commit()
    for _ in range(3):
        assert await claim(queue) == []
    await first.commit()
    await stage.settle()
    assert [each.task_id for each in await claim(queue)] == [child]


async def test_a_child_is_not_lost_to_an_end_that_began_after_its_submit(stage, queue, first, second):
    """The end has the newest number of all, which no snapshot shows before somebody later is over."""
    lease = await begin(queue)
    (child,) = await submit(second.queue, lease.task_id)
    await first.queue.complete_task(lease)
    await second.commit()
    for _ in range(3):
        assert await claim(queue) == []
    await first.commit()
    assert await claim_later(stage, queue) == [child]


async def test_a_child_is_not_lost_to_a_claim_beside_its_submit(stage, queue, first, second):
    """Who wrote a note cannot say who has missed it: others go on missing it until it is committed."""
    lease = await begin(queue)
    (child,) = await submit(first.queue, lease.task_id)
    assert await claim(first.queue) == []
    await second.queue.complete_task(lease)
    await first.commit()
    for _ in range(3):
        assert await claim(queue) == []
    await second.commit()
    assert await claim_later(stage, queue) == [child]


async def test_a_child_that_moves_to_its_next_parent_is_not_lost_to_that_ones_end(
    stage, queue, first, second
):
    """Its move leaves a new note while an old one, kept by an open transaction, is looked at again."""
    await second.connection.fetchval("select pg_current_xact_id()::text")
    parents = await submit(queue, quantity=2)
    (child,) = await submit(queue, *parents)
    one, two = await claim(queue)
    await second.commit()
    await queue.complete_task(one)
    await first.queue.sweep("waits")
    await queue.complete_task(two)
    await first.commit()
    assert await claim_later(stage, queue) == [child]


async def test_an_end_under_an_old_snapshot_is_noted_all_the_same(stage, queue, first):
    await submit(queue, (await begin(queue)).task_id)
    await end_all(queue)
    lease = await begin(queue)
    await first.rollback()
    transaction = first.connection.transaction(isolation="repeatable_read")
    await transaction.start()
    await first.connection.fetchval("select count(*) from pgjobs.scheduled")
    (child,) = await submit(queue, lease.task_id)
    await stage.settle()
    await claim(queue)
    await first.queue.complete_task(lease)
    await transaction.commit()
    assert [each.task_id for each in await claim(queue)] == [child]


async def test_two_who_release_one_child_for_two_parents_lose_it_to_neither(stage, queue, first, second):
    parents = await submit(queue, quantity=2)
    (child,) = await submit(queue, *parents)
    one, two = await claim(queue)
    await queue.complete_task(one)
    await first.queue.sweep("waits")
    await queue.complete_task(two)
    assert await stage.soon(claim(second.queue)) == []
    await second.commit()
    await first.commit()
    assert await claim_later(stage, queue) == [child]


async def test_a_release_that_is_rolled_back_is_done_by_the_next(stage, queue, first):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    await queue.complete_task((await claim(queue))[0])
    assert [each.task_id for each in await claim(first.queue)] == [child]
    await first.rollback()
    assert [each.task_id for each in await claim(queue)] == [child]


async def test_a_cancel_waits_for_a_release_and_finds_the_task(stage, queue, first, second):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    await queue.complete_task((await claim(queue))[0])
    await first.queue.sweep("waits")
    cancel = await stage.waits(second, second.queue.cancel_task(child), behind=first)
    await first.commit()
    assert (await cancel).status == "cancelled"
    await second.commit()


async def test_a_caller_whose_children_end_at_once_goes_on(stage, queue, first, second):
    lease = await begin(queue)
    await queue.call_tasks(lease.task_id, lease.token, "one", JOB, [{}])
    (child,) = await claim(queue)
    await queue.ignore_task(lease.task_id)
    await queue.unignore_task(lease.task_id)
    (again,) = await claim(queue)
    await first.queue.complete_task(child)
    answer = await second.queue.call_tasks(again.task_id, again.token, "one", JOB, [{}])
    assert [each.is_suspended for each in answer] == [True]
    await second.commit()
    await first.commit()
    assert await claim_later(stage, queue) == [lease.task_id]


async def test_a_release_passes_by_a_child_that_is_being_cancelled(stage, queue, first):
    (parent,) = await submit(queue)
    one, two = await submit(queue, parent, quantity=2)
    (lease,) = await claim(queue)
    await first.queue.cancel_task(one)
    await queue.complete_task(lease)
    assert [each.task_id for each in await stage.soon(claim(queue))] == [two]
    await first.commit()
    assert await claim_later(stage, queue) == []
    assert await standing(queue, one) == ("cancelled", None)


async def test_a_cancel_that_is_taken_back_leaves_the_release_to_the_next(stage, queue, first):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    (lease,) = await claim(queue)
    await first.queue.cancel_task(child)
    await queue.complete_task(lease)
    assert await stage.soon(claim(queue)) == []
    await first.rollback()
    assert await claim_later(stage, queue) == [child]


async def test_a_parent_that_is_cancelled_while_its_child_is_submitted_cancels_it(
    stage, queue, first, second
):
    (parent,) = await submit(queue)
    await first.queue.cancel_task(parent)
    (child,) = await submit(second.queue, parent)
    await first.commit()
    await second.commit()
    assert await claim_later(stage, queue) == []
    assert await standing(queue, child) == ("cancelled", None)


async def test_a_child_that_is_submitted_while_its_parent_is_cancelled_is_cancelled(
    stage, queue, first, second
):
    (parent,) = await submit(queue)
    (child,) = await submit(second.queue, parent)
    await first.queue.cancel_task(parent)
    await second.commit()
    await first.commit()
    assert await claim_later(stage, queue) == []
    assert await standing(queue, child) == ("cancelled", None)


async def test_a_cancel_waits_for_a_signal_and_finds_the_task(stage, queue, first, second):
    lease = await begin(queue)
    await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
    await first.queue.send_signal(lease.task_id, "approved")
    cancel = await stage.waits(second, second.queue.cancel_task(lease.task_id), behind=first)
    await first.commit()
    assert (await cancel).status == "cancelled"
    await second.commit()
    assert await claim(queue) == []


async def test_a_signal_waits_for_a_cancel_and_wakes_nobody(stage, queue, first, second):
    lease = await begin(queue)
    await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
    await first.queue.cancel_task(lease.task_id)
    sending = await stage.waits(second, second.queue.send_signal(lease.task_id, "approved"), behind=first)
    await first.commit()
    assert (await sending).is_new
    await second.commit()
    assert await claim(queue) == []
    assert await standing(queue, lease.task_id) == ("cancelled", None)
    assert not (await queue.send_signal(lease.task_id, "approved")).is_new


async def after_another(queue, lease):
    await submit(queue, lease.task_id)


async def as_a_workflow(queue, lease):
    await queue.submit_workflow("two", [{"job": JOB, "name": "a"}, {"job": JOB, "after": ["a"]}])


async def a_signal(queue, lease):
    await queue.send_signal(lease.task_id, "approved")


async def a_wait(queue, lease):
    await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")


async def a_call(queue, lease):
    await queue.call_tasks(lease.task_id, lease.token, "one", JOB, [{}])


@pytest.mark.parametrize("isolation", ["repeatable_read", "serializable"])
@pytest.mark.parametrize("call", [after_another, as_a_workflow, a_signal, a_wait, a_call])
async def test_what_must_see_others_is_refused_under_an_old_snapshot(stage, queue, call, isolation):
    lease = await begin(queue)
    actor = await stage.enter()
    await actor.rollback()
    async with actor.connection.transaction(isolation=isolation):
        with pytest.raises(InvalidArgument, match="READ COMMITTED"):
            await call(actor.queue, lease)
    assert await standing(queue, lease.task_id) == ("running", None)
    assert len(await queue.list_tasks()) == 1
