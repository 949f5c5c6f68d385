"""Two servers, one of them killed under the worker and the API that work for both, and started again."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest
from pydantic import SecretStr

from pgjobs.queue.server import ServerQueue
from pgjobs.schema.embedded import EmbeddedPostgres
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from pgjobs.settings import CellAddress
from pgjobs.worker import CellsWorker
from tests.cells.conftest import JOB
from tests.cells.test_worker import SOON, doubling, ready, running
from tests.server import new_home
from tests.surfaces.processes import free_port
from tests.surfaces.rest_server import SECRET, serving, token_of

TASKS = 40


@pytest.fixture
async def other_server() -> AsyncIterator[EmbeddedPostgres]:
    home = new_home()
    server = EmbeddedPostgres(home / "other", port=free_port())
    try:
        await asyncio.to_thread(server.start)
        async with await ServerQueue.connect(server.url) as queue:
            await queue.migrate()
        yield server
    finally:
        with suppress(Exception):
            await asyncio.to_thread(server.stop)
        shutil.rmtree(home, ignore_errors=True)


def kill(server: EmbeddedPostgres) -> None:
    """Without a word, as a machine that loses its power."""
    process, server._process = server._process, None
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)


async def test_a_server_that_is_killed_and_comes_back_costs_its_cell_nothing_and_others_not_even_time(
    database_url: str, other_server: EmbeddedPostgres
):
    urls = {"eu": database_url, "us": other_server.url}
    queues = {name: await ServerQueue.connect(url, min_size=0) for name, url in urls.items()}
    app = create_app(
        settings=ApiSettings(auth_secret=SecretStr(SECRET)),
        cells=[CellAddress(name, SecretStr(url)) for name, url in urls.items()],
    )
    headers = {"Authorization": f"Bearer {token_of('root', is_superuser=True)}"}
    with serving(app) as base:
        async with (
            running(CellsWorker(queues, doubling(), poll=SOON)) as worker,
            httpx.AsyncClient(base_url=base, headers=headers, timeout=30, trust_env=False) as api,
        ):
            await ready(worker)
            acknowledged = await queues["us"].submit_tasks(JOB, [{"number": n} for n in range(TASKS)])
            await asyncio.to_thread(kill, other_server)
            tasks = await queues["eu"].submit_tasks(JOB, [{"number": n} for n in range(TASKS)])
            for task in tasks:
                assert (await queues["eu"].wait_for(task.task_id, 30)).status == "completed"
            listed = await api.get("/v1/joblib/tasks", params={"limit": 500})
            assert listed.headers["PgJobs-Missing"].startswith("us;")
            assert len(listed.json()["items"]) == TASKS
            await asyncio.to_thread(other_server.start)
            for task in acknowledged:
                assert (await queues["us"].wait_for(task.task_id, 60)).status == "completed"
            async with asyncio.timeout(30):
                while (await api.get("/v1/joblib/tasks/count")).json() != {  # noqa: ASYNC110
                    "total": 2 * TASKS,
                    "total_relation": "eq",
                }:
                    await asyncio.sleep(0.1)
            for queue in queues.values():
                assert [rule for rule in await queue.check() if rule.violations] == []
    for queue in queues.values():
        await queue.close()
