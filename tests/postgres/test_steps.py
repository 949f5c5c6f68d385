"""Steps: named pieces of a handler, kept with the task."""

from __future__ import annotations

from uuid import UUID

import pytest

from pgjobs.errors import InvalidArgument, LeaseLost, PayloadTooLarge, TaskNotFound
from tests.postgres.durable import MINUTE, begin, claim

ELSEWHERE = UUID("00000000-0000-8000-8000-000000000000")


async def test_a_step_is_kept_with_its_task(queue):
    lease = await begin(queue)
    saved = await queue.save_step(lease.task_id, lease.token, "charge", {"id": 7})
    assert (saved.number, saved.is_new, saved.kept) == (1, True, {"id": 7})
    (step,) = await queue.list_steps(lease.task_id)
    assert (step.name, step.kind, step.is_done, step.result) == ("charge", "step", True, {"id": 7})


async def test_the_first_result_of_a_name_counts(queue):
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "charge", 1)
    again = await queue.save_step(lease.task_id, lease.token, "charge", 2)
    assert (again.number, again.is_new, again.kept) == (1, False, 1)


async def test_the_next_attempt_finds_what_the_last_one_kept(stage, queue):
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "charge", "paid")
    await queue.fail_task(lease, "broken")
    await stage.advance(minutes=1)
    again = (await claim(queue))[0]
    assert again.attempt == 2
    assert [step.result for step in await queue.list_steps(lease.task_id)] == ["paid"]


@pytest.mark.parametrize("ending", ["lapsed", "taken over", "no such token"])
async def test_a_step_without_the_lease_is_refused_and_nothing_is_kept(stage, queue, ending):
    lease = await begin(queue)
    token = lease.token
    if ending == "lapsed":
        await stage.advance(minutes=2)
    elif ending == "taken over":
        await queue.release_task(lease)
        await claim(queue)
    else:
        token = ELSEWHERE
    with pytest.raises(LeaseLost):
        await queue.save_step(lease.task_id, token, "charge", 1)
    assert await queue.list_steps(lease.task_id) == []


async def test_a_step_of_an_unknown_task_is_refused(queue):
    with pytest.raises(TaskNotFound):
        await queue.save_step(999, ELSEWHERE, "charge")
    with pytest.raises(TaskNotFound):
        await queue.list_steps(999)


@pytest.mark.parametrize("name", ["", "x" * 201])
async def test_a_step_has_a_name(queue, name):
    lease = await begin(queue)
    with pytest.raises(InvalidArgument, match="1 to 200 characters"):
        await queue.save_step(lease.task_id, lease.token, name)


async def test_more_steps_than_allowed_are_refused(stage, queue):
    await stage.watcher.execute("update pgjobs.settings set max_steps = 2")
    lease = await begin(queue)
    for name in ("one", "two"):
        await queue.save_step(lease.task_id, lease.token, name)
    with pytest.raises(InvalidArgument, match=f"Task {lease.task_id} has 2 steps"):
        await queue.save_step(lease.task_id, lease.token, "three")
    assert len(await queue.list_steps(lease.task_id)) == 2


async def test_larger_results_than_allowed_are_refused(stage, queue):
    await stage.watcher.execute("update pgjobs.settings set max_step_bytes = 1024")
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "one", "x" * 600)
    with pytest.raises(PayloadTooLarge, match="exceed 1024 bytes"):
        await queue.save_step(lease.task_id, lease.token, "two", "x" * 600)
    await queue.save_step(lease.task_id, lease.token, "three", "x" * 100)


async def test_steps_come_in_pages(queue):
    lease = await begin(queue)
    for number in range(5):
        await queue.save_step(lease.task_id, lease.token, f"page-{number}", number)
    page = await queue.list_steps(lease.task_id, after=2, page_size=2)
    assert [step.result for step in page] == [2, 3]


async def test_effect_and_step_commit_together(stage, queue, first, second):
    lease = await begin(queue)
    await first.connection.execute("create temp table charges (id int)")
    await first.queue.save_step(lease.task_id, lease.token, "charge")
    await first.rollback()
    assert await queue.list_steps(lease.task_id) == []
    await second.queue.save_step(lease.task_id, lease.token, "charge")
    await second.commit()
    assert [step.name for step in await queue.list_steps(lease.task_id)] == ["charge"]


async def test_two_holders_of_one_token_keep_a_step_once(stage, queue, first, second):
    lease = await begin(queue)
    await first.queue.save_step(lease.task_id, lease.token, "charge", 1)
    other = await stage.waits(
        second, second.queue.save_step(lease.task_id, lease.token, "charge", 2), behind=first
    )
    await first.commit()
    assert ((await other).is_new, (await other).kept) == (False, 1)
    await second.commit()


async def test_a_step_waits_for_the_sweep_of_its_lease_and_is_refused(stage, queue, first, second):
    """The transaction that has an effect must not commit once others may run the task."""
    lease = await begin(queue)
    await first.queue.save_step(lease.task_id, lease.token, "charge")
    await stage.advance(minutes=2)
    assert (await stage.soon(second.queue.sweep("leases")))[0].changed == 0
    await first.commit()
    await second.rollback()
    assert (await queue.sweep("leases"))[0].changed == 1
    with pytest.raises(LeaseLost):
        await queue.save_step(lease.task_id, lease.token, "next")


async def test_progress_survives_a_retry(stage, queue):
    lease = await begin(queue)
    await queue.report_progress([lease], [{"done": 40}])
    await queue.fail_task(lease, "broken")
    assert (await queue.get_task(lease.task_id)).progress == {"done": 40}
    await stage.advance(minutes=1)
    again = (await claim(queue))[0]
    assert (await queue.get_task(lease.task_id)).progress == {"done": 40}
    await queue.report_progress([again], [{"done": 50}])
    assert (await queue.get_task(lease.task_id)).progress == {"done": 50}
    await queue.complete_task(again)
    assert (await queue.get_task(lease.task_id)).progress is None


async def test_steps_go_with_their_task(stage, queue):
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "charge")
    await queue.report_progress([lease], [1])
    await queue.complete_task(lease)
    await stage.advance(days=1)
    await queue.prune_tasks(older_than=MINUTE)
    assert await stage.watcher.fetchval("select count(*) from pgjobs.steps") == 0
    with pytest.raises(TaskNotFound):
        await queue.list_steps(lease.task_id)


async def test_an_operators_retry_keeps_the_steps(queue):
    lease = await begin(queue)
    await queue.save_step(lease.task_id, lease.token, "charge", 1)
    await queue.fail_task(lease, "broken", retryable=False)
    await queue.retry_task(lease.task_id)
    assert len(await queue.list_steps(lease.task_id)) == 1
