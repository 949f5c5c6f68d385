"""`task.log`: what handlers write is with their tasks, through the worker, HTTP and the shell."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.errors import InvalidArgument
from tests.surfaces.rest_server import Api, problem_of

pytestmark = pytest.mark.postgres_only
NOW = timedelta(0)


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)


async def drained(queue: Queue, jobs: Jobs, **options: Any) -> None:
    await Worker(queue, jobs, lease=timedelta(hours=1), **options).run_until_empty()


async def texts(queue: Queue, task_id: int) -> list[tuple[int, str, str]]:
    return [(line.attempt, line.level, line.message) for line in await queue.operators.list_log(task_id)]


async def test_lines_of_every_attempt_are_there_when_it_has_ended(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=2, backoff_base=NOW)
    async def work(task: TaskContext) -> None:
        task.log.info("attempt %d of %(not a mapping)s", task.attempt)
        task.log.debug("too much detail")
        if task.attempt == 1:
            try:
                raise OSError("disk\x00 full")
            except OSError:
                task.log.exception("cannot write")
                raise
        task.log.warning("done by %(name)s", {"name": "ada"})

    handle = await work.submit()
    await drained(queue, jobs)
    lines = await texts(queue, handle.id)
    assert [(attempt, level) for attempt, level, _ in lines] == [
        (1, "info"),
        (1, "error"),
        (2, "info"),
        (2, "warning"),
    ]
    assert lines[1][2].startswith("cannot write\nTraceback")
    assert lines[1][2].endswith("OSError: disk\ufffd full")
    assert lines[3][2] == "done by ada"


async def test_plain_handlers_and_suspended_ones_and_transactions_lose_no_line(queue: Queue, jobs: Jobs):
    @jobs.task()
    def plain(task: TaskContext) -> None:
        task.log.info(
            "from %s", "a thread" if threading.current_thread() is not threading.main_thread() else ""
        )

    @jobs.task()
    async def sleeper(task: TaskContext) -> None:
        task.log.info("before")
        await task.sleep("nap", NOW)
        task.log.info("after")

    @jobs.task()
    async def transfer(task: TaskContext) -> None:
        async with task.transaction():
            task.log.info("inside")

    handles = [await job.submit() for job in (plain, sleeper, transfer)]
    await drained(queue, jobs)
    said = [[message for _, _, message in await texts(queue, handle.id)] for handle in handles]
    assert said[0] == ["from a thread"]
    assert said[1][0] == "before"
    assert said[1][-1] == "after"
    assert said[2] == ["inside"]


@pytest.mark.parametrize(("level", "kept"), [("off", []), ("error", ["bad"]), ("DEBUG", ["fine", "bad"])])
async def test_a_worker_keeps_from_the_level_it_was_given(
    queue: Queue, jobs: Jobs, level: str, kept: list[str]
):
    @jobs.task()
    async def work(task: TaskContext) -> None:
        task.log.debug("fine")
        task.log.error("bad")

    handle = await work.submit()
    await drained(queue, jobs, keep_log=level)
    assert [message for _, _, message in await texts(queue, handle.id)] == kept


async def test_a_level_that_is_none_is_refused(queue: Queue, jobs: Jobs):
    with pytest.raises(InvalidArgument, match="no log level 'loud'"):
        Worker(queue, jobs, keep_log="loud")


async def test_the_programs_own_logging_has_the_lines_too_from_where_they_were_written(
    queue: Queue, jobs: Jobs, caplog: pytest.LogCaptureFixture
):
    @jobs.task()
    async def work(task: TaskContext) -> None:
        task.log.info("seen by both")

    await work.submit()
    with caplog.at_level(logging.INFO, logger="pgjobs.task"):
        await drained(queue, jobs)
    (record,) = [record for record in caplog.records if record.name == "pgjobs.task"]
    assert (record.getMessage(), record.funcName) == ("seen by both", "work")


async def test_a_chatty_handler_is_bounded_and_what_is_left_out_is_counted(queue: Queue, jobs: Jobs):
    said = 5000

    @jobs.task()
    async def work(task: TaskContext) -> None:
        for number in range(said):
            task.log.info("line %d", number)

    handle = await work.submit()
    await drained(queue, jobs)
    lines = await queue.operators.list_log(handle.id)
    assert len(lines) <= 200
    assert (lines[-1].number, lines[-1].message) == (said, f"line {said - 1}")


async def until(check: Callable[[], Any]) -> Any:
    for _ in range(300):
        if found := await check():
            return found
        await asyncio.sleep(0.1)
    raise AssertionError("has not come")


async def test_lines_come_while_the_task_runs(queue: Queue, jobs: Jobs, ada: Api):
    go_on = asyncio.Event()

    @jobs.task()
    async def work(task: TaskContext) -> None:
        task.log.info("begun")
        await go_on.wait()
        task.log.info("ended")

    handle = await work.submit()
    async with Worker(queue, jobs):
        task = await until(lambda: _running(queue, handle.id))
        first = await asyncio.to_thread(_lines, ada, task.uuid, wait=30)
        assert [line["message"] for line in first["items"]] == ["begun"]
        assert first["is_ended"] is False
        asyncio.get_running_loop().call_later(0.2, go_on.set)
        after = first["items"][-1]["position"]
        rest = await asyncio.to_thread(_lines, ada, task.uuid, wait=30, after=after)
        assert [line["message"] for line in rest["items"]] == ["ended"]
        await handle.result(timeout=30)
    ended = _lines(ada, task.uuid, after=rest["items"][-1]["position"], wait=30)
    assert ended == {"items": [], "is_ended": True}


async def _running(queue: Queue, task_id: int) -> Any:
    task = await queue.get_task(task_id)
    return task if task.status in ("claimed", "running") else None


def _lines(api: Api, task: Any, wait: int = 0, **asked: Any) -> Any:
    answer = api.get(f"tasks/{task}/log", params=asked, headers={"Prefer": f"wait={wait}"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_worker_over_http_writes_lines_under_its_lease(ada: Api):
    worker = ada.register()["worker_id"]
    ada.submit()
    claimed = ada.post("tasks/claim", json={"worker_id": worker})
    task, lease = claimed.json()["task"]["id"], {"Lease-Token": claimed.headers["lease-token"]}
    place = f"tasks/{task}/log"
    body = {"lines": [{"message": "begun", "ago": 1.5}, {"message": "odd", "level": "warning", "dropped": 3}]}
    assert ada.post(place, json=body, headers=lease).status_code == 204
    lines = _lines(ada, task)["items"]
    assert [(line["number"], line["level"], line["message"]) for line in lines] == [
        (1, "info", "begun"),
        (5, "warning", "odd"),
    ]
    assert problem_of(ada.post(place, json=body)) == "validation-error"
    assert (
        ada.post(place, json={"lines": [{"message": "a", "level": "loud"}]}, headers=lease).status_code == 422
    )
    other = {"Lease-Token": "00000000-0000-8000-8000-000000000000"}
    assert problem_of(ada.post(place, json=body, headers=other)) == "lease-lost"
    assert len(_lines(ada, task)["items"]) == 2


async def test_an_outage_delays_lines_and_loses_none_before_their_task_ends(
    queue: Queue, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
):
    away = [OSError("connection refused")] * 2
    call = queue.driver.call

    async def shaky(verb: str, **given: Any) -> Any:
        if verb == "append_log" and away:
            raise away.pop()
        return await call(verb, **given)

    monkeypatch.setattr(queue.driver, "call", shaky)

    @jobs.task()
    async def work(task: TaskContext) -> None:
        task.log.info("kept")

    handle = await work.submit()
    started = time.monotonic()
    await drained(queue, jobs)
    assert time.monotonic() - started < 30
    assert [message for _, _, message in await texts(queue, handle.id)] == ["kept"]
    assert (await queue.get_task(handle.id)).status == "completed"
