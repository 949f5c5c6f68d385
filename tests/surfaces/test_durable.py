"""Durable handlers, run by a real worker: steps, waits, signals, calls and workflows."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import asyncpg
import psycopg
import pytest
from pydantic import BaseModel

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.jobs.durable import CallFailed, StepRetry

NOW = timedelta(0)


class Account(BaseModel):
    user: int
    uuid: UUID


@pytest.fixture
async def clock(database_url: str):
    connection = await asyncpg.connect(database_url)

    async def advance(**parts: float) -> None:
        await connection.execute("update pgjobs.test_clock set shift = shift + $1", timedelta(**parts))

    yield advance
    await connection.close()


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        yield queue
        assert [rule for rule in await queue.check() if rule.violations] == []


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)


async def drained(queue: Queue, jobs: Jobs) -> int:
    return await Worker(queue, jobs, lease=timedelta(hours=1)).run_until_empty()


async def test_a_step_runs_once_and_its_typed_result_is_read_back(queue: Queue, jobs: Jobs):
    made: list[int] = []
    seen: list[Account] = []

    async def create_account(user: int) -> Account:
        made.append(user)
        return Account(user=user, uuid=UUID(int=user))

    @jobs.task(max_attempts=3, backoff_base=NOW)
    async def onboard(task: TaskContext, user: int) -> str:
        account = await task.step("account", create_account, user)
        seen.append(account)
        if task.attempt < 3:
            raise RuntimeError("not yet")
        return str(account.uuid)

    handle = await onboard.submit(7)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == str(UUID(int=7))
    assert made == [7]
    assert seen == [Account(user=7, uuid=UUID(int=7))] * 3


async def test_a_step_that_raises_keeps_nothing_and_is_repeated_as_its_policy_says(queue: Queue, jobs: Jobs):
    calls: list[str] = []

    def shaky(name: str) -> str:
        calls.append(name)
        if len(calls) < 3:
            raise OSError("busy")
        return name

    @jobs.task
    async def work(task: TaskContext) -> str:
        name: str = await task.step("shaky", shaky, "x", retry=StepRetry(attempts=3, delay=NOW))
        return name

    handle = await work.submit()
    await drained(queue, jobs)
    assert (await handle.result(timeout=30), len(calls)) == ("x", 3)


async def test_a_name_used_twice_is_refused(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def work(task: TaskContext) -> None:
        await task.step("one", lambda: 1)
        await task.step("one", lambda: 2)

    handle = await work.submit()
    await drained(queue, jobs)
    task = await handle.get()
    assert task.status == "failed"
    assert "used twice" in (task.error or "")


async def test_effect_and_step_commit_together(queue: Queue, jobs: Jobs, database_url: str):
    connection = await asyncpg.connect(database_url)
    await connection.execute("create table charges (id serial)")

    @jobs.task(max_attempts=4, backoff_base=NOW)
    async def charge(task: TaskContext) -> int:
        async with task.step_transaction("charge") as step:
            if not step.is_done:
                step.result = await step.connection.fetchval(
                    "insert into charges default values returning id"
                )
                if task.attempt == 1:
                    raise RuntimeError("in the middle")
        if task.attempt < 4:
            raise RuntimeError("after it")
        result: int = step.result
        return result

    handle = await charge.submit()
    await drained(queue, jobs)
    charged = [row["id"] for row in await connection.fetch("select id from charges")]
    assert charged == [await handle.result(timeout=30)]
    await connection.close()


async def test_a_handler_sleeps_without_a_worker(queue: Queue, jobs: Jobs, clock):
    ran: list[str] = []

    @jobs.task(max_attempts=1)
    async def trial(task: TaskContext) -> str:
        ran.append("begin")
        await task.sleep("trial", timedelta(days=14))
        return "over"

    handle = await trial.submit()
    await drained(queue, jobs)
    assert ((await handle.get()).phase, (await handle.get()).attempt) == ("sleeping", 0)
    await clock(days=14)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == "over"
    assert ran == ["begin", "begin"]


async def test_a_handler_waits_for_a_signal(queue: Queue, jobs: Jobs):
    @jobs.task
    async def approve(task: TaskContext) -> object:
        return await task.wait_for_signal("approved", timeout=timedelta(days=3))

    first, second = await approve.submit(), await approve.submit()
    await drained(queue, jobs)
    await queue.send_signal(first.id, "approved", {"by": "ada"})
    await drained(queue, jobs)
    assert await first.result(timeout=30) == {"by": "ada"}
    assert (await second.get()).phase == "waiting"


async def test_a_wait_whose_time_is_over_gives_none(queue: Queue, jobs: Jobs, clock):
    @jobs.task
    async def approve(task: TaskContext) -> str:
        answer = await task.wait_for_signal("approved", timeout=timedelta(days=3))
        again = await task.wait_for_signal("other", timeout=NOW)
        return f"{answer} {again}"

    handle = await approve.submit()
    await drained(queue, jobs)
    await clock(days=3)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == "None None"


async def test_a_handler_calls_tasks_of_its_own_job_without_holding_their_slot(queue: Queue, jobs: Jobs):
    @jobs.task(max_running=1)
    async def factorial(task: TaskContext, n: int) -> int:
        return 1 if n < 2 else n * await task.call("smaller", factorial, n - 1)

    handle = await factorial.submit(4)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == 24


async def test_a_fan_out_comes_back_in_order_and_typed(queue: Queue, jobs: Jobs):
    @jobs.task
    async def render(page: int) -> Account:
        return Account(user=page, uuid=UUID(int=page))

    @jobs.task
    async def book(task: TaskContext, pages: int) -> list[int]:
        rendered = await task.call_all("pages", render, [render.payload(page) for page in range(pages)])
        return [page.user for page in rendered]

    handle = await book.submit(20)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == list(range(20))


async def test_a_call_that_fails_raises_in_its_caller(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def broken() -> None:
        raise ValueError("no")

    @jobs.task
    async def caller(task: TaskContext) -> str:
        try:
            await task.call("one", broken)
        except CallFailed as error:
            return error.called.status
        return "fine"

    handle = await caller.submit()
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == "failed"


async def test_plain_functions_have_the_same(queue: Queue, jobs: Jobs, clock):
    made: list[int] = []

    def make(user: int) -> int:
        made.append(user)
        return user * 2

    @jobs.task
    def double(n: int) -> int:
        return n * 2

    @jobs.task
    def work(task: TaskContext, user: int) -> list[object]:
        first = task.step_sync("make", make, user)
        task.sleep_sync("nap", timedelta(hours=1))
        said = task.wait_for_signal_sync("said")
        return [first, said, task.call_sync("double", double, 4)]

    handle = await work.submit(5)
    await drained(queue, jobs)
    await clock(hours=1)
    await drained(queue, jobs)
    await queue.send_signal(handle.id, "said", "yes")
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == [10, "yes", 8]
    assert made == [5]


async def test_plain_functions_repeat_steps_and_read_parents_and_progress(queue: Queue, jobs: Jobs):
    calls: list[int] = []
    seen: list[object] = []

    def shaky() -> int:
        calls.append(len(calls))
        if len(calls) < 3:
            raise OSError("busy")
        return len(calls)

    @jobs.task
    def fetch() -> int:
        return 7

    @jobs.task(max_attempts=2, backoff_base=NOW)
    def merge(task: TaskContext) -> int:
        seen.append(task.kept_progress_sync())
        task.report_sync({"row": 40})
        tried = task.step_sync("shaky", shaky, retry=StepRetry(attempts=3, delay=NOW))
        if task.attempt == 1:
            raise RuntimeError("not yet")
        total: int = tried + sum(task.parents_sync().values())
        return total

    flow = jobs.workflow("nightly")
    flow.add(merge, after=flow.add(fetch))
    handle = await flow.submit(queue)
    await drained(queue, jobs)
    await handle.wait(timeout=30)
    assert handle.results["merge"] == 10
    assert (len(calls), seen) == (3, [None, {"row": 40}])


async def test_a_plain_functions_effect_and_step_commit_together(queue: Queue, jobs: Jobs, database_url: str):
    with psycopg.connect(database_url) as owner:
        owner.execute("create table charges (id integer generated always as identity)")

    @jobs.task(max_attempts=3, backoff_base=NOW)
    def charge(task: TaskContext) -> int:
        with psycopg.connect(database_url) as mine, task.step_transaction_sync("charge", mine) as step:
            if not step.is_done:
                (step.result,) = mine.execute("insert into charges default values returning id").fetchall()[0]
                if task.attempt == 1:
                    raise RuntimeError("in the middle")
        if task.attempt == 2:
            raise RuntimeError("after it")
        result: int = step.result
        return result

    handle = await charge.submit()
    await drained(queue, jobs)
    charged = await handle.result(timeout=30)
    with psycopg.connect(database_url) as owner:
        assert owner.execute("select id from charges").fetchall() == [(charged,)]


async def test_progress_is_there_for_the_next_attempt(queue: Queue, jobs: Jobs):
    seen: list[object] = []

    @jobs.task(max_attempts=2, backoff_base=NOW)
    async def work(task: TaskContext) -> None:
        seen.append(await task.kept_progress())
        await task.report({"row": 40})
        if task.attempt == 1:
            raise RuntimeError("broken")

    await work.submit()
    await drained(queue, jobs)
    assert seen == [None, {"row": 40}]


async def test_a_handler_that_keeps_the_suspension_to_itself_is_suspended_all_the_same(
    queue: Queue, jobs: Jobs, clock
):
    @jobs.task
    async def greedy(task: TaskContext) -> str:
        try:
            await task.sleep("nap", timedelta(hours=1))
        except BaseException:
            return "I do not care"
        return "slept"

    handle = await greedy.submit()
    await drained(queue, jobs)
    assert (await handle.get()).phase == "sleeping"
    await clock(hours=1)
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == "slept"


async def test_a_running_worker_takes_a_suspended_task_up_by_itself(queue: Queue, jobs: Jobs):
    @jobs.task
    async def child(n: int) -> int:
        return n

    @jobs.task
    async def work(task: TaskContext) -> int:
        await task.sleep("nap", timedelta(milliseconds=50))
        said: int = await task.wait_for_signal("said")
        return said + sum(await task.call_all("children", child, [child.payload(n) for n in range(5)]))

    handle = await work.submit()
    async with Worker(queue, jobs):
        await queue.send_signal(handle.id, "said", 100)
        assert await handle.result(timeout=60) == 110
