"""A worker process whose handlers have steps, transactional steps, sleeps, signals and called tasks."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
from datetime import timedelta

from pgjobs import Jobs, Queue, TaskContext, Worker

jobs = Jobs()


async def think(number: int) -> int:
    await asyncio.sleep(random.uniform(0, 0.03))
    return number


async def charge(task: TaskContext, name: str, number: int) -> None:
    async with task.step_transaction(name) as step:
        if not step.is_done:
            await step.connection.execute(
                "insert into ledger (number, name, pid) values ($1, $2, $3)", number, name, os.getpid()
            )
            await asyncio.sleep(random.uniform(0, 0.03))


@jobs.task(max_attempts=1000, backoff_base=timedelta(milliseconds=10))
async def page(task: TaskContext, number: int) -> int:
    await charge(task, "page", number)
    return number


@jobs.task(max_attempts=1000, backoff_base=timedelta(milliseconds=10))
async def begin(task: TaskContext, number: int) -> int:
    thought: int = await task.step("think", think, number)
    await charge(task, "begin", thought)
    await task.sleep("nap", timedelta(milliseconds=random.randint(0, 50)))
    return thought


@jobs.task(max_attempts=1000, backoff_base=timedelta(milliseconds=10))
async def middle(task: TaskContext, number: int) -> int:
    said: int = await task.wait_for_signal("go")
    await charge(task, "middle", number)
    pages = await task.call_all("pages", page, [page.payload(number * 10 + n) for n in range(2)])
    await charge(task, "after the pages", number)
    return said + len(pages)


@jobs.task(max_attempts=1000, backoff_base=timedelta(milliseconds=10))
async def finish(task: TaskContext, number: int) -> int:
    await charge(task, "end", number)
    return sum((await task.parents()).values())


async def main(url: str, lease_seconds: float) -> None:
    async with await Queue.connect(url, max_size=12) as queue:
        worker = Worker(
            queue,
            jobs,
            concurrency=8,
            lease=timedelta(seconds=lease_seconds),
            heartbeat=timedelta(seconds=lease_seconds / 3),
            grace=timedelta(seconds=10),
            sweep=timedelta(seconds=0.5),
            poll=timedelta(seconds=0.5),
        )
        await worker.run(signals=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(process)d %(message)s")
    random.seed(int(os.environ.get("SEED", "0")) + os.getpid())
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
