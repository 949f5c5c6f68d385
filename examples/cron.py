"""Recurring jobs: by cron in a time zone, and by an interval.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/cron.py          # ends after two runs
    pgjobs schedules list

In production nothing but `pgjobs worker cron:jobs` is needed: workers register the schedules of their jobs
when they start, and any worker or server submits a run when it is due, once.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pgjobs import Jobs, Queue, Worker

jobs = Jobs(category="reports")
runs: asyncio.Queue[str] = asyncio.Queue()


@jobs.task(max_attempts=3)
async def report(of: str = "today") -> str:
    await runs.put(of)
    return f"the report of {of}"


report.schedule("nightly", cron="30 2 * * *", timezone="Europe/Berlin", payload=report.payload("yesterday"))
report.schedule("pulse", every=timedelta(seconds=1), overlap=False)


async def main() -> None:
    async with await Queue.connect() as queue:
        jobs.use(queue)
        async with Worker(queue, jobs):
            for number in (1, 2):
                print(f"run {number}: the report of {await runs.get()}")
        nightly = await queue.get_schedule("@global:nightly")
        print(f"nightly: {nightly.words}, {nightly.timezone}")
        await queue.retire_schedule("@global:pulse")


if __name__ == "__main__":
    asyncio.run(main())
