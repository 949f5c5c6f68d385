"""Cleaners that meet, sleep, stop and are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pgjobs.contrib.cleanup import (
    CleanupError,
    CleanupRunner,
)
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.cleaners import Recording, eventually
from tests.conformance.runs import (
    WEEK,
    cleanup_of,
    failed_run,
    register_runs,
)

pytestmark = [pytest.mark.postgres_only, pytest.mark.usefixtures("dav_secrets")]


@contextmanager
def deaf_server() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


async def test_two_cleaners_never_share_a_task(queue, clock, home):
    await register_runs(queue, {"type": "tape"})
    runs = [str(await failed_run(queue)) for _ in range(30)]
    await clock.advance(WEEK)
    one, two = Recording(pause=0.005), Recording(pause=0.005)
    async with await _another(queue, home) as other:
        tried = await asyncio.gather(
            CleanupRunner(queue, {"tape": one}).tick(), CleanupRunner(other, {"tape": two}).tick()
        )
    assert sum(tried) == 30
    assert Counter(one.runs + two.runs) == Counter(runs)
    assert one.runs
    assert two.runs
    assert await queue.count_cleanups(statuses=["done"]) == 30


async def _another(queue: Queue, home: Any) -> Queue:
    """The same queue over connections of its own."""
    return await Queue.connect(home.url)


async def test_a_tick_tries_at_most_its_batch(queue, clock):
    await register_runs(queue, {"type": "tape"})
    for _ in range(25):
        await failed_run(queue)
    await clock.advance(WEEK)
    cleaner = Recording()
    runner = CleanupRunner(queue, {"tape": cleaner})
    assert [await runner.tick() for _ in range(3)] == [20, 5, 0]
    assert len(cleaner.runs) == 25


async def test_a_failing_task_is_tried_once_per_tick(queue, clock):
    await cleanup_of(queue, clock, target={"type": "tape"})
    cleaner = Recording(error=CleanupError("network", "no route"))
    assert await CleanupRunner(queue, {"tape": cleaner}).tick() == 1
    assert len(cleaner.runs) == 1


class Counting:
    """A driver that counts the verbs it has answered."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.calls: list[str] = []

    async def call(self, verb: str, **arguments: Any) -> Any:
        answer = await self._driver.call(verb, **arguments)
        self.calls.append(verb)
        return answer

    async def fell_asleep(self) -> bool:
        """It has asked to be woken, and found nothing more to do."""
        return "await_cleanups" in self.calls and self.calls[-1] == "claim_cleanups"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)


@contextmanager
def running(runner: CleanupRunner) -> Iterator[None]:
    task = asyncio.ensure_future(runner.run())
    try:
        yield
    finally:
        task.cancel()


@pytest.mark.parametrize("stage", ["nothing", "retrying", "of another node"])
async def test_a_cleaner_with_nothing_to_do_asks_nothing(queue, clock, stage):
    cleaner = Recording(error=CleanupError("network", "no route"))
    node = None
    if stage != "nothing":
        await cleanup_of(queue, clock, target={"type": "tape"})
    if stage == "retrying":
        await CleanupRunner(queue, {"tape": cleaner}).tick()
    if stage == "of another node":
        node = "agent-7"
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner}, node_id=node)):  # type: ignore[arg-type]
        await eventually(lambda: _is(driver.calls.count("claim_cleanups") == 2))
        asked = len(driver.calls)
        await asyncio.sleep(2)
        assert driver.calls[asked:] == []
    assert driver.calls[:asked] == [
        "reconcile_cleanups",
        "claim_cleanups",
        "await_cleanups",
        "claim_cleanups",
    ]


async def _is(holds: bool) -> bool:
    return holds


async def test_retry_now_wakes_a_sleeping_cleaner(queue, clock):
    cleaner = Recording(error=CleanupError("auth", "401"))
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner})):  # type: ignore[arg-type]
        await eventually(driver.fell_asleep)
        assert (await queue.get_cleanup(run)).status == "blocked"
        cleaner.error = None
        await queue.retry_cleanup(run, actor="ada")
        await eventually(lambda: _is_done(queue, run))
    assert len(cleaner.runs) == 2


async def test_unignore_wakes_a_sleeping_cleaner(queue, clock):
    cleaner = Recording()
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    await queue.ignore_cleanup(run)
    driver = Counting(queue.driver)
    with running(CleanupRunner(Queue(driver), {"tape": cleaner})):  # type: ignore[arg-type]
        await eventually(driver.fell_asleep)
        await queue.unignore_cleanup(run)
        await eventually(lambda: _is_done(queue, run))


async def _is_done(queue: Queue, run: UUID) -> bool:
    return (await queue.get_cleanup(run)).status == "done"


async def test_a_cleaner_that_is_stopped_gives_its_task_back(queue, clock):
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    task = asyncio.ensure_future(CleanupRunner(queue, {"tape": Recording(pause=60)}).tick())
    await eventually(lambda: _has_status(queue, run, "running"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    shown = await queue.get_cleanup(run)
    assert (shown.status, shown.attempts) == ("queued", 0)


async def _has_status(queue: Queue, run: UUID, status: str) -> bool:
    return (await queue.get_cleanup(run)).status == status


async def test_a_cleaner_killed_midway_is_retried_by_another(queue, clock, home, tmp_path):
    with deaf_server() as address:
        target = {"type": "webdav", "base_url": address, "secret_name": "dav"}
        run = await cleanup_of(queue, clock, target=target)
        source = Path(__file__).parents[2] / "src"
        environment = {**os.environ, "PYTHONPATH": str(source), "PGJOBS_DATABASE_URL": home.url}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from pgjobs.cli import main; main()",
            "cleanup",
            "run",
            env=environment,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await eventually(lambda: _has_status(queue, run, "running"))
        finally:
            process.send_signal(signal.SIGKILL)
            await process.wait()
    assert (await queue.get_cleanup(run)).status == "running"
    await clock.advance(minutes=31)
    await queue.sweep("leases")
    assert (await queue.get_cleanup(run)).status == "retrying"
    await clock.advance(minutes=2)
    assert await CleanupRunner(queue, {"webdav": Recording()}).tick() == 1
    assert (await queue.get_cleanup(run)).status == "done"
    assert [event.kind for event in await queue.list_cleanup_events(run)] == [
        "attempt",
        "failed",
        "attempt",
        "deleted",
    ]
