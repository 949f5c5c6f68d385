"""A concurrency limit: an API that allows two requests at once, whatever the number of workers.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/limits.py

Operators change it while workers run: `pgjobs jobs limit @global:api:fetch 5`.
"""

from __future__ import annotations

import asyncio

from pgjobs import Jobs, Queue, Worker

jobs = Jobs(category="api")
at_once: list[int] = []
most: list[int] = []


@jobs.task(max_running=2)
async def fetch(page: int) -> int:
    at_once.append(page)
    most.append(len(at_once))
    await asyncio.sleep(0.05)
    at_once.remove(page)
    return page


async def main() -> None:
    async with await Queue.connect() as queue:
        jobs.use(queue)
        async with Worker(queue, jobs, name="first"), Worker(queue, jobs, name="second"):
            handles = await fetch.submit_many([fetch.payload(page) for page in range(10)])
            pages = [await handle.result(timeout=60) for handle in handles]
        print(f"{len(pages)} pages, {max(most)} at once")


if __name__ == "__main__":
    asyncio.run(main())
