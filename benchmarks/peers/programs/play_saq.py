"""SAQ on Redis: a worker that runs a hundred at once. Redis keeps everything in memory only."""

import asyncio
from importlib.metadata import version

import uvloop
from play import System, play
from saq import Queue, Worker

AT_ONCE = 100


class Saq(System):
    mode = f"SAQ {version('saq')} on Redis (nothing flushed to disk), concurrency {AT_ONCE}, hiredis, uvloop"

    async def open(self, url):
        self.queue = Queue.from_url(url)
        await self.queue.connect()

    async def submit(self, payload):
        await self.queue.enqueue("run", **payload)

    async def submit_many(self, payloads):
        await asyncio.gather(*(self.submit(payload) for payload in payloads))

    async def start(self, handle, *, alone):
        async def run(_context, **payload):
            handle(payload)

        worker = Worker(self.queue, [("run", run)], concurrency=AT_ONCE)
        worker.SIGNALS = []
        self.running = asyncio.create_task(worker.start())

    async def is_finished(self):
        return await self.queue.count("incomplete") == 0


play(Saq(), uvloop.run)
