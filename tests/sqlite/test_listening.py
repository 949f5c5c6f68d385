"""Notifications, from this process and from others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from pgjobs.drivers.sqlite.listener import Mailbox
from pgjobs.queue.queue import Queue

MINUTE = timedelta(minutes=1)


class Bell:
    """Collects the payloads of one channel."""

    def __init__(self) -> None:
        self.rung: list[str] = []
        self._event = asyncio.Event()

    def ring(self, payload: str) -> None:
        self.rung.append(payload)
        self._event.set()

    async def heard(self) -> None:
        await asyncio.wait_for(self._event.wait(), 5)
        self._event.clear()


@pytest.fixture
async def elsewhere(path: Path, queue: Queue) -> AsyncIterator[Queue]:
    """The same file through a connection of its own, as another process would have it."""
    async with await Queue.connect(f"sqlite:///{path}") as other:
        yield other


@pytest.fixture(params=["here", "elsewhere"])
def submitter(request: pytest.FixtureRequest, queue: Queue, elsewhere: Queue) -> Queue:
    return queue if request.param == "here" else elsewhere


async def test_an_idle_worker_is_woken_by_a_submit(queue, job, submitter):
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    mark = await queue.mark_waiting(in_room="@global")
    await submitter.submit_task(job)
    await bell.heard()
    assert bell.rung == [str(mark.mark)]


async def test_a_mark_wakes_once(queue, job):
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    await queue.mark_waiting(in_room="@global")
    await queue.submit_tasks(job, [{}] * 3)
    await queue.submit_task(job)
    await bell.heard()
    assert len(bell.rung) == 1


async def test_as_many_workers_are_woken_as_there_are_tasks(queue, job):
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    marks = [(await queue.mark_waiting(in_room="@global")).mark for _ in range(3)]
    await queue.submit_tasks(job, [{}, {}])
    await bell.heard()
    assert bell.rung == [str(mark) for mark in marks[:2]]


async def test_a_worker_of_another_job_sleeps_on(queue, job):
    other = await queue.register_job("@global", "tests", "Other")
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    await queue.mark_waiting(job_ids=[other.job_id])
    await queue.submit_task(job)
    await queue.submit_task("@global:tests:Other")
    await bell.heard()
    assert len(bell.rung) == 1


async def test_a_resumed_job_wakes_its_workers(queue, job):
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    await queue.mark_waiting(in_room="@global")
    await queue.pause_job(job)
    await queue.resume_job(job)
    await bell.heard()


async def test_the_end_of_a_watched_task_is_told(queue, job, submitter):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{}, {}])]
    bell = Bell()
    await queue.driver.listen("ended", bell.ring)
    await queue.driver.call("watch_task", task_id=ids[1])
    for task_id in ids:
        await submitter.cancel_task(task_id)
    await bell.heard()
    assert bell.rung == [str(ids[1])]


async def test_events_are_told_to_whoever_reads_them(queue, job, submitter):
    submitted = await queue.submit_task(job)
    bell = Bell()
    await queue.driver.listen("events", bell.ring)
    await submitter.cancel_task(submitted.task_id)
    await bell.heard()
    assert bell.rung == [""]


async def test_what_is_rolled_back_is_not_told(queue, job, connection):
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    mark = await queue.mark_waiting(in_room="@global")
    await queue.bound_to(connection).submit_task(job)
    connection.rollback()
    await queue.submit_task(job)
    await bell.heard()
    assert bell.rung == [str(mark.mark)]


async def test_what_is_over_is_not_told_to_those_who_come_later(queue, job):
    await queue.mark_waiting(in_room="@global")
    await queue.submit_task(job)
    bell = Bell()
    await queue.driver.listen("wake", bell.ring)
    mark = await queue.mark_waiting(in_room="@global")
    await queue.submit_task(job)
    await bell.heard()
    assert bell.rung == [str(mark.mark)]


async def test_whoever_stops_listening_hears_nothing(queue, job):
    silent, bell = Bell(), Bell()
    stop = await queue.driver.listen("wake", silent.ring)
    await queue.driver.listen("wake", bell.ring)
    stop()
    await queue.mark_waiting(in_room="@global")
    await queue.submit_task(job)
    await bell.heard()
    assert silent.rung == []


async def test_nobody_looks_while_nobody_listens(queue, job, monkeypatch):
    looks = []

    def look(mailbox):
        looks.append(mailbox)
        return []

    monkeypatch.setattr(Mailbox, "read", look)
    stop = await queue.driver.listen("wake", lambda _: None)
    await queue.submit_task(job)
    assert looks
    stop()
    looks.clear()
    await queue.submit_task(job)
    assert looks == []
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "pgjobs sqlite listener"]


def _telling(call, called):
    async def told(*arguments):
        answer = await call(*arguments)
        called.set()
        return answer

    return told


async def test_waiting_for_a_result_needs_no_poll(queue, job, monkeypatch):
    await queue.submit_task(job)
    lease = (await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global"))[0]
    watched = asyncio.Event()
    monkeypatch.setattr(queue, "get_task", _telling(queue.get_task, watched))
    waiting = asyncio.create_task(queue.wait_for(lease.task_id, timeout=5, poll=60))
    await watched.wait()
    await queue.complete_task(lease, {"ok": True})
    assert (await waiting).result == {"ok": True}
