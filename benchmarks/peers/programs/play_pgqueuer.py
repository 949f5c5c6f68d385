"""PgQueuer: five queue managers in one process that take a hundred each, on uvloop as its command runs it."""

import asyncio
import json
from importlib.metadata import version

import asyncpg
import uvloop
from pgqueuer import AsyncpgDriver, PgQueuer
from pgqueuer.queries import Queries
from play import System, play

MANAGERS, BATCH = 5, 100


class PgQueuerSystem(System):
    mode = f"PgQueuer {version('pgqueuer')}, {MANAGERS} managers × batch {BATCH}, uvloop; pickup: 1 manager"

    async def open(self, url):
        self.url = url
        self.connection = await asyncpg.connect(url)
        self.queries = Queries(AsyncpgDriver(self.connection))
        await self.queries.install()

    async def submit(self, payload):
        await self.queries.enqueue("run", json.dumps(payload).encode())

    async def submit_many(self, payloads):
        many = len(payloads)
        await self.queries.enqueue(["run"] * many, [json.dumps(p).encode() for p in payloads], [0] * many)

    async def start(self, handle, *, alone):
        self.running = []
        for _ in range(1 if alone else MANAGERS):
            manager = PgQueuer(AsyncpgDriver(await asyncpg.connect(self.url)))

            @manager.entrypoint("run")
            async def run(job):
                handle(json.loads(job.payload))

            coroutine = manager.run() if alone else manager.run(batch_size=BATCH)
            self.running.append(asyncio.create_task(coroutine))

    async def is_finished(self):
        return not await self.connection.fetchval("select exists (select from pgqueuer)")


play(PgQueuerSystem(), uvloop.run)
