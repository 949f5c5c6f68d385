"""DBOS: workflows of three steps, started in the process that runs them, a hundred at once."""

import asyncio
from importlib.metadata import version

from dbos import DBOS
from play import System, play

AT_ONCE = 100


class Dbos(System):
    mode = f"DBOS {version('dbos')}, workflows started where they run, {AT_ONCE} at once, 50 connections"

    async def open(self, url):
        DBOS(
            config={
                "name": "bench",
                "system_database_url": url,
                "sys_db_pool_size": 50,
                "log_level": "ERROR",
            }
        )

        @DBOS.step()
        async def one() -> int:
            return 1

        @DBOS.workflow()
        async def flow() -> int:
            total = 0
            for _ in range(3):
                total += await one()
            self.handle({})
            return total

        self.flow = flow
        DBOS.launch()

    async def submit_workflows(self, count):
        at_once = asyncio.Semaphore(AT_ONCE)

        async def run():
            async with at_once:
                await (await DBOS.start_workflow_async(self.flow)).get_result()

        await asyncio.gather(*(run() for _ in range(count)))

    async def start(self, handle, *, alone):
        self.handle = handle

    async def is_finished(self):
        return not await DBOS.list_workflows_async(status="PENDING", limit=1)


play(Dbos())
