"""The shipped Worker: how fast it drains no-op tasks, and how soon it picks one up when idle.

    python benchmarks/worker_drain.py [tasks] [--url postgresql://…] [--rounds 3] [--pickups 100]

Results and history are kept, commits are synchronous. The database is created and dropped.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from pgjobs import Jobs, Queue, Worker
from pgjobs.typed_jobs import TypedJob

jobs = Jobs()
picked_up: list[float] = []


@jobs.task
async def nothing() -> None:
    pass


@jobs.task
async def answer() -> dict[str, int]:
    return {"answer": 42}


@jobs.task
async def pickup(at: float) -> None:
    picked_up.append(time.perf_counter() - at)


@asynccontextmanager
async def database(url: str, name: str = "pgjobs_bench_worker") -> AsyncIterator[Queue]:
    admin = await asyncpg.connect(url)
    await admin.execute(f"drop database if exists {name} with (force)")
    await admin.execute(f"create database {name}")
    try:
        async with await Queue.connect(f"{url.rpartition('/')[0]}/{name}") as queue:
            await queue.migrate()
            yield queue
    finally:
        await admin.execute(f"drop database if exists {name} with (force)")
        await admin.close()


async def drain(queue: Queue, job: TypedJob[[], Any], count: int) -> float:
    await job.submit_many([job.payload()] * count)
    worker = Worker(queue, jobs)
    started = time.perf_counter()
    async with worker:
        while worker.ended < count:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return count / (time.perf_counter() - started)


async def pickups(queue: Queue, count: int) -> list[float]:
    picked_up.clear()
    async with Worker(queue, jobs):
        for number in range(count):
            await asyncio.sleep(0.05)
            await pickup.submit(at=time.perf_counter())
            while len(picked_up) <= number:  # noqa: ASYNC110
                await asyncio.sleep(0.0005)
    return sorted(picked_up)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="?", type=int, default=100_000)
    parser.add_argument("--url", default="postgresql://postgres@127.0.0.1:5499/postgres")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pickups", type=int, default=100)
    options = parser.parse_args()
    async with database(options.url) as queue:
        jobs.use(queue)
        for job in (nothing, answer):
            rates = [await drain(queue, job, options.tasks) for _ in range(options.rounds)]
            each = " ".join(f"{rate:,.0f}" for rate in rates)
            print(f"drain {job.name}: {statistics.median(rates):,.0f} tasks/s (rounds: {each})")
        if options.pickups:
            times = await pickups(queue, options.pickups)
            p50, p95 = times[len(times) // 2] * 1000, times[int(len(times) * 0.95)] * 1000
            print(f"pickup, submit call included: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
