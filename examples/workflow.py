"""A workflow: pages fetched side by side, merged, and told of whatever happens.

export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
pgjobs migrate
python examples/workflow.py
pgjobs workflows list
"""

from __future__ import annotations

import asyncio

from pgjobs import Jobs, Queue, TaskContext, Worker

jobs = Jobs(category="examples")


@jobs.task
async def fetch(page: int) -> int:
    return page * 100


@jobs.task
async def merge(task: TaskContext) -> int:
    return sum((await task.parents()).values())


@jobs.task
async def tell(task: TaskContext) -> str:
    return ", ".join(f"{parent.name} {parent.status}" for parent in await task.queue.list_parents(task.id))


async def main() -> None:
    async with await Queue.connect() as queue:
        jobs.use(queue)
        flow = jobs.workflow("report")
        pages = [flow.add(fetch, page, name=f"page {page}") for page in (1, 2, 3)]
        merged = flow.add(merge, after=pages)
        flow.add(tell, after=merged, on_failure="run")
        handle = await flow.submit()
        async with Worker(queue, jobs):
            await handle.wait()
        print(f"{handle.status}: {handle.results['merge']}, {handle.results['tell']}")


if __name__ == "__main__":
    asyncio.run(main())
