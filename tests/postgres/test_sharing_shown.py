"""What people are told of keys: why a task waits, which key starves, who waits and who runs."""

from __future__ import annotations

import re

import pytest

from pgjobs.errors import InvalidArgument
from tests.postgres.stage import JOB
from tests.postgres.test_sharing import MINUTE, submit, take


async def reason(queue, task_id: int):
    return next((check for check in await queue.operators.why(task_id) if check.checked == "key"), None)


async def test_a_task_whose_key_is_full_says_who_holds_its_slots(queue):
    await queue.limit_job(JOB, max_running_per_key=2)
    task = (await submit(queue, "aaa"))[-1]
    await take(queue, 1, holder="ann")
    await take(queue, 1, holder="bob")
    why = await reason(queue, task)
    assert not why.is_ok
    assert re.fullmatch(
        r"Key a runs all it may at once: 2\. ann, bob hold it; a slot comes free in (59|60) s at the latest, unless renewed\.",
        why.answer,
    )
    assert "list_keys(" in why.advice


async def test_a_task_whose_rate_is_used_up_says_when_there_is_room(stage, queue):
    await queue.limit_job(JOB, rate_per_key="1/min")
    task = (await submit(queue, "aa"))[-1]
    await take(queue)
    await stage.advance(seconds=20)
    answer = (await reason(queue, task)).answer
    assert re.fullmatch(r"Key a has used up its rate of 1/min; there is room again in (39|40) s\.", answer)
    await queue.limit_job(JOB, rate="1/h", rate_per_key="none")
    assert len(await take(queue)) == 1
    [task] = await submit(queue, "b")
    answer = (await reason(queue, task)).answer
    assert answer.startswith("Its job has used up its rate of 1/h; there is room again in ")


async def test_a_task_that_waits_for_an_earlier_one_says_so(queue):
    await queue.limit_job(JOB, ordered=True)
    await submit(queue, "a", delay=MINUTE)
    [task] = await submit(queue, "a")
    assert (
        await reason(queue, task)
    ).answer == "Tasks of key a run in order, and an earlier one is not due yet."


async def test_a_task_whose_key_may_run_says_so_and_others_say_nothing(queue):
    [task] = await submit(queue, "a")
    assert await reason(queue, task) is None
    await queue.limit_job(JOB, fair=True)
    assert (await reason(queue, task)).is_ok


async def test_a_key_that_starves_is_found(stage, queue):
    await queue.limit_job(JOB, max_running_per_key=1)
    await submit(queue, "aa")
    await take(queue, lease=MINUTE * 60)
    await stage.advance(minutes=16)
    await submit(queue, "b")
    await take(queue)
    found = [finding.message for finding in await queue.operators.findings() if "starves" in finding.message]
    assert found == ["key a starves: its oldest task has been due for 16 min, and its slots are taken"]


async def test_keys_are_listed_with_who_waits_and_who_runs(queue):
    await queue.limit_job(JOB, max_running_per_key=1, weights={"b": 3})
    await submit(queue, "aaab.")
    await take(queue, 1, holder="ann")
    keys = {key.key: key for key in await queue.list_keys(JOB)}
    assert {name: (key.waiting, key.running, key.weight) for name, key in keys.items()} == {
        "": (1, 0, 1), "a": (2, 1, 1), "b": (1, 0, 3),
    }  # fmt: skip
    assert (keys["a"].stopped_by, keys["a"].holders) == ("full", ["ann"])
    assert keys["b"].stopped_by is None
    assert [key.key for key in await queue.list_keys(JOB, after="a", page_size=1)] == ["b"]
    with pytest.raises(InvalidArgument):
        await queue.list_keys(JOB, page_size=0)


async def test_how_a_job_shares_is_shown_as_it_was_said(queue):
    assert await queue.get_sharing(JOB) is None
    await queue.limit_job(
        JOB, 9, max_running_per_key=2, rate="100/min", rate_per_key="5 / 10 min", fair=True, weights={"a": 2}
    )
    sharing = await queue.get_sharing(JOB)
    assert (sharing.max_running, sharing.max_running_per_key, sharing.rate, sharing.rate_per_key) == (
        9,
        2,
        "100/min",
        "5/10min",
    )
    assert (sharing.fair, sharing.ordered, sharing.on_failure, sharing.weights) == (
        True,
        False,
        "wait",
        {"a": 2},
    )
