"""pgjobs: the shipped Worker as it comes."""

from play import System, play

import pgjobs
from pgjobs import Jobs, Queue, Worker

# An earlier commit, which plain tasks are compared with, has neither it nor steps.
TaskContext = getattr(pgjobs, "TaskContext", None)


async def one() -> int:
    return 1


class PgJobs(System):
    mode = f"pgjobs {pgjobs.__version__}, Worker as it comes: 32 at once, history and results kept"

    async def open(self, url):
        self.queue = await Queue.connect(url)
        await self.queue.migrate()
        self.handle = None
        self.jobs = Jobs()
        self.jobs.use(self.queue)

        @self.jobs.task
        async def run(n: int = 0, text: str = "", at: float | None = None) -> None:
            self.handle({"at": at})

        self.job = run

        if TaskContext is None:
            return

        @self.jobs.task
        async def flow(task: TaskContext) -> int:
            total = 0
            for name in ("first", "second", "third"):
                total += await task.step(name, one)
            self.handle({})
            return total

        self.flow = flow

    async def submit(self, payload):
        await self.job.submit(**payload)

    async def submit_many(self, payloads):
        await self.job.submit_many(self.job.payload(**payload) for payload in payloads)

    async def submit_workflows(self, count):
        await self.flow.submit_many(self.flow.payload() for _ in range(count))

    async def start(self, handle, *, alone):
        self.handle = handle
        self.worker = Worker(self.queue, self.jobs)
        await self.worker.start()

    async def is_finished(self):
        return not await self.queue.driver.pool.fetchval(
            "select exists (select from pgjobs.ready) or exists (select from pgjobs.leases)"
        )


play(PgJobs())
