"""pgmq: the SQL that its Python client carries, read and archived in batches by bare loops."""

import asyncio
import json
from importlib.metadata import version

import asyncpg
import uvloop
from pgmq.install import get_embedded_install_sql, get_embedded_sql_version
from play import System, play

LOOPS, BATCH = 2, 100
CHANNEL = "pgmq.q_bench.INSERT"


class Pgmq(System):
    mode = (
        f"pgmq SQL {get_embedded_sql_version()} (wheel {version('pgmq')}), {LOOPS} bare loops of read {BATCH} + archive, "
        "no worker; pickup: enable_notify_insert and LISTEN"
    )

    async def open(self, url):
        self.url = url
        self.connection = await asyncpg.connect(url)
        await self.connection.execute(get_embedded_install_sql())
        await self.connection.execute("select pgmq.create('bench')")

    async def submit(self, payload):
        await self.connection.fetchval("select pgmq.send('bench', $1::jsonb)", json.dumps(payload))

    async def submit_many(self, payloads):
        await self.connection.fetch(
            "select pgmq.send_batch('bench', $1::jsonb[])", [json.dumps(payload) for payload in payloads]
        )

    async def start(self, handle, *, alone):
        self.handle = handle
        loops = [self.wait_and_work()] if alone else [self.work() for _ in range(LOOPS)]
        self.running = [asyncio.create_task(loop) for loop in loops]

    async def work(self):
        connection = await asyncpg.connect(self.url)
        while await self.take(connection):
            pass

    async def wait_and_work(self):
        connection, woken = await asyncpg.connect(self.url), asyncio.Event()
        await connection.execute("select pgmq.enable_notify_insert('bench', 0)")
        await connection.add_listener(CHANNEL, lambda *_: woken.set())
        while True:
            await woken.wait()
            woken.clear()
            while await self.take(connection):
                pass

    async def take(self, connection):
        rows = await connection.fetch("select msg_id, message from pgmq.read('bench', 60, $1)", BATCH)
        for row in rows:
            self.handle(json.loads(row["message"]))
        if rows:
            await connection.fetch(
                "select pgmq.archive('bench', $1::bigint[])", [row["msg_id"] for row in rows]
            )
        return rows

    async def is_finished(self):
        return not await self.connection.fetchval("select exists (select from pgmq.q_bench)")


play(Pgmq(), uvloop.run)
