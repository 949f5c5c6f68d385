"""Parts of a worker by themselves, where a whole one would hide what they do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.drivers import Row
from pgjobs.jobs.context import TaskContext
from pgjobs.queue.queue import Queue
from pgjobs.worker import prefetch
from pgjobs.worker.acknowledger import Acknowledger


class Unreachable:
    """A driver that nobody answers, until `answers` is set."""

    schema = "pgjobs"

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.answers = False

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        self.calls.append(arguments["task_ids"])
        if not self.answers:
            raise OSError("network is down")
        return [{"task_id": number, "problem": None} for number in arguments["task_ids"]]


def held_task(number: int, deadline: float) -> TaskContext:
    row = {"task_id": number, "token": uuid4(), "job": "@global:tests:Work", "attempt": 1}
    return TaskContext(row, None, Queue(Unreachable()), deadline)  # type: ignore[arg-type]


async def test_nothing_is_said_about_a_task_once_its_lease_is_over(caplog: pytest.LogCaptureFixture):
    now = time.monotonic()
    driver = Unreachable()
    lapsed, current = held_task(1, now - 1), held_task(2, now + 60)
    held = {task.id: task for task in (lapsed, current)}
    acknowledger = Acknowledger(Queue(driver), held, lambda: None)  # type: ignore[arg-type]
    running = asyncio.create_task(acknowledger.run())
    for task in (lapsed, current):
        acknowledger.complete(task, None)
    async with asyncio.timeout(10):
        while len(driver.calls) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        driver.answers = True
        await acknowledger.flushed()
    running.cancel()
    assert driver.calls[0] == [1, 2]
    assert {number for numbers in driver.calls[1:] for number in numbers} == {2}
    assert held == {}
    assert "its lease ended before it could be acknowledged" in caplog.text


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def prefetch_after(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> tuple[prefetch.Prefetch, SimpleNamespace]:
    """One that has seen a thousand tasks a second end."""
    monkeypatch.setattr(prefetch, "time", clock)
    runner = SimpleNamespace(ended=0)
    measured = prefetch.Prefetch(runner, None)  # type: ignore[arg-type]
    for _ in range(5):
        clock.now += 0.1
        runner.ended += 100
        measured.ahead()
    return measured, runner


def test_fast_tasks_are_claimed_a_quarter_of_a_second_ahead(monkeypatch: pytest.MonkeyPatch):
    measured, _ = prefetch_after(monkeypatch, Clock())
    assert measured.ahead() == pytest.approx(250, rel=0.02)


def test_fewer_are_claimed_ahead_when_tasks_become_slower(monkeypatch: pytest.MonkeyPatch):
    clock = Clock()
    measured, runner = prefetch_after(monkeypatch, clock)
    seen = [measured.ahead()]
    for _ in range(20):
        clock.now += 0.1
        runner.ended += 1
        seen.append(measured.ahead())
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] <= 3


def test_none_are_claimed_ahead_after_some_were_given_back(monkeypatch: pytest.MonkeyPatch):
    measured, _ = prefetch_after(monkeypatch, Clock())
    measured.slow_down()
    assert measured.ahead() == 0


def test_a_number_that_was_given_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prefetch, "time", Clock())
    given = prefetch.Prefetch(SimpleNamespace(ended=0), 7)  # type: ignore[arg-type]
    given.slow_down()
    assert given.ahead() == 7
