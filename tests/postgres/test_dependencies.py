"""Tasks that run after others: blocked until their parents have ended, released off the acknowledgement."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, TaskNotFound
from tests.postgres.durable import claim, end_all, standing, submit
from tests.postgres.stage import JOB

HOUR = timedelta(hours=1)


async def notes(stage):
    """What releasing has left to do, once no transaction is open that an end could hide in."""
    for _ in range(2):
        await stage.settle()
        await stage.queue.sweep("waits")
    return await stage.watcher.fetchval(
        "select (select count(*) from pgjobs.settled) + (select count(*) from pgjobs.rechecks)"
    )


async def test_a_child_waits_for_its_parent(queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    assert await standing(queue, child) == ("pending", "dependent")
    assert (await queue.get_task(child)).due_at is None
    (lease,) = await claim(queue)
    assert lease.task_id == parent
    assert await claim(queue) == []
    await queue.complete_task(lease)
    assert [each.task_id for each in await claim(queue)] == [child]


async def test_a_child_of_several_waits_for_the_last(queue):
    parents = await submit(queue, quantity=3)
    (child,) = await submit(queue, *parents)
    leases = await claim(queue)
    for lease in (leases[1], leases[2], leases[0]):
        assert await standing(queue, child) == ("pending", "dependent")
        await queue.complete_task(lease)
        await queue.sweep("waits")
    assert await standing(queue, child) == ("pending", "due")


async def test_a_chain_runs_in_order(queue):
    ids = await submit(queue)
    for _ in range(5):
        ids += await submit(queue, ids[-1])
    assert await end_all(queue) == ids


async def test_a_diamond_runs_its_end_once(stage, queue):
    (top,) = await submit(queue)
    sides = await submit(queue, top, quantity=2)
    (bottom,) = await submit(queue, *sides)
    assert await end_all(queue) == [top, *sides, bottom]
    assert await notes(stage) == 0


async def test_a_fan_out_and_fan_in_leave_nothing_behind(stage, queue):
    (top,) = await submit(queue)
    middle = await submit(queue, top, quantity=1200)
    (bottom,) = await submit(queue, *middle)
    assert await end_all(queue) == [top, *middle, bottom]
    assert await notes(stage) == 0


async def test_a_parent_that_has_ended_blocks_nobody(stage, queue):
    (parent,) = await submit(queue)
    await end_all(queue)
    (child,) = await submit(queue, parent)
    assert await standing(queue, child) == ("pending", "due")


async def test_no_parents_are_all_ended(queue):
    submitted = await queue.submit_task(JOB, after=[])
    assert await standing(queue, submitted.task_id) == ("pending", "due")


async def test_a_key_that_was_used_before_blocks_nobody_again(queue):
    (parent,) = await submit(queue)
    first = await queue.submit_task(JOB, idempotency_key="once")
    again = await queue.submit_task(JOB, idempotency_key="once", after=[parent])
    assert (again.task_id, again.is_new) == (first.task_id, False)
    assert await standing(queue, first.task_id) == ("pending", "due")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"after": [1], "on_failure": "explode"}, "cancel, run or hold"),
        ({"after": [1], "delay": HOUR}, "no time of its own"),
        ({"on_failure": "run"}, "name them in after"),
        ({"after": [None]}, "none null"),
        ({"after": [1] * 10_001}, "at most 10000"),
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_nothing(queue, options, message):
    with pytest.raises(InvalidArgument, match=message):
        await queue.submit_task(JOB, **options)
    assert await queue.list_tasks() == []


async def test_an_unknown_parent_is_refused(queue):
    (known,) = await submit(queue)
    with pytest.raises(TaskNotFound, match="Task 999 does not exist"):
        await submit(queue, known, 999)
    assert len(await queue.list_tasks()) == 1


async def test_an_old_snapshot_is_refused(queue, first):
    (parent,) = await submit(queue)
    await first.rollback()
    async with first.connection.transaction(isolation="repeatable_read"):
        with pytest.raises(InvalidArgument, match="READ COMMITTED"):
            await submit(first.queue, parent)


# parents that do not complete


async def failed(queue, lease):
    await queue.fail_task(lease, "broken", retryable=False)


async def test_children_of_a_failed_parent_are_cancelled_all_the_way_down(stage, queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    (grandchild,) = await submit(queue, child)
    await failed(queue, (await claim(queue))[0])
    assert await claim(queue) == []
    for task_id, cause in ((child, f"parent {parent} failed"), (grandchild, f"parent {child} cancelled")):
        task = await queue.get_task(task_id)
        assert (task.status, task.reason) == ("cancelled", cause)
    assert await notes(stage) == 0


async def test_a_failed_parent_cancels_while_others_run(queue):
    parents = await submit(queue, quantity=2)
    (child,) = await submit(queue, *parents)
    leases = await claim(queue)
    await failed(queue, leases[1])
    await queue.sweep("waits")
    assert await standing(queue, child) == ("cancelled", None)


async def test_run_runs_whatever_became_of_the_parents(queue):
    parents = await submit(queue, quantity=2)
    (child,) = await submit(queue, *parents, on_failure="run")
    leases = await claim(queue)
    await failed(queue, leases[0])
    await queue.sweep("waits")
    assert await standing(queue, child) == ("pending", "dependent")
    await queue.cancel_task(leases[1].task_id, force=True)
    assert [lease.task_id for lease in await claim(queue)] == [child]
    assert [parent.status for parent in await queue.list_parents(child)] == ["failed", "cancelled"]


async def test_hold_holds_until_the_parent_was_retried_and_completes(stage, queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent, on_failure="hold")
    await failed(queue, (await claim(queue))[0])
    assert await claim(queue) == []
    assert await standing(queue, child) == ("pending", "held")
    await queue.sweep()
    assert await standing(queue, child) == ("pending", "held")
    await queue.retry_task(parent)
    assert await end_all(queue) == [parent, child]


async def test_a_retry_of_an_attempt_settles_nothing(stage, queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    await queue.fail_task((await claim(queue))[0], "broken")
    assert await standing(queue, child) == ("pending", "dependent")
    await stage.advance(minutes=1)
    assert await end_all(queue) == [parent, child]


async def test_a_child_of_a_job_that_was_removed_is_cancelled(queue):
    (parent,) = await submit(queue)
    await queue.register_job("@global", "tests", "Other")
    child = (await queue.submit_task("@global:tests:Other", after=[parent])).task_id
    await queue.driver.call("delete_job", job=JOB)
    await queue.sweep("waits")
    task = await queue.get_task(child)
    assert (task.status, task.reason) == ("cancelled", f"parent {parent} was removed")


# what operators do


async def test_a_blocked_task_can_be_cancelled_and_ignored(queue):
    (parent,) = await submit(queue)
    one, two = await submit(queue, parent, quantity=2)
    await queue.cancel_task(one)
    await queue.ignore_task(two)
    assert await end_all(queue) == [parent]
    assert await standing(queue, one) == ("cancelled", None)
    assert await standing(queue, two) == ("ignored", None)


async def test_a_blocked_task_that_was_ignored_waits_again(queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    await queue.ignore_task(child)
    await queue.unignore_task(child)
    assert await standing(queue, child) == ("pending", "dependent")
    assert await end_all(queue) == [parent, child]


async def test_retention_keeps_what_a_child_may_read(stage, queue):
    (parent,) = await submit(queue)
    (child,) = await submit(queue, parent)
    await queue.complete_task((await claim(queue))[0], "kept")
    await stage.advance(days=100)
    assert await queue.prune_tasks(older_than=HOUR) == []
    (read,) = await queue.list_parents(child)
    assert (read.name, read.status, read.result) == (str(parent), "completed", "kept")
    await end_all(queue)
    await stage.advance(days=100)
    assert len(await queue.prune_tasks(older_than=HOUR)) == 2
    assert await stage.watcher.fetchval("select count(*) from pgjobs.dependencies") == 0
