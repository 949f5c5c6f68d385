"""The worker: what it runs, when, and how it is set up."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Jobs, Queue, TaskContext, TaskFailed, Worker, current_task
from pgjobs.errors import InvalidArgument, NoWorkersAvailable
from pgjobs.jobs.context import TaskContextFilter
from tests.surfaces.worker.patience import has_status, until


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
        assert await first.result(timeout=30) == threading.current_thread().name
        assert (await second.result(timeout=30)).startswith("pgjobs-task")


async def test_an_idle_worker_is_woken_by_a_submit(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        await asyncio.sleep(0.3)
        await (await nothing.submit()).result(timeout=10)


async def test_a_delayed_task_is_run_when_it_is_due_without_a_wake_up(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    handle = await nothing.with_options(delay=timedelta(seconds=0.7)).submit()
    async with Worker(queue, jobs, poll=timedelta(minutes=5)):
        await handle.result(timeout=30)


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
        await until(lambda: has_status(handles[-1], "pending"))
        await until(lambda: has_status(handles[2], "pending"))
        go_on.set()
        for handle in handles:
            await handle.result(timeout=10)


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
        async def middleware(task: TaskContext, call_next: Callable[[], Awaitable[Any]]) -> Any:
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
    async def dirty(task: TaskContext, wait: bool) -> None:
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
    def work(task: TaskContext) -> None:
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
    async def look(task: TaskContext) -> None:
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
            await (await fail.submit()).result(timeout=30)
    assert caught.value.task.error_kind == "RuntimeError"


async def test_a_worker_is_known_by_the_jobs_it_serves_and_they_outlive_it(queue: Queue, jobs: Jobs):
    @jobs.task
    async def first() -> None: ...

    @jobs.task
    async def second() -> None: ...

    async with Worker(queue, jobs) as worker:
        for job in (first, second):
            assert (await queue.get_job(job.address)).workers == [worker.id]
        [listed] = await queue.list_workers()
        assert (listed.id, listed.job_count) == (worker.id, 2)
        assert await queue.submit_task(first.address, require_workers=True)
    for job in (first, second):
        left = await queue.get_job(job.address)
        assert (left.workers, left.keep, left.deleted_at) == ([], True, None)
    with pytest.raises(NoWorkersAvailable):
        await queue.submit_task(first.address, require_workers=True)
    assert (await first.submit()) is not None
