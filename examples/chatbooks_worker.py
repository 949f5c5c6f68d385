"""A worker for long exports and imports that can be cancelled between chunks.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/chatbooks_worker.py

Between two chunks the worker renews its lease. The answer says whether somebody asked
to cancel the job. `LeaseLost`, from whichever call, says that the job took longer than
its lease and is somebody else's now: the worker drops it and continues with the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from pgjobs import GenericJob, JobManager
from pgjobs.errors import LeaseLost

DOMAIN, QUEUE = "chatbooks", "default"
LEASE_SECONDS = 60

Chunks = AsyncIterator[str]


class Cancelled(Exception):
    """Cancellation was requested."""


async def export_chatbook(payload: dict[str, Any]) -> Chunks:
    """Packs one conversation after the other."""
    for conversation in payload["conversations"]:
        await asyncio.sleep(0)
        yield f"packed {conversation}"


async def import_chatbook(payload: dict[str, Any]) -> Chunks:
    for item in payload["items"]:
        await asyncio.sleep(0)
        yield f"stored {item}"


HANDLERS: dict[str, Callable[[dict[str, Any]], Chunks]] = {
    "export": export_chatbook,
    "import": import_chatbook,
}


class ChatbooksWorker:
    """Runs jobs of the domain, as many at a time as the settings allow."""

    def __init__(self, jobs: JobManager, worker_id: str, handlers: dict[str, Any] | None = None) -> None:
        self._jobs = jobs
        self._worker_id = worker_id
        self._handlers = handlers or HANDLERS

    async def run_until_idle(self) -> int:
        """Works until nothing is due and says how many jobs it took."""
        taken = 0
        while jobs := await self._jobs.acquire_jobs(
            DOMAIN, QUEUE, LEASE_SECONDS, self._worker_id, self._jobs.settings.max_concurrency
        ):
            taken += len(jobs)
            await asyncio.gather(*(self.run(job) for job in jobs))
        return taken

    async def run(self, job: GenericJob) -> None:
        try:
            await self._run(job)
        except LeaseLost:
            # Whoever has the job now repeats it; there is nothing left to say.
            return

    async def _run(self, job: GenericJob) -> None:
        assert job.lease_id is not None
        held = (job.id, self._worker_id, job.lease_id)
        try:
            done = await self._work_through(job)
        except LeaseLost:
            raise
        except Cancelled:
            await self._jobs.fail_job(*held, error="cancelled between chunks", retryable=False)
        except Exception as error:
            # The lease may be lost by now, so this raises too.
            await self._jobs.fail_job(*held, error=error)
        else:
            await self._jobs.complete_job(*held, result={"done": done})

    async def _work_through(self, job: GenericJob) -> list[str]:
        done = []
        async for chunk in self._handlers[job.job_type](job.payload):
            done.append(chunk)
            await self._check(job)
        return done

    async def _check(self, job: GenericJob) -> None:
        renewed = await self._jobs.renew_job_lease(job.id, LEASE_SECONDS, self._worker_id, job.lease_id)
        if renewed["cancel_requested"]:
            raise Cancelled


async def main(url: str | None = None) -> None:
    async with JobManager(url) as jobs:
        await jobs.create_job(DOMAIN, QUEUE, "export", {"conversations": ["monday", "tuesday"]}, "ann")
        await jobs.create_job(DOMAIN, QUEUE, "import", {"items": ["note"]}, "ann")
        await ChatbooksWorker(jobs, "cb-worker-1").run_until_idle()
        for job in await jobs.list_jobs(DOMAIN, owner_user_id="ann"):
            print(job["job_type"], job["status"], job["result"])


if __name__ == "__main__":
    asyncio.run(main())
