"""Connections that are cut at the worst moment."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from pgjobs import Jobs, Queue, TaskContext, Worker
from pgjobs.errors import SchemaBehind
from tests.surfaces.worker.patience import until

NAMED = {"application_name": "a worker"}
BLOCKED = (
    "select pid from pg_stat_activity where datname = current_database()"
    " and application_name = 'a worker' and wait_event_type = 'Lock'"
)

ANOTHER_ANSWER = """
    alter function pgjobs.complete_tasks set schema public;
    create function pgjobs.complete_tasks(task_ids bigint[], tokens uuid[], results jsonb[] = null, holder text = null)
    returns table (task_id bigint, status text, problem text, is_newer boolean)
    language sql as 'select *, true from public.complete_tasks($1, $2, $3, $4)';
"""


@pytest.mark.parametrize("table", ["jobs", "workers"])
async def test_a_worker_cut_off_while_it_registers_comes_up_all_the_same(database_url: str, table: str):
    operator = await asyncpg.connect(database_url)
    # Within a transaction the list of sessions stays as it was when first looked at.
    onlooker = await asyncpg.connect(database_url)
    async with (
        await Queue.connect(database_url) as queue,
        await Queue.connect(database_url, server_settings=NAMED) as workers_queue,
    ):
        jobs = Jobs(queue)

        @jobs.task
        async def answer() -> int:
            return 42

        handle = await answer.submit()
        worker = Worker(workers_queue, jobs)
        starting = None
        for _ in range(2):
            async with operator.transaction():
                await operator.execute(f"lock table pgjobs.{table} in access exclusive mode")
                starting = starting or asyncio.create_task(worker.start())

                async def is_blocked() -> bool:
                    return bool(await onlooker.fetch(BLOCKED))

                await until(is_blocked)
                for row in await onlooker.fetch(BLOCKED):
                    await operator.execute("select pg_terminate_backend($1)", row["pid"])
                await asyncio.sleep(0.05)
        assert starting is not None
        await starting
        assert await handle.result(timeout=30) == 42
        await worker.close()
    await onlooker.close()
    await operator.close()


async def test_a_worker_told_to_stop_while_it_cannot_register_gives_up(database_url: str):
    async with await Queue.connect(database_url, min_size=0) as queue:
        jobs = Jobs(queue)

        @jobs.task
        async def nothing() -> None: ...

        worker = Worker(queue, jobs)
        await queue.driver.close()
        worker.stop()
        with pytest.raises(asyncpg.InterfaceError):
            await worker.start()


async def test_what_is_wrong_with_the_database_itself_is_said_at_once(database_url: str):
    async with await Queue.connect(database_url, schema="elsewhere") as queue:
        jobs = Jobs(queue)

        @jobs.task
        async def nothing() -> None: ...

        with pytest.raises(SchemaBehind, match="elsewhere"):
            await Worker(queue, jobs).start()


async def test_an_acknowledgement_that_an_upgrade_gets_in_the_way_of_is_repeated(database_url: str):
    operator = await asyncpg.connect(database_url)
    async with await Queue.connect(database_url) as queue:
        jobs = Jobs(queue)

        @jobs.task(max_attempts=1)
        async def answer() -> int:
            await operator.execute("alter function pgjobs.complete_tasks set schema public")
            asyncio.get_running_loop().call_later(0.3, put_back.set)
            return 42

        put_back = asyncio.Event()
        handle = await answer.submit()
        async with Worker(queue, jobs):
            await put_back.wait()
            await operator.execute("alter function public.complete_tasks set schema pgjobs")
            assert await handle.result(timeout=30) == 42
    await operator.close()


async def test_a_transaction_that_an_upgrade_has_overtaken_is_run_again_at_no_cost(database_url: str):
    operator = await asyncpg.connect(database_url)
    async with await Queue.connect(database_url) as queue:
        jobs, runs = Jobs(queue), []

        @jobs.task(max_attempts=1)
        async def note(task: TaskContext) -> None:
            async with task.transaction() as connection:
                runs.append(task.token)
                if len(runs) == 1:
                    # From here on the connection knows how the verb answers.
                    await queue.bound_to(connection).complete_tasks([(task.id + 1, task.token)])
                    await operator.execute(ANOTHER_ANSWER)
                    # A session learns what others have changed when it locks something.
                    await connection.execute("select from pgjobs.tasks")

        handle = await note.submit()
        async with Worker(queue, jobs):
            await handle.result(timeout=30)
        assert len(runs) == 2
        assert (await handle.get()).attempt == 1
    await operator.close()
