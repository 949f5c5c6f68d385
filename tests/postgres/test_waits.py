"""Suspended tasks: they hold neither worker nor slot until a time, a signal or what they called."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, InvalidTransition, LeaseLost, TaskNotFound
from tests.postgres.durable import begin, claim, end_all, standing
from tests.postgres.stage import JOB

HOUR = timedelta(hours=1)


async def sleep(queue, lease, name="nap", delay=HOUR):
    return await queue.suspend_task(lease.task_id, lease.token, name, delay=delay)


async def listen(queue, lease, name="approved", delay=None):
    return await queue.suspend_task(lease.task_id, lease.token, name, signal=name, delay=delay)


# sleeping


async def test_a_sleeping_task_holds_nothing_and_has_used_no_attempt(queue):
    lease = await begin(queue)
    assert (await sleep(queue, lease)).is_suspended
    task = await queue.get_task(lease.task_id)
    assert (task.status, task.phase, task.attempt, task.error) == ("pending", "sleeping", 0, None)
    assert await claim(queue) == []
    with pytest.raises(LeaseLost):
        await queue.complete_task(lease)
    assert await queue.list_attempts(lease.task_id) == []


async def test_it_is_claimed_again_when_the_time_has_come_and_goes_on(stage, queue):
    lease = await begin(queue)
    await sleep(queue, lease)
    await stage.advance(hours=1)
    again = (await claim(queue))[0]
    assert (again.task_id, again.attempt) == (lease.task_id, 1)
    assert not (await sleep(queue, again)).is_suspended
    await queue.complete_task(again)


async def test_a_sleep_that_was_cut_short_sleeps_for_the_rest(stage, queue):
    lease = await begin(queue)
    until = (await sleep(queue, lease)).until
    await stage.advance(minutes=20)
    await queue.ignore_task(lease.task_id)
    await queue.unignore_task(lease.task_id)
    again = (await claim(queue))[0]
    suspended = await sleep(queue, again)
    assert (suspended.is_suspended, suspended.until) == (True, until)


async def test_a_sleeping_task_frees_the_slot_of_its_job(queue):
    await queue.limit_job(JOB, 1)
    lease = await begin(queue)
    await queue.submit_task(JOB)
    assert await claim(queue) == []
    await sleep(queue, lease)
    assert len(await claim(queue)) == 1


async def test_attempts_used_before_are_kept(stage, queue):
    lease = await begin(queue)
    await queue.fail_task(lease, "broken")
    await stage.advance(minutes=1)
    again = (await claim(queue))[0]
    await sleep(queue, again)
    assert (await queue.get_task(lease.task_id)).attempt == 1
    await stage.advance(hours=2)
    assert (await claim(queue))[0].attempt == 2


async def test_a_sleeping_task_can_be_cancelled(queue):
    lease = await begin(queue)
    await sleep(queue, lease)
    assert (await queue.cancel_task(lease.task_id)).status == "cancelled"


async def test_a_task_that_was_asked_to_stop_ends_instead_of_sleeping(queue):
    lease = await begin(queue)
    await queue.cancel_task(lease.task_id, reason="enough")
    assert (await sleep(queue, lease)).is_suspended
    assert await standing(queue, lease.task_id) == ("cancelled", None)


async def test_a_sleeping_task_is_not_woken_by_a_retry(queue):
    lease = await begin(queue)
    await sleep(queue, lease)
    with pytest.raises(InvalidTransition):
        await queue.retry_task(lease.task_id)


async def test_one_name_is_one_kind_of_step(queue):
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "nap")
    with pytest.raises(InvalidArgument, match="is a step, not a sleep"):
        await sleep(queue, lease)


@pytest.mark.parametrize("delay", [None, timedelta(seconds=-1), timedelta(days=400_000)])
async def test_a_wait_without_a_possible_end_is_refused(queue, delay):
    lease = await begin(queue)
    with pytest.raises(InvalidArgument):
        await queue.suspend_task(lease.task_id, lease.token, "nap", delay=delay)
    assert await queue.list_steps(lease.task_id) == []
    assert await standing(queue, lease.task_id) == ("running", None)


async def test_progress_survives_a_wait(stage, queue):
    lease = await begin(queue)
    await queue.report_progress([lease], [{"done": 1}])
    await sleep(queue, lease)
    assert (await queue.get_task(lease.task_id)).progress == {"done": 1}


# signals


async def test_a_signal_wakes_the_task_that_waits_for_it(queue):
    lease = await begin(queue)
    assert (await listen(queue, lease)).is_suspended
    task = await queue.get_task(lease.task_id)
    assert (task.status, task.phase, task.due_at) == ("pending", "waiting", None)
    assert (await queue.send_signal(lease.task_id, "approved", {"by": "ada"})).is_new
    again = (await claim(queue))[0]
    answer = await listen(queue, again)
    assert (answer.is_suspended, answer.result) == (False, {"by": "ada"})


async def test_a_signal_that_nobody_waits_for_is_kept(queue):
    lease = await begin(queue)
    await queue.send_signal(lease.task_id, "approved", 1)
    answer = await listen(queue, lease)
    assert (answer.is_suspended, answer.result) == (False, 1)


async def test_the_first_signal_of_a_name_counts(queue):
    lease = await begin(queue)
    await queue.send_signal(lease.task_id, "approved", 1)
    second = await queue.send_signal(lease.task_id, "approved", 2)
    assert (second.is_new, second.kept) == (False, 1)
    assert (await listen(queue, lease)).result == 1


async def test_another_signal_wakes_nobody(queue):
    lease = await begin(queue)
    await listen(queue, lease)
    await queue.send_signal(lease.task_id, "refused")
    assert await claim(queue) == []


async def test_a_wait_for_a_signal_is_over_when_its_time_is(stage, queue):
    lease = await begin(queue)
    await listen(queue, lease, delay=HOUR)
    await stage.advance(hours=1)
    again = (await claim(queue))[0]
    answer = await listen(queue, again, delay=HOUR)
    assert (answer.is_suspended, answer.result) == (False, None)
    await queue.send_signal(lease.task_id, "approved", "too late")
    assert (await listen(queue, again, delay=HOUR)).result is None


async def test_a_signal_to_a_task_that_has_ended_is_refused(queue):
    lease = await begin(queue)
    await queue.complete_task(lease)
    with pytest.raises(InvalidTransition, match="has ended"):
        await queue.send_signal(lease.task_id, "approved")


async def test_a_signal_to_nobody_is_refused(queue):
    with pytest.raises(TaskNotFound):
        await queue.send_signal(999, "approved")


async def test_signals_are_few(queue):
    lease = await begin(queue)
    for number in range(1000):
        await queue.send_signal(lease.task_id, f"signal-{number}")
    with pytest.raises(InvalidArgument, match="1000 signals"):
        await queue.send_signal(lease.task_id, "one more")
    assert not (await queue.send_signal(lease.task_id, "signal-7")).is_new


async def test_a_wait_that_comes_while_the_signal_is_sent_finds_it(stage, queue, first, second):
    lease = await begin(queue)
    await first.queue.send_signal(lease.task_id, "approved", 1)
    wait = await stage.waits(second, listen(second.queue, lease), behind=first)
    await first.commit()
    assert ((await wait).is_suspended, (await wait).result) == (False, 1)
    await second.commit()


async def test_a_signal_that_comes_while_the_task_begins_to_wait_wakes_it(stage, queue, first, second):
    lease = await begin(queue)
    assert (await listen(first.queue, lease)).is_suspended
    sending = await stage.waits(second, second.queue.send_signal(lease.task_id, "approved"), behind=first)
    await first.commit()
    assert (await sending).is_new
    await second.commit()
    assert [found.task_id for found in await claim(queue)] == [lease.task_id]


async def test_a_signal_that_was_taken_back_leaves_the_task_waiting(stage, queue, first, second):
    lease = await begin(queue)
    await first.queue.send_signal(lease.task_id, "approved")
    wait = await stage.waits(second, listen(second.queue, lease), behind=first)
    await first.rollback()
    assert (await wait).is_suspended
    await second.commit()
    assert await standing(queue, lease.task_id) == ("pending", "waiting")


async def test_signals_need_to_see_what_was_committed(stage, queue, first):
    lease = await begin(queue)
    await first.rollback()
    async with first.connection.transaction(isolation="repeatable_read"):
        with pytest.raises(InvalidArgument, match="READ COMMITTED"):
            await first.queue.send_signal(lease.task_id, "approved")


# calls


async def call(queue, lease, quantity=2, name="pages", job=JOB):
    return await queue.call_tasks(lease.task_id, lease.token, name, job, [{"n": n} for n in range(quantity)])


async def test_a_caller_waits_for_what_it_called_and_reads_the_results_in_order(queue):
    lease = await begin(queue, owner="ada", priority=3)
    assert [called.is_suspended for called in await call(queue, lease)] == [True]
    assert await standing(queue, lease.task_id) == ("pending", "waiting")
    children = await claim(queue)
    assert [(child.payload, child.owner, child.priority) for child in children] == [
        ({"n": 0}, "ada", 3),
        ({"n": 1}, "ada", 3),
    ]
    await queue.complete_task(children[1], "b")
    assert await claim(queue) == []
    await queue.complete_task(children[0], "a")
    again = (await claim(queue))[0]
    assert again.task_id == lease.task_id
    called = await call(queue, again)
    assert [(each.called_id, each.status, each.result) for each in called] == [
        (children[0].task_id, "completed", "a"),
        (children[1].task_id, "completed", "b"),
    ]
    await queue.complete_task(again)


async def test_the_slot_is_given_back_to_children_of_the_same_job(queue):
    await queue.limit_job(JOB, 1)
    lease = await begin(queue)
    await call(queue, lease, quantity=1)
    child = (await claim(queue))[0]
    assert child.task_id != lease.task_id
    await queue.complete_task(child)
    assert (await claim(queue))[0].task_id == lease.task_id


async def test_a_caller_hears_of_failures(queue):
    lease = await begin(queue)
    await call(queue, lease)
    children = await claim(queue)
    await queue.fail_task(children[0], "broken", retryable=False)
    await queue.cancel_task(children[1].task_id, force=True, reason="enough")
    called = await call(queue, (await claim(queue))[0])
    assert [(each.status, each.error, each.reason) for each in called] == [
        ("failed", "broken", None),
        ("cancelled", None, "enough"),
    ]


async def test_a_call_of_nothing_is_over_at_once(queue):
    lease = await begin(queue)
    assert await call(queue, lease, quantity=0) == []
    assert await standing(queue, lease.task_id) == ("running", None)


async def test_a_call_that_is_refused_leaves_nothing(queue):
    lease = await begin(queue)
    with pytest.raises(Exception, match="does not exist"):
        await call(queue, lease, job="@global:no:Such")
    assert await queue.list_steps(lease.task_id) == []
    assert await standing(queue, lease.task_id) == ("running", None)


async def test_what_was_called_is_kept_as_long_as_its_caller_may_read_it(stage, queue):
    lease = await begin(queue)
    await call(queue, lease, quantity=1)
    (child,) = await claim(queue)
    await queue.complete_task(child, "kept")
    await stage.advance(days=100)
    assert await queue.prune_tasks(older_than=HOUR) == []
    await end_all(queue)
    await stage.advance(days=100)
    assert len(await queue.prune_tasks(older_than=HOUR)) == 2


async def test_a_caller_that_is_cancelled_leaves_its_children_alone(queue):
    lease = await begin(queue)
    await call(queue, lease, quantity=1)
    await queue.cancel_task(lease.task_id)
    (child,) = await claim(queue)
    assert (await queue.complete_task(child)).status == "completed"
