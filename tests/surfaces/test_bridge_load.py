"""Two hundred listeners in one room, and up to two thousand changes (`make soak`)."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

import aiohttp

from pgjobs.queue.queue import Queue
from tests.surfaces.crowd import Browser
from tests.surfaces.processes import Server
from tests.surfaces.rest_server import token_of

BROWSERS, ROUNDS = 200, 5
CHANGES = int(os.environ.get("PGJOBS_SOAK_CHANGES", "200"))
TASKS = CHANGES // 4 // ROUNDS
JOB = "@global:modifiers:Rotate"

log = logging.getLogger("tests.soak")


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


async def change(queue: Queue, job_id: int) -> None:
    """Tasks of the room, through all four statuses."""
    await queue.submit_tasks(JOB, [{}] * TASKS, room="lab")
    worker = await queue.register_worker(jobs=[JOB])
    held = await queue.claim_tasks(worker.id, quantity=TASKS, job_ids=[job_id])
    assert len(held) == TASKS
    await queue.start_tasks(held)
    await queue.complete_tasks(held)


async def test_everybody_hears_every_change_once_and_memory_stays_flat(database_url):
    with Server(database_url) as server:
        connector = aiohttp.TCPConnector(limit=0)
        async with (
            await Queue.connect(database_url) as queue,
            aiohttp.ClientSession(connector=connector) as session,
        ):
            job = await queue.register_job(*JOB.split(":"), events="full")
            browsers = [Browser("lab") for _ in range(BROWSERS)]
            for browser in browsers:
                await browser.connect(session, server.base, token_of("ada"))
            sizes = []
            for done in range(1, ROUNDS + 1):
                await change(queue, job.job_id)
                wanted = done * 4 * TASKS
                deadline = time.monotonic() + 120
                while any(browser.told.total() < wanted for browser in browsers):
                    assert time.monotonic() < deadline, sorted(browser.told.total() for browser in browsers)
                    await asyncio.sleep(0.02)
                sizes.append(resident_bytes(server.pid))
            for browser in browsers:
                assert set(browser.told.values()) == {1}
                assert len(browser.told) == CHANGES
                await browser.leave()
            rounds = ", ".join(f"{size / 1024**2:.0f}" for size in sizes)
            log.info(
                "%d clients heard %d changes once; the server's MiB by round: %s", BROWSERS, CHANGES, rounds
            )
            assert sizes[-1] - sizes[0] < 20 * 1024**2
