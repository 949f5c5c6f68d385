"""Awa: its queue storage, 1,024 handlers at once that claim 512, polling each 50 ms beside notifications."""

from dataclasses import asdict, dataclass
from importlib.metadata import version

import awa
from play import System, play

HANDLERS, BATCH, POLL_MS = 1_024, 512, 50


@dataclass
class Run:
    n: int = 0
    text: str = ""
    at: float | None = None


class AwaSystem(System):
    mode = (
        f"Awa {version('awa-pg')}, queue storage, {HANDLERS} handlers × claims of {BATCH}, poll {POLL_MS} ms"
    )

    async def open(self, url):
        self.client = awa.AsyncClient(url, max_connections=20)
        await self.client.migrate()
        await self.client.install_queue_storage()

    async def submit(self, payload):
        await self.client.insert(Run(**payload), queue="run")

    async def submit_many(self, payloads):
        await self.client.enqueue_many_copy([Run(**payload) for payload in payloads], queue="run")

    async def start(self, handle, *, alone):
        @self.client.task(Run, queue="run")
        async def run(job):
            handle(asdict(job.args))

        queue = {"name": "run", "max_workers": HANDLERS, "claim_batch_size": BATCH}
        await self.client.start([queue], poll_interval_ms=POLL_MS)

    async def is_finished(self):
        stats = await self.client.queue_stats()
        return not any(queue.total_queued or queue.running for queue in stats)


play(AwaSystem())
