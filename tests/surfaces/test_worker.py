"""The worker: every way a task can end, and what happens around it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pgjobs import Abort, Jobs, Queue, RunningTask, Snooze, TaskCancelled, TaskFailed, Worker, current_task
from pgjobs.errors import InvalidArgument
from pgjobs.running import Interrupted, TaskContextFilter

QUICK: dict[str, Any] = {
    "lease": timedelta(seconds=1),
    "heartbeat": timedelta(seconds=0.2),
    "grace": timedelta(seconds=5),
}


@pytest.fixture(params=["postgres", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'queue.db'}"
    database_url: str = request.getfixturevalue("database_url")
    return database_url


@pytest.fixture
async def queue(url: str):
    async with await Queue.connect(url) as queue:
        if url.startswith("sqlite"):
            await queue.migrate()
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)


async def until(condition: Callable[[], Awaitable[bool] | bool], timeout: float = 10) -> None:
    async with asyncio.timeout(timeout):
        while True:
            met = condition()
            if met if isinstance(met, bool) else await met:
                return
            await asyncio.sleep(0.01)


async def test_async_and_threaded_handlers_run_and_answer(queue: Queue, jobs: Jobs):
    @jobs.task
    async def in_loop() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    @jobs.task
    def in_thread() -> str:
        return threading.current_thread().name

    first, second = await in_loop.submit(), await in_thread.submit()
    async with Worker(queue, jobs):
        assert await first.result(timeout=5) == threading.current_thread().name
        assert (await second.result(timeout=5)).startswith("pgjobs-task")


async def test_an_idle_worker_is_woken_by_a_submit(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        await asyncio.sleep(0.3)
        started = time.monotonic()
        await (await nothing.submit()).result(timeout=5)
        assert time.monotonic() - started < 2


async def test_a_delayed_task_is_run_when_it_is_due_without_a_wake_up(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    handle = await nothing.with_options(delay=timedelta(seconds=0.7)).submit()
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        await handle.result(timeout=5)


async def test_no_more_tasks_run_at_once_than_allowed(queue: Queue, jobs: Jobs):
    running, most = {"any": 0, "one": 0}, {"any": 0, "one": 0}

    async def busy(kind: str) -> None:
        running[kind] += 1
        most[kind] = max(most[kind], running[kind])
        await asyncio.sleep(0.02)
        running[kind] -= 1

    @jobs.task(concurrency=1)
    async def one() -> None:
        await busy("one")

    @jobs.task
    async def many() -> None:
        await busy("any")

    await one.submit_many([one.payload()] * 8)
    await many.submit_many([many.payload()] * 30)
    assert await Worker(queue, jobs, concurrency=5).run_until_empty() == 38
    assert most["one"] == 1
    assert 3 <= most["any"] <= 5


async def test_what_was_claimed_ahead_of_slow_tasks_is_given_back(
    queue: Queue, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pgjobs.worker.fetcher._PATIENCE", 0.1)
    go_on = asyncio.Event()

    @jobs.task(max_attempts=1)
    async def work(slow: bool) -> None:
        if slow:
            await go_on.wait()

    await work.submit_many([work.payload(slow=False)] * 2000)
    handles = await work.submit_many([work.payload(slow=True)] * 100)
    async with Worker(queue, jobs, concurrency=2) as worker:
        await until(lambda: worker.running == 2)
        await until(lambda: _has_status(handles[-1], "pending"))
        await until(lambda: _has_status(handles[2], "pending"))
        go_on.set()
        for handle in handles:
            await handle.result(timeout=10)


async def test_failures_are_retried_until_attempts_are_used_up(queue: Queue, jobs: Jobs):
    seen: list[int] = []

    @jobs.task(max_attempts=3, backoff_base=timedelta(milliseconds=1))
    async def flaky(task: RunningTask) -> str:
        seen.append(task.attempt)
        if task.attempt < 3:
            raise ConnectionError("try again")
        return "at last"

    handle = await flaky.submit()
    async with Worker(queue, jobs):
        assert await handle.result(timeout=5) == "at last"
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
    async def patient(task: RunningTask) -> None:
        seen.append(task.attempt)
        if len(seen) < 3:
            raise Snooze(timedelta(milliseconds=20))

    handle = await patient.submit()
    async with Worker(queue, jobs):
        await handle.result(timeout=5)
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
    def slow_thread(task: RunningTask) -> None:
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
                await handle.result(timeout=5)
    assert sorted(seen) == ["async", "thread"]


async def test_progress_is_seen_by_whoever_waits_and_tells_of_cancellation(queue: Queue, jobs: Jobs):
    reported = asyncio.Event()
    go_on = asyncio.Event()

    @jobs.task
    async def work(task: RunningTask) -> None:
        await task.report({"done": 0.5})
        reported.set()
        await go_on.wait()
        await task.report({"done": 0.6})
        await asyncio.sleep(60)

    @jobs.task
    def work_in_thread(task: RunningTask) -> None:
        task.report_sync({"done": 1})

    handle = await work.submit()
    async with Worker(queue, jobs):
        await (await work_in_thread.submit()).result(timeout=5)
        await reported.wait()
        assert await handle.progress() == {"done": 0.5}
        await handle.cancel()
        go_on.set()
        with pytest.raises(TaskCancelled):
            await handle.result(timeout=5)


async def test_a_blocked_event_loop_does_not_lose_its_lease(queue: Queue, jobs: Jobs):
    if "Sqlite" in type(queue.driver).__name__:
        pytest.skip("SQLite's one connection is reached through the event loop")

    @jobs.task(max_attempts=1)
    async def rude() -> str:
        time.sleep(2.5)  # noqa: ASYNC251
        return "done"

    handle = await rude.submit()
    async with Worker(queue, jobs, **QUICK):
        assert await handle.result(timeout=10) == "done"


async def test_a_worker_whose_lease_was_taken_stops_and_says_nothing(queue: Queue, jobs: Jobs):
    began, ended = asyncio.Event(), asyncio.Event()

    @jobs.task
    async def endless() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    handle = await endless.submit()
    async with Worker(queue, jobs, **QUICK):
        await began.wait()
        await handle.cancel("by force", force=True)
        await asyncio.wait_for(ended.wait(), 5)
    assert (await handle.get()).reason == "by force"


async def test_a_worker_that_cannot_renew_gives_its_tasks_up_by_itself(
    queue: Queue, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
):
    began, ended = asyncio.Event(), asyncio.Event()

    @jobs.task(max_attempts=5)
    async def endless() -> None:
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def unreachable(*_: Any, **__: Any) -> Any:
        raise OSError("network is down")

    await endless.submit()
    worker = Worker(queue, jobs, **QUICK, sweep=None)
    async with worker:
        await began.wait()
        monkeypatch.setattr(Queue, "renew_tasks", unreachable)
        await asyncio.wait_for(ended.wait(), 5)
        await until(lambda: worker.ended == 1)


async def test_a_worker_taken_for_dead_registers_again(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs, **QUICK) as worker:
        first = worker.id
        assert first is not None
        await queue.retire_worker(first)
        await (await nothing.submit()).result(timeout=5)
        await until(lambda: worker.id != first)


async def test_stopping_releases_what_has_not_started_and_waits_for_the_rest(queue: Queue, jobs: Jobs):
    began, go_on = asyncio.Event(), asyncio.Event()

    @jobs.task(max_attempts=1)
    async def wait() -> str:
        began.set()
        await go_on.wait()
        return "finished"

    handles = await wait.submit_many([wait.payload()] * 5)
    worker = Worker(queue, jobs, concurrency=2, prefetch=3)
    running = asyncio.create_task(worker.run())
    await began.wait()
    await until(lambda: worker.running == 2)
    worker.stop()
    await until(lambda: _has_status(handles[4], "pending"))
    go_on.set()
    await running
    statuses = [await handle.status() for handle in handles]
    assert statuses == ["completed"] * 2 + ["pending"] * 3
    assert [(await handle.get()).attempt for handle in handles[2:]] == [0, 0, 0]
    assert await queue.list_workers() == []


async def _has_status(handle: Any, status: str) -> bool:
    return bool(await handle.status() == status)


async def test_what_outlives_the_grace_period_is_released_without_an_attempt_used(queue: Queue, jobs: Jobs):
    began = asyncio.Event()

    @jobs.task(max_attempts=1)
    async def endless() -> None:
        began.set()
        await asyncio.sleep(60)

    handle = await endless.submit()
    async with Worker(queue, jobs, grace=timedelta(0)):
        await began.wait()
    task = await handle.get()
    assert (task.status, task.attempt) == ("pending", 0)


async def test_signals_stop_the_worker(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    running = asyncio.create_task(Worker(queue, jobs).run(signals=True))
    await (await nothing.submit()).result(timeout=5)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 5)


async def test_a_second_signal_does_not_wait_for_running_tasks(queue: Queue, jobs: Jobs):
    began = asyncio.Event()

    @jobs.task(max_attempts=1)
    async def endless() -> None:
        began.set()
        await asyncio.sleep(60)

    handle = await endless.submit()
    worker = Worker(queue, jobs, grace=timedelta(minutes=5))
    running = asyncio.create_task(worker.run(signals=True))
    await began.wait()
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
    await asyncio.wait_for(running, 10)
    assert await handle.status() == "pending"


async def test_a_task_nobody_here_has_a_handler_for_fails_and_the_worker_lives(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def known() -> None: ...

    worker = Worker(queue, jobs)
    await worker._register()
    stranger = await queue.register_job("@global", "tasks", "unknown", worker_id=worker.id)
    worker._fetcher._jobs = {**worker._fetcher._jobs, stranger.job_id: None}  # type: ignore[dict-item]
    lost = await queue.submit_task("@global:tasks:unknown")
    handle = await known.submit()
    acknowledging = asyncio.create_task(worker._acknowledger.run())
    await worker._fetcher.run_until_empty()
    acknowledging.cancel()
    assert (await queue.get_task(lost.task_id)).error_kind == "unknown_job"
    assert await handle.status() == "completed"


async def test_middleware_goes_around_the_handler_in_order(queue: Queue, jobs: Jobs):
    steps: list[str] = []

    def layer(name: str) -> Any:
        async def middleware(task: RunningTask, call_next: Callable[[], Awaitable[Any]]) -> Any:
            steps.append(f"{name} before {task.attempt}")
            try:
                return f"{name}({await call_next()})"
            finally:
                steps.append(f"{name} after")

        return middleware

    jobs.middleware += [layer("outer"), layer("inner")]

    @jobs.task
    async def work() -> str:
        steps.append("work")
        return "it"

    handle = await work.submit()
    await Worker(queue, jobs).run_until_empty()
    assert await handle.result() == "outer(inner(it))"
    assert steps == ["outer before 1", "inner before 1", "work", "inner after", "outer after"]


async def test_each_task_has_a_context_of_its_own(queue: Queue, jobs: Jobs):
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="clean")
    seen: list[str] = []

    @jobs.task
    async def dirty(task: RunningTask, wait: bool) -> None:
        assert current_task() is task
        seen.append(variable.get())
        variable.set("dirty")
        if wait:
            await asyncio.sleep(0)
            assert variable.get() == "dirty"

    await dirty.submit_many([dirty.payload(wait=bool(n % 2)) for n in range(6)])
    await Worker(queue, jobs).run_until_empty()
    assert seen == ["clean"] * 6


async def test_timeouts_and_groups_inside_a_handler_work(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def careful() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(asyncio.sleep(0, "fine"))
            return task.result()
        return "never"

    handles = await careful.submit_many([careful.payload()] * 20)
    await Worker(queue, jobs).run_until_empty()
    assert [await handle.result() for handle in handles] == ["fine"] * 20


async def test_log_records_say_which_task_they_belong_to(
    queue: Queue, jobs: Jobs, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    caplog.handler.addFilter(TaskContextFilter())

    @jobs.task
    def work(task: RunningTask) -> None:
        logging.getLogger("mine").info("anywhere")
        task.log.info("here")

    handle = await work.submit()
    await Worker(queue, jobs).run_until_empty()
    records = [record for record in caplog.records if record.message in ("anywhere", "here")]
    assert [(r.task_id, r.job, r.attempt) for r in records] == [(handle.id, work.address, 1)] * 2  # type: ignore[attr-defined]


async def test_bad_worker_options_are_refused(queue: Queue, jobs: Jobs):
    for wrong in ({"concurrency": 0}, {"prefetch": -1}, {"lease": timedelta(0)}, {"grace": timedelta(-1)}):
        with pytest.raises(InvalidArgument):
            Worker(queue, jobs, **wrong)


async def test_a_lease_above_the_cap_is_granted_up_to_the_cap(queue: Queue, jobs: Jobs):
    untils: list[timedelta] = []

    @jobs.task
    async def look(task: RunningTask) -> None:
        untils.append(task.row["until"] - task.row["claimed_at"])

    await look.submit()
    await Worker(queue, jobs, lease=timedelta(days=7)).run_until_empty()
    assert untils == [timedelta(hours=1)]


async def test_a_failing_task_waited_for_is_reported(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def fail() -> None:
        raise RuntimeError("broken")

    async with Worker(queue, jobs):
        with pytest.raises(TaskFailed, match="broken") as caught:
            await (await fail.submit()).result(timeout=5)
    assert caught.value.task.error_kind == "RuntimeError"
