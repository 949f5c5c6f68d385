"""Every reader survives every row of the table, and nobody else pays for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pgjobs import Jobs, Queue, Worker
from tests.surfaces.hostile.rows import REFUSED, UNREADABLE, Scene


async def test_submit_refuses_what_programs_cannot_read(scene: Scene):
    assert scene.refused == REFUSED
    assert scene.quantity + len(scene.jobs) >= 100


async def test_a_worker_runs_everything_that_can_be_read(queue: Queue, scene: Scene):
    jobs = Jobs(queue)

    @jobs.task(name="Work", room="lab", category="tests", max_attempts=3, backoff_base=timedelta(0))
    async def work(a: Any = None, n: int | None = None) -> Any:
        return a if n is None else n

    async with Worker(queue, jobs, concurrency=4, prefetch=20) as worker:
        for place, number in enumerate(scene.neighbours):
            task = await queue.wait_for(number, 30)
            assert (task.status, task.result) == ("completed", place)
        for name in UNREADABLE:
            task = await queue.wait_for(scene.hostile[name], 30)
            assert (task.status, task.error_kind, task.attempt) == ("failed", "payload_invalid", 1), name
        assert worker.ended > len(scene.neighbours)
