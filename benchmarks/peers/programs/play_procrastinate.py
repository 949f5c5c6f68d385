"""Procrastinate: thirty tasks at once, a pool that fits them, notifications on."""

import asyncio
from importlib.metadata import version

import procrastinate
from play import System, play

AT_ONCE = 30


class Procrastinate(System):
    mode = f"Procrastinate {version('procrastinate')}, concurrency {AT_ONCE}, LISTEN"

    async def open(self, url):
        connector = procrastinate.PsycopgConnector(conninfo=url, min_size=4, max_size=AT_ONCE + 6)
        self.app = procrastinate.App(connector=connector)
        await self.app.open_async()
        await self.app.schema_manager.apply_schema_async()

        @self.app.task(name="run")
        async def run(**payload):
            self.handle(payload)

        self.task = run

    async def submit(self, payload):
        await self.task.defer_async(**payload)

    async def submit_many(self, payloads):
        await self.task.batch_defer_async(*payloads)

    async def start(self, handle, *, alone):
        self.handle = handle
        worker = self.app.run_worker_async(concurrency=AT_ONCE, install_signal_handlers=False)
        self.running = asyncio.create_task(worker)

    async def is_finished(self):
        row = await self.app.connector.execute_query_one_async(
            "select exists (select from procrastinate_jobs where status in ('todo', 'doing')) as is_left"
        )
        return not row["is_left"]


play(Procrastinate())
