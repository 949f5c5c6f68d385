"""Handlers that raise what is not an error, or do not let go of the event loop."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest

from pgjobs import Jobs, Queue, Worker
from tests.surfaces.worker import escaping

ESCAPES = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit, StopIteration)
KINDS = {"StopIteration": {"StopIteration", "RuntimeError"}}
"""Python does not let StopIteration out of a coroutine."""


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.__name__)
@pytest.mark.parametrize("mode", ["async", "awaiting", "thread", "process"])
async def test_whatever_a_handler_raises_ends_that_attempt_and_nothing_else(
    queue: Queue, jobs: Jobs, escape: type[BaseException], mode: str
):
    runs: list[int] = []

    async def leave(number: int) -> int:
        runs.append(number)
        if mode == "awaiting":
            await asyncio.sleep(0)
        if number == 0:
            raise escape
        return number

    def leave_thread(number: int) -> int:
        runs.append(number)
        if number == 0:
            raise escape
        return number

    handler: Any = {"thread": leave_thread, "process": escaping.leave}.get(mode, leave)
    job = jobs.task(max_attempts=1, mode="process" if mode == "process" else None)(handler)
    payloads = [job.payload(n) if mode != "process" else job.payload(n, escape.__name__) for n in range(3)]
    handles = await job.submit_many(payloads)
    async with Worker(queue, jobs, concurrency=2, grace=timedelta(seconds=5)):
        for handle in handles[1:]:
            await handle.result(timeout=20)
        async with asyncio.timeout(20):
            task = await queue.wait_for(handles[0].id)
    assert (task.status, task.attempt) == ("failed", 1)
    assert task.error_kind in KINDS.get(escape.__name__, {escape.__name__})
    assert runs.count(0) == (0 if mode == "process" else 1)


async def test_a_thread_that_runs_a_cancelled_event_loop_only_fails(queue: Queue, jobs: Jobs):
    async def cancelled() -> None:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        await asyncio.sleep(1)

    @jobs.task(max_attempts=1)
    def bridge() -> None:
        asyncio.run(cancelled())

    handle = await bridge.submit()
    async with asyncio.timeout(20):
        await Worker(queue, jobs).run_until_empty()
    assert (await handle.get()).error_kind == "CancelledError"


async def test_a_handler_that_blocks_the_event_loop_past_its_time_has_timed_out(queue: Queue, jobs: Jobs):
    @jobs.task(timeout=timedelta(seconds=0.05), max_attempts=1)
    async def rude(ends: str) -> str:
        time.sleep(0.2)  # noqa: ASYNC251
        if ends == "raises":
            raise ValueError("late")
        return "done"

    @jobs.task(timeout=timedelta(seconds=5), max_attempts=1)
    async def polite() -> str:
        return "done"

    late = [await rude.submit("returns"), await rude.submit("raises")]
    in_time = await polite.submit()
    await Worker(queue, jobs).run_until_empty()
    assert [(await handle.get()).error_kind for handle in late] == ["timeout", "timeout"]
    assert (await in_time.get()).result == "done"


async def test_a_result_that_cannot_even_be_looked_at_fails_its_task(queue: Queue, jobs: Jobs):
    class Trap(dict[str, int]):
        def items(self) -> Any:
            raise RuntimeError("not yours")

    @jobs.task(max_attempts=1)
    async def trap(number: int) -> Any:
        return Trap(a=1) if number == 0 else number

    handles = await trap.submit_many([trap.payload(number) for number in range(3)])
    async with asyncio.timeout(20):
        await Worker(queue, jobs).run_until_empty()
    assert [(await handle.get()).status for handle in handles] == ["failed", "completed", "completed"]
    assert (await handles[0].get()).error_kind == "result_invalid"
