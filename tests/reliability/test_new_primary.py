"""While there is no primary everybody says so; once there is one again, everybody finds it by the same URL."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import psycopg
import pytest

from pgjobs import Queue
from pgjobs.drivers.transient import TRANSIENT
from pgjobs.server.app import create_app
from pgjobs.sync import Queue as SyncQueue
from tests.reliability.nodes import Pair
from tests.surfaces.cli.warm import run

JOB = "@global:tests:Echo"


async def woken(heard: asyncio.Queue[str]) -> None:
    async with asyncio.timeout(30):
        assert await heard.get() == ""


async def test_everybody_finds_the_new_primary(pair: Pair, tmp_path: Path):
    heard: asyncio.Queue[str] = asyncio.Queue()
    sync = SyncQueue.connect(pair.url, max_size=1)
    pool = sync._wrapped.driver.pool  # type: ignore[attr-defined]
    async with await Queue.connect(pair.url) as queue:
        await queue.register_job("@global", "tests", "Echo")
        await queue.driver.listen("wake", heard.put_nowait)
        await woken(heard)
        transport = httpx.ASGITransport(create_app(queue))
        async with httpx.AsyncClient(transport=transport, base_url="http://pgjobs") as client:
            submitted = [await queue.submit_task(JOB), await asyncio.to_thread(sync.submit_task, JOB)]
            assert (await client.get("/readyz")).status_code == 200

            await pair.kill_primary()
            with pytest.raises(TRANSIENT):
                await queue.submit_task(JOB)
            pool.timeout = 2
            with pytest.raises(psycopg.OperationalError):
                await asyncio.to_thread(sync.submit_task, JOB)
            assert (await client.get("/readyz")).status_code == 503
            refused = await client.get("/v1/joblib/rooms/lab/jobs", headers={"Authorization": "Bearer pgj_x"})
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
            told = await asyncio.to_thread(run, "tasks", "list", PGJOBS_DATABASE_URL=pair.url, cwd=tmp_path)
            assert (told.returncode, len(told.stderr.splitlines())) == (1, 1), told.stderr

            await pair.promote()
            pool.timeout = 30
            submitted.append(await queue.submit_task(JOB))
            submitted.append(await asyncio.to_thread(sync.submit_task, JOB))
            await woken(heard)
            assert (await client.get("/readyz")).status_code == 200
            listed = await asyncio.to_thread(
                run, "tasks", "list", "--json", PGJOBS_DATABASE_URL=pair.url, cwd=tmp_path
            )
            assert listed.returncode == 0, listed.stderr
        assert len({task.task_id for task in submitted}) == len(await queue.list_tasks()) == 4
    sync.close()
