"""Typed registration: payloads are checked where they are submitted and where they are run."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import asyncpg
import pytest
from pydantic import BaseModel, Field

from pgjobs import Jobs, Queue, TaskCancelled, TaskContext, TaskFailed, TaskHandle, Worker
from pgjobs.errors import InvalidArgument, PayloadInvalid, PgJobsError

R = TypeVar("R")


class Mail(BaseModel):
    to: str
    copies: int = Field(default=1, ge=1)


@dataclasses.dataclass
class Point:
    x: float
    y: float


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        yield queue


@pytest.fixture
def jobs(queue: Queue) -> Jobs:
    return Jobs(queue)


async def drained(queue: Queue, jobs: Jobs) -> int:
    return await Worker(queue, jobs).run_until_empty()


async def test_a_handler_gets_what_was_submitted_and_its_result_comes_back(queue: Queue, jobs: Jobs):
    @jobs.task
    async def greet(name: str, *, times: int = 1, since: datetime | None = None) -> str:
        return f"hello {name} " * times + str(since and since.year)

    handle = await greet.submit("Ada", times=2, since=datetime(1843, 1, 1, tzinfo=UTC))
    await drained(queue, jobs)
    assert await handle.result(timeout=30) == "hello Ada hello Ada 1843"


async def test_models_and_dataclasses_are_the_whole_payload(queue: Queue, jobs: Jobs):
    @jobs.task
    async def send(mail: Mail) -> Mail:
        return Mail(to=mail.to.upper(), copies=mail.copies + 1)

    @jobs.task
    def mirror(point: Point) -> Point:
        return Point(-point.x, -point.y)

    sent, mirrored = await send.submit(Mail(to="ada")), await mirror.submit(Point(1, 2))
    assert (await sent.get()).payload == {"to": "ada", "copies": 1}
    await drained(queue, jobs)
    assert await sent.result(timeout=30) == Mail(to="ADA", copies=2)
    assert await mirrored.result(timeout=30) == Point(-1, -2)


async def test_the_schema_is_derived_and_registered(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=7, backoff_base=timedelta(seconds=5))
    async def send(mail: Mail) -> None: ...

    await send.submit(Mail(to="ada"))
    job = await queue.get_job(send.address)
    assert job.schema["properties"]["copies"]["minimum"] == 1
    assert (job.max_attempts, job.backoff_base) == (7, timedelta(seconds=5))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), (("x",), {}), ((1, 2), {}), ((), {"number": 1, "other": 2}), ((), {"number": float("nan")})],
)
async def test_a_call_that_does_not_fit_is_refused_and_stores_nothing(
    queue: Queue, jobs: Jobs, args: tuple[Any, ...], kwargs: dict[str, Any]
):
    @jobs.task
    async def halve(number: int) -> None: ...

    with pytest.raises(PayloadInvalid):
        await halve.submit(*args, **kwargs)
    assert await queue.list_tasks() == []


async def test_type_checkers_see_the_signature_of_the_handler(queue: Queue, jobs: Jobs):
    """Each ignore is one that mypy would call unused if it did not see the mistake."""

    @jobs.task(name="halve it")
    async def halve(task: TaskContext, number: int, *, exactly: bool = False) -> float:
        return number / 2

    with pytest.raises(PayloadInvalid):
        await halve.submit("three")  # type: ignore[arg-type]
    with pytest.raises(PayloadInvalid):
        await halve.submit(3, precisely=True)  # type: ignore[call-arg]
    result: float = await self_drained(queue, jobs, await halve.submit(3, exactly=True))
    assert result == 1.5
    wrong: str = await (await halve.submit(5)).result(0.01) if result < 0 else ""  # type: ignore[assignment]
    assert wrong == ""


async def self_drained(queue: Queue, jobs: Jobs, handle: TaskHandle[R]) -> R:
    await drained(queue, jobs)
    return await handle.result(timeout=30)


async def test_a_payload_that_does_not_fit_fails_the_task_for_good(queue: Queue, jobs: Jobs):
    @jobs.task
    async def halve(number: int) -> float:
        return number / 2

    good = await halve.submit(3)
    bad = await queue.submit_task(halve.address, {"number": "three"})
    await drained(queue, jobs)
    assert await good.result(timeout=30) == 1.5
    task = await queue.get_task(bad.task_id)
    assert (task.status, task.error_kind, task.attempt) == ("failed", "payload_invalid", 1)
    assert "number" in (task.error or "")


@pytest.mark.parametrize("value", [object(), {1, 2}, float("inf"), "nul \0", "\ud800"])
async def test_a_result_json_cannot_hold_fails_its_task_and_no_other(queue: Queue, jobs: Jobs, value: Any):
    @jobs.task
    async def give(well: bool) -> Any:
        return "fine" if well else value

    handles = await give.submit_many([give.payload(well) for well in (True, False, True)])
    await drained(queue, jobs)
    assert [await handle.status() for handle in handles] == ["completed", "failed", "completed"]
    assert (await handles[1].get()).error_kind == "result_invalid"


async def test_a_result_over_the_limit_fails_its_task_and_no_other(queue: Queue, jobs: Jobs):
    @jobs.task
    async def give(size: int) -> str:
        return "x" * size

    handles = await give.submit_many([give.payload(size) for size in (1, 2_000_000, 3)])
    await drained(queue, jobs)
    assert [await handle.status() for handle in handles] == ["completed", "failed", "completed"]
    assert "exceeds" in ((await handles[1].get()).error or "")


async def test_options_reach_the_task(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    urgent = nothing.with_options(
        priority=1, delay=timedelta(hours=1), owner="ada", tags=["a"], idempotency_key="once"
    )
    first, second = await urgent.submit(), await urgent.submit()
    task = await first.get()
    assert (task.priority, task.phase, task.owner, task.tags) == (1, "scheduled", "ada", ["a"])
    assert (second.id, first.is_new, second.is_new) == (first.id, True, False)
    with pytest.raises(PgJobsError, match="between zero and 1000 years"):
        await nothing.with_options(delay=timedelta(seconds=-1)).submit()
    with pytest.raises(InvalidArgument, match="colour"):
        nothing.with_options(colour="red")


async def test_a_task_submitted_in_a_transaction_exists_if_it_commits(
    queue: Queue, jobs: Jobs, database_url: str
):
    @jobs.task
    async def nothing() -> None: ...

    connection = await asyncpg.connect(database_url)
    transaction = connection.transaction()
    await transaction.start()
    await nothing.with_options(connection=connection).submit()
    await transaction.rollback()
    async with connection.transaction():
        kept = await nothing.with_options(connection=connection).submit()
    await connection.close()
    assert [task.id for task in await queue.list_tasks()] == [kept.id]


async def test_awaiting_a_failed_or_cancelled_task_raises(queue: Queue, jobs: Jobs):
    @jobs.task(max_attempts=1)
    async def fail() -> None:
        raise ValueError("no luck")

    failed, cancelled, waiting = await fail.submit(), await fail.submit(), await fail.submit()
    await cancelled.cancel("not needed")
    with pytest.raises(TimeoutError):
        await waiting.result(timeout=0.01)
    await drained(queue, jobs)
    with pytest.raises(TaskFailed, match="no luck"):
        await failed.result(timeout=30)
    with pytest.raises(TaskCancelled, match="not needed"):
        await cancelled.result(timeout=30)


async def test_a_job_retired_in_between_comes_back_with_the_next_submit(queue: Queue, jobs: Jobs):
    @jobs.task
    async def nothing() -> None: ...

    await nothing.submit()
    await drained(queue, jobs)
    await queue.retire_job(nothing.address)
    assert (await nothing.submit()).is_new


def test_handlers_that_cannot_be_called_by_name_are_refused():
    jobs = Jobs()
    for handler in (lambda *args: None, lambda **kwargs: None, lambda x, /: None):
        with pytest.raises(InvalidArgument, match="takes"):
            jobs.task(name="it")(handler)


def test_a_handler_that_no_other_process_can_find_is_refused():
    jobs = Jobs()

    def local(number: int) -> int:
        return number

    for handler in (local, lambda: None):
        with pytest.raises(InvalidArgument, match="another process"):
            jobs.task(mode="process")(handler)
    with pytest.raises(InvalidArgument, match="running task"):
        jobs.task(mode="process")(wants_its_task)
    assert jobs.registered == {}


def wants_its_task(task: TaskContext) -> None: ...


def test_contradictory_options_are_refused():
    jobs = Jobs()

    async def later() -> None: ...

    with pytest.raises(InvalidArgument, match="coroutine"):
        jobs.task(mode="thread")(later)
    with pytest.raises(InvalidArgument, match="concurrency"):
        jobs.task(concurrency=0)(later)
    with pytest.raises(InvalidArgument, match="timeout"):
        jobs.task(timeout=timedelta(0))(later)
    jobs.task(later)
    with pytest.raises(InvalidArgument, match="twice"):
        jobs.task(later)


async def test_a_job_is_still_the_function_it_was():
    jobs = Jobs()

    @jobs.task
    async def double(number: int) -> int:
        return number * 2

    assert await double(21) == 42
