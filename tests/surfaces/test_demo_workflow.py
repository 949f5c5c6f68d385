"""The workflow of `make demo`: it runs, sleeps, waits for an approval, and finishes."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg

from pgjobs import Worker
from pgjobs.cli import demo_traffic
from pgjobs.cli.demo import jobs
from pgjobs.queue.server import ServerQueue as Queue


async def test_it_runs_sleeps_waits_for_an_approval_and_finishes(database_url: str):
    connection = await asyncpg.connect(database_url)
    async with await Queue.connect(database_url) as queue:
        jobs.use(queue)
        try:
            begun = asyncio.create_task(demo_traffic._onboard(queue))
            while not (found := await queue.list_workflows(name=demo_traffic.ONBOARDING)):
                assert not begun.done()
            worker = Worker(queue, jobs, lease=timedelta(hours=1))

            async def phase() -> str | None:
                await worker.run_until_empty()
                tasks = {task.name: task for task in await queue.list_workflow_tasks(found[0].id)}
                return tasks["account"].phase

            assert await phase() == "sleeping"
            await connection.execute("update pgjobs.test_clock set shift = $1", timedelta(minutes=1))
            assert await phase() == "waiting"
            account = next(
                task for task in await queue.list_workflow_tasks(found[0].id) if task.name == "account"
            )
            await queue.send_signal(account.task_id, "approved", {"by": "ada"})
            await phase()
            done = await queue.get_workflow(found[0].id)
            assert (done.status, done.completed) == ("completed", done.tasks)
            results = {task.name: task.result for task in await queue.list_workflow_tasks(done.id)}
            assert results["account"] == results["welcome"] == "Hello, Ada!"
            assert results["announce"] == "account completed, welcome completed"
        finally:
            begun.cancel()
            jobs.use(None)
            await connection.close()
