"""Every way a task can end in a worker's hands."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from pgjobs import Abort, Blocked, Jobs, Queue, Snooze, TaskCancelled, TaskContext, Worker, current_task
from pgjobs.jobs.context import Interrupted
from tests.surfaces.worker.patience import QUICK, until


async def test_failures_are_retried_until_attempts_are_used_up(queue: Queue, jobs: Jobs):
    seen: list[int] = []

    @jobs.task(max_attempts=3, backoff_base=timedelta(milliseconds=1))
    async def flaky(task: TaskContext) -> str:
        seen.append(task.attempt)
        if task.attempt < 3:
            raise ConnectionError("try again")
        return "at last"

    handle = await flaky.submit()
    async with Worker(queue, jobs):
        assert await handle.result(timeout=30) == "at last"
    assert seen == [1, 2, 3]
    first = (await queue.list_attempts(handle.id))[0]
    assert first.error_kind == "ConnectionError"
    assert (first.error or "").startswith("ConnectionError: try again")


async def test_aborts_and_permanent_errors_are_not_retried(queue: Queue, jobs: Jobs):
    @jobs.task(permanent=(KeyError,))
    async def look_up(how: str) -> None:
        if how == "abort":
            raise Abort("nobody there", kind="gone")
        raise KeyError(how)

    aborted, missing = await look_up.submit("abort"), await look_up.submit("other")
    await Worker(queue, jobs).run_until_empty()
    assert [(await h.get()).error_kind for h in (aborted, missing)] == ["gone", "KeyError"]
    assert [(await h.get()).attempt for h in (aborted, missing)] == [1, 1]


async def test_a_blocked_task_says_so_and_is_tried_again(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=2, backoff_base=timedelta(hours=1))
    async def upload() -> None:
        raise Blocked("the login has expired", kind="auth")

    handle = await upload.submit()
    await Worker(queue, jobs).run_until_empty()
    task = await handle.get()
    assert (task.status, task.phase, task.error) == ("pending", "blocked", "the login has expired")
    await queue.retry_task(handle.id)
    await Worker(queue, jobs).run_until_empty()
    assert (await handle.get()).phase == "blocked", "and it was tried again"


async def test_an_error_that_text_cannot_hold_is_stored_all_the_same(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def fail() -> None:
        raise ValueError("nul \0 and \ud800")

    handle = await fail.submit()
    await Worker(queue, jobs).run_until_empty()
    assert "nul" in ((await handle.get()).error or "")


async def test_even_a_handler_that_exits_only_fails(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def leave(how: str) -> None:
        if how == "exit":
            raise SystemExit(3)
        raise asyncio.CancelledError

    handles = [await leave.submit("exit"), await leave.submit("cancel")]
    await Worker(queue, jobs).run_until_empty()
    assert [(await h.get()).error_kind for h in handles] == ["SystemExit", "CancelledError"]


async def test_a_snoozed_task_comes_back_without_an_attempt_used(queue: Queue, jobs: Jobs):
    seen: list[int] = []

    @jobs.task(max_attempts=1)
    async def patient(task: TaskContext) -> None:
        seen.append(task.attempt)
        if len(seen) < 3:
            raise Snooze(timedelta(milliseconds=20))

    handle = await patient.submit()
    async with Worker(queue, jobs):
        await handle.result(timeout=30)
    assert seen == [1, 1, 1]


async def test_a_handler_that_takes_too_long_is_stopped(queue: Queue, jobs: Jobs):
    stopped = []

    @jobs.task(timeout=timedelta(seconds=0.1), max_attempts=1)
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("async")

    @jobs.task(timeout=timedelta(seconds=0.1), max_attempts=1)
    def slow_thread(task: TaskContext) -> None:
        while not task.cancelled:
            time.sleep(0.01)
        stopped.append("thread")

    handles = [await slow.submit(), await slow_thread.submit()]
    await Worker(queue, jobs).run_until_empty()
    assert [(await h.get()).error_kind for h in handles] == ["timeout", "timeout"]
    assert sorted(stopped) == ["async", "thread"]


async def test_cancelling_a_running_task_stops_its_handler(queue: Queue, jobs: Jobs):
    began, seen = asyncio.Event(), []

    @jobs.task
    async def endless() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("async")
            raise

    @jobs.task
    def endless_thread() -> None:
        try:
            while True:
                current_task().raise_if_cancelled()
                time.sleep(0.01)
        except Interrupted:
            seen.append("thread")
            raise

    handles = [await endless.submit(), await endless_thread.submit()]
    async with Worker(queue, jobs, **QUICK) as worker:
        await began.wait()
        await until(lambda: worker.running == 2)
        for handle in handles:
            await handle.cancel("changed my mind")
        for handle in handles:
            with pytest.raises(TaskCancelled, match="changed my mind"):
                await handle.result(timeout=30)
    assert sorted(seen) == ["async", "thread"]


async def test_progress_is_seen_by_whoever_waits_and_tells_of_cancellation(queue: Queue, jobs: Jobs):
    reported = asyncio.Event()
    go_on = asyncio.Event()

    @jobs.task
    async def work(task: TaskContext) -> None:
        await task.report({"done": 0.5})
        reported.set()
        await go_on.wait()
        await task.report({"done": 0.6})
        await asyncio.sleep(60)

    @jobs.task
    def work_in_thread(task: TaskContext) -> None:
        task.report_sync({"done": 1})

    handle = await work.submit()
    async with Worker(queue, jobs):
        await (await work_in_thread.submit()).result(timeout=30)
        await reported.wait()
        assert await handle.progress() == {"done": 0.5}
        await handle.cancel()
        go_on.set()
        with pytest.raises(TaskCancelled):
            await handle.result(timeout=30)
