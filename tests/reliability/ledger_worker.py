"""A worker process whose handler writes a ledger line in the transaction that completes its task."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
from datetime import timedelta

from pgjobs import Jobs, Queue, TaskContext, Worker

jobs = Jobs()
log = logging.getLogger(__name__)


@jobs.task(max_attempts=1000, backoff_base=timedelta(milliseconds=10))
async def record(task: TaskContext, number: int) -> None:
    log.info("began %d under %s", number, task.token)
    async with task.transaction() as connection:
        await connection.execute(
            "insert into ledger (number, attempt, pid) values ($1, $2, $3)", number, task.attempt, os.getpid()
        )
        await asyncio.sleep(random.uniform(0, 0.06))
    log.info("recorded %d", number)


@jobs.task(max_attempts=1)
async def once(number: int) -> int:
    """Fails for good if an attempt is ever used up without an outcome."""
    await asyncio.sleep(random.uniform(0, 0.1))
    return number


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
    asyncio.run(main(os.environ.get("PGJOBS_LEDGER_URL", sys.argv[1]), float(sys.argv[2])))
