"""A worker written with verbs alone: claim, start, work, acknowledge. One in ten attempts fails."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
from datetime import timedelta

from pgjobs import Queue
from pgjobs.models import Lease

LEASE = timedelta(seconds=3)


async def main(name: str) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    async with await Queue.connect() as queue:
        worker = await queue.register_worker(name, jobs=["@global:demo:Resize"])
        while not stopping.is_set():
            leases = await queue.claim_tasks(worker.id, quantity=8, lease=LEASE, start=True)
            for lease in leases:
                await work(queue, lease)
            if not leases:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), 0.1)
        await queue.retire_worker(worker.id)


async def work(queue: Queue, lease: Lease) -> None:
    await asyncio.sleep(random.uniform(0.01, 0.03))
    if random.random() < 0.1:
        await queue.fail_task(lease, "the picture is upside down", kind="content")
    else:
        await queue.complete_task(lease, {"width": 640, "picture": lease.payload["picture"]})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
