"""Log lines of tasks: kept under the lease, numbered within an attempt, the newest within bounds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, TaskNotFound
from tests.postgres.durable import begin, claim


def said(*messages: str, **more: object) -> list[dict[str, object]]:
    return [{"message": message, **more} for message in messages]


async def numbers(queue, task_id: int, **options) -> list[tuple[int, int]]:
    return [(line.attempt, line.number) for line in await queue.list_log(task_id, **options)]


async def test_lines_are_kept_in_order_with_level_and_time(queue):
    lease = await begin(queue)
    lines = [{"message": "begun", "ago": 2.5}, {"message": "odd", "level": "warning"}]
    (answer,) = await queue.append_log([lease], [lines])
    assert (answer.task_id, answer.problem) == (lease.task_id, None)
    first, second = await queue.list_log(lease.task_id)
    assert (first.attempt, first.number, first.level, first.message) == (1, 1, "info", "begun")
    assert (second.number, second.level, second.message) == (2, "warning", "odd")
    assert second.at - first.at == timedelta(seconds=2.5)


async def test_lines_of_many_tasks_come_in_one_call(queue):
    first, second = await begin(queue), await begin(queue)
    await queue.append_log([first, second], [said("a", "b"), said("c")])
    assert [line.message for line in await queue.list_log(first.task_id)] == ["a", "b"]
    assert [line.message for line in await queue.list_log(second.task_id)] == ["c"]


async def test_a_gap_in_the_numbers_says_how_many_lines_were_left_out(queue):
    lease = await begin(queue)
    await queue.append_log([lease], [said("a") + said("b", dropped=7)])
    await queue.append_log([lease], [said("c")])
    assert await numbers(queue, lease.task_id) == [(1, 1), (1, 9), (1, 10)]


async def test_each_attempt_has_lines_of_its_own(stage, queue):
    lease = await begin(queue)
    await queue.append_log([lease], [said("a", "b")])
    await queue.fail_task(lease, "broken")
    await stage.advance(minutes=1)
    (again,) = await claim(queue)
    await queue.append_log([again], [said("c")])
    assert await numbers(queue, lease.task_id) == [(1, 1), (1, 2), (2, 1)]
    assert await numbers(queue, lease.task_id, of_attempt=1) == [(1, 1), (1, 2)]
    assert await numbers(queue, lease.task_id, newest=True, page_size=2) == [(1, 2), (2, 1)]


async def test_pages_go_on_after_the_last_line_seen(queue):
    lease = await begin(queue)
    await queue.append_log([lease], [said(*"abcde")])
    page = await queue.list_log(lease.task_id, page_size=2)
    rest = await queue.list_log(lease.task_id, after=page[-1].position)
    assert [line.message for line in [*page, *rest]] == list("abcde")
    assert await queue.list_log(lease.task_id, after=rest[-1].position) == []
    assert await queue.list_log(lease.task_id, after=2**63 - 1) == []


async def test_the_newest_lines_are_kept_within_the_bounds(stage, queue):
    await stage.watcher.execute("update pgjobs.settings set max_log_lines = 3")
    lease = await begin(queue)
    for start in range(0, 10, 2):
        await queue.append_log([lease], [said(f"line {start}", f"line {start + 1}")])
    assert await numbers(queue, lease.task_id) == [(1, 8), (1, 9), (1, 10)]
    await stage.watcher.execute("update pgjobs.settings set max_log_bytes = 100")
    await queue.append_log([lease], [said("x" * 60, "y" * 60)])
    assert [line.message[0] for line in await queue.list_log(lease.task_id)] == ["y"]
    await queue.append_log([lease], [said("z" * 1000)])
    assert [line.message[0] for line in await queue.list_log(lease.task_id)] == ["z"]


async def test_nothing_is_kept_where_the_settings_say_so(stage, queue):
    await stage.watcher.execute("update pgjobs.settings set max_log_lines = 0")
    lease = await begin(queue)
    (answer,) = await queue.append_log([lease], [said("a")])
    assert answer.problem is None
    assert await queue.list_log(lease.task_id) == []


async def test_credentials_are_hidden_and_long_lines_cut(queue):
    lease = await begin(queue)
    await queue.append_log([lease], [said("from https://me:hunter2@host/a", "x" * 9000)])
    first, second = await queue.list_log(lease.task_id)
    assert "hunter2" not in first.message
    assert second.message == "x" * 4000


@pytest.mark.parametrize("ending", ["lapsed", "completed"])
async def test_lines_without_the_lease_are_not_kept(stage, queue, ending):
    lease, other = await begin(queue), await begin(queue)
    if ending == "lapsed":
        await stage.advance(minutes=2)
        (other,) = [each for each in await claim(queue) if each.task_id == other.task_id] or [other]
    else:
        await queue.complete_task(lease)
    answers = await queue.append_log([lease, other], [said("late"), said("fine")])
    assert answers[0].problem == "PJ007"
    assert await queue.list_log(lease.task_id) == []


@pytest.mark.parametrize(
    "lines",
    [
        {"message": "a"},
        ["a"],
        [{"text": "a"}],
        [{"message": 1}],
        said("a", level="loud"),
        said("a", ago=-1),
        said("a", ago="1"),
        said("a", dropped=0.5),
        said("a", dropped=-1),
        said("a") * 1001,
    ],
    ids=lambda lines: str(lines)[:40],
)
async def test_what_is_no_line_is_refused_and_nothing_is_kept(queue, lines):
    lease = await begin(queue)
    with pytest.raises(InvalidArgument, match="log line"):
        await queue.append_log([lease], [lines])
    assert await queue.list_log(lease.task_id) == []


async def test_an_unknown_task_has_no_log(queue):
    with pytest.raises(TaskNotFound):
        await queue.list_log(999)


async def test_lines_go_when_their_task_goes(stage, queue):
    lease = await begin(queue)
    await queue.append_log([lease], [said("a")])
    await queue.complete_task(lease)
    await stage.advance(days=1000)
    await queue.prune_tasks()
    assert await stage.watcher.fetchval("select count(*) from pgjobs.task_log") == 0
