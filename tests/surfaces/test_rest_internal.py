"""`@internal` jobs inside the server, through whatever happens to their worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from fastapi import FastAPI

from pgjobs import Worker
from pgjobs.errors import InvalidArgument
from pgjobs.queue.records import Task
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import dispatching, internal, register_internal

ECHO = "@internal:modifiers:Echo"


async def echo(payload: Any, *_: Any) -> Any:
    return payload["says"]


@asynccontextmanager
async def served(queue: Queue, handler: Any = echo, **options: Any) -> AsyncIterator[None]:
    """The job is served, as it is while an application runs."""
    internal = register_internal(FastAPI(), {ECHO: handler}, **options)
    serving = asyncio.create_task(internal.run(queue))
    try:
        yield
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def workers_of(queue: Queue) -> list[Any]:
    async with asyncio.timeout(20):
        while not (workers := await queue.list_workers()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return workers


async def ended(queue: Queue, **payload: Any) -> Task:
    task = await queue.submit_task(ECHO, payload, room="lab")
    return await queue.wait_for(task.task_id, 20)


async def test_a_server_that_was_taken_for_dead_serves_again(queue: Queue):
    async with served(queue):
        (worker,) = await workers_of(queue)
        await queue.retire_worker(worker.id)
        assert (await ended(queue, says="hello")).status == "completed"


async def test_a_server_that_cannot_register_at_first_serves_later(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
):
    register, tries = queue.register_worker, []

    async def fails_once(*args: Any, **options: Any) -> Any:
        tries.append(args)
        if len(tries) == 1:
            raise RuntimeError("not yet")
        return await register(*args, **options)

    monkeypatch.setattr(queue, "register_worker", fails_once)
    async with served(queue):
        await workers_of(queue)
        assert (await ended(queue, says="hello")).status == "completed"


@pytest.mark.parametrize(
    "result",
    [lambda: "x" * 2_000_000, object, lambda: "\0", lambda: float("nan")],
    ids=["long", "object", "nul", "nan"],
)
async def test_a_task_whose_result_cannot_be_kept_fails_at_once(queue: Queue, result: Callable[[], Any]):
    async def handler(*_: Any) -> Any:
        return result()

    async with served(queue, handler):
        await workers_of(queue)
        task = await ended(queue)
    assert (task.status, task.error_kind) == ("failed", "result_invalid")


async def test_a_handlers_error_is_told_without_its_trace(queue: Queue):
    async with served(queue):
        await workers_of(queue)
        task = await ended(queue, said="nothing")
    assert (task.error, task.error_kind) == ("'says'", "KeyError")


async def test_a_task_is_cancelled_while_it_runs(queue: Queue, monkeypatch: pytest.MonkeyPatch):
    # It learns of it with its next heartbeat.
    monkeypatch.setattr(internal, "Worker", partial(Worker, heartbeat=timedelta(seconds=0.5)))
    begun = asyncio.Event()

    async def handler(*_: Any) -> None:
        begun.set()
        await asyncio.sleep(60)

    async with served(queue, handler):
        await workers_of(queue)
        task = await queue.submit_task(ECHO, {}, room="lab")
        await asyncio.wait_for(begun.wait(), 20)
        await queue.cancel_task(task.task_id)
        assert (await queue.wait_for(task.task_id, 20)).status == "cancelled"


async def test_a_task_in_the_middle_goes_back_when_the_server_stops(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pgjobs.server.internal.GRACE", timedelta(0))
    begun = asyncio.Event()

    async def handler(*_: Any) -> None:
        begun.set()
        await asyncio.sleep(60)

    async with served(queue, handler):
        await workers_of(queue)
        task = await queue.submit_task(ECHO, {}, room="lab")
        await asyncio.wait_for(begun.wait(), 20)
    assert (await queue.get_task(task.task_id)).status == "pending"
    assert await queue.list_workers() == []


async def test_a_server_that_hands_tasks_on_serves_again_after_it_was_taken_for_dead(queue: Queue):
    handed_on = asyncio.Queue[Any]()

    async def executor(_job: str, payload: Any, *_: Any) -> None:
        await handed_on.put(payload)

    async with served(queue, executor=executor):
        (worker,) = await workers_of(queue)
        await queue.retire_worker(worker.id)
        # What a claim under way takes for the old worker waits for the next sweep.
        async with asyncio.timeout(20):
            while [each.id for each in await workers_of(queue)] == [worker.id]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await queue.submit_task(ECHO, {"says": "hello"}, room="lab")
        async with asyncio.timeout(20):
            assert await handed_on.get() == {"says": "hello"}


async def test_a_server_that_hands_tasks_on_leaves_no_marks_behind(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dispatching, "POLL_SECONDS", 0.01)
    mark, marks, kept = queue.mark_waiting, [], set()

    async def noted(*args: Any, previous: int | None = None, **options: Any) -> Any:
        marked = await mark(*args, previous=previous, **options)
        kept.discard(previous)
        kept.add(marked.mark)
        marks.append(marked.mark)
        return marked

    async def executor(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(queue, "mark_waiting", noted)
    async with served(queue, executor=executor, concurrency=1):
        async with asyncio.timeout(20):
            while len(marks) < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert len(kept) == 1


def test_an_internal_job_without_a_category_is_refused():
    with pytest.raises(InvalidArgument, match="Invalid job name format: Echo"):
        register_internal(FastAPI(), {"Echo": echo})
