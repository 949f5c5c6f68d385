"""Absurd: tasks of three steps, eight workers of eight, each with a connection of its own as its SDK asks."""

import asyncio
from importlib.metadata import version

import psycopg
from absurd_sdk import AsyncAbsurd
from absurdctl import BUNDLED_SCHEMA_SQL
from play import System, play

WORKERS, AT_ONCE = 8, 8


class Absurd(System):
    mode = f"Absurd {version('absurd-sdk')}, {WORKERS} workers with {AT_ONCE} at once, polling each 50 ms"

    async def open(self, url):
        self.url = url
        self.connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
        await self.connection.execute(BUNDLED_SCHEMA_SQL)
        self.clients = [AsyncAbsurd(url, queue_name="bench") for _ in range(WORKERS)]
        await self.clients[0].create_queue()
        for client in self.clients:
            client.register_task("flow")(self.flow)
        self.running = []

    async def flow(self, _params, context):
        total = 0
        for name in ("first", "second", "third"):
            total += await context.step(name, one)
        self.handle({})
        return total

    async def submit_workflows(self, count):
        async def submit(client, share):
            for _ in range(share):
                await client.spawn("flow", {})

        shares = [count // WORKERS + (n < count % WORKERS) for n in range(WORKERS)]
        await asyncio.gather(*map(submit, self.submitters, shares))

    async def start(self, handle, *, alone):
        self.handle = handle
        self.submitters = [AsyncAbsurd(self.url, queue_name="bench") for _ in range(WORKERS)]
        for submitter in self.submitters:
            submitter.register_task("flow")(self.flow)
        self.running = [
            asyncio.create_task(client.start_worker(f"worker-{n}", concurrency=AT_ONCE, poll_interval=0.05))
            for n, client in enumerate(self.clients)
        ]

    async def is_finished(self):
        cursor = await self.connection.execute(
            "select not exists (select from absurd.t_bench where state not in ('completed', 'failed', 'cancelled'))"
        )
        return (await cursor.fetchone())[0]


async def one():
    return 1


play(Absurd())
