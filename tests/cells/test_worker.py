"""A worker for several cells: each is served, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from pgjobs import Jobs
from pgjobs.errors import SchemaBehind, SchemaConflict
from pgjobs.queue.server import ServerQueue
from pgjobs.worker import CellsWorker
from tests.cells.conftest import JOB, TwoCells
from tests.surfaces.test_cli_worker import PROGRAM, command, said

SOON = timedelta(milliseconds=50)


@asynccontextmanager
async def running(worker: CellsWorker):
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(running, 20)


@contextmanager
def ending(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """The process, which does not outlive a test that fails."""
    with process:
        try:
            yield process
        finally:
            process.kill()


async def ready(worker: CellsWorker) -> None:
    async with asyncio.timeout(20):
        while any(one.id is None for one in worker.workers.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def doubling() -> Jobs:
    jobs = Jobs()

    @jobs.task
    async def double(number: int) -> int:
        return number * 2

    return jobs


async def doubled(queue: ServerQueue, number: int) -> int:
    # The worker may have been first.
    with suppress(SchemaConflict):
        await queue.register_job("@global", "tasks", "double")
    task = await queue.submit_task(JOB, {"number": number})
    return int((await queue.wait_for(task.task_id, 20)).result)


async def test_one_process_runs_the_tasks_of_every_cell(two: TwoCells, both: dict[str, ServerQueue]):
    async with running(CellsWorker(both, doubling())) as worker:
        assert await doubled(two.eu, 1) == 2
        assert await doubled(two.us, 2) == 4
        assert worker.ended == 2
        for cell, queue in (("eu", two.eu), ("us", two.us)):
            assert [one.id for one in await queue.list_workers()] == [worker.workers[cell].id]
    assert await two.eu.list_workers() == await two.us.list_workers() == []


async def test_a_cell_that_goes_away_stops_no_other_and_is_served_again_once_it_is_back(
    two: TwoCells, both: dict[str, ServerQueue]
):
    async with running(CellsWorker(both, doubling(), poll=SOON)):
        assert await doubled(two.us, 2) == 4
        await two.relay.close()
        task = await two.us.submit_task(JOB, {"number": 3})
        assert await doubled(two.eu, 1) == 2
        assert (await two.us.get_task(task.task_id)).status == "pending"
        async with two.relay:
            assert (await two.us.wait_for(task.task_id, 20)).result == 6
            assert await doubled(two.eu, 4) == 8


async def test_a_cell_that_is_away_at_first_is_served_once_it_is_there(
    two: TwoCells, both: dict[str, ServerQueue]
):
    await two.relay.close()
    async with running(CellsWorker(both, doubling())):
        assert await doubled(two.eu, 1) == 2
        async with two.relay:
            assert await doubled(two.us, 2) == 4


async def test_a_cell_that_refuses_stops_no_other(
    two: TwoCells, empty_database_url: str, caplog: pytest.LogCaptureFixture
):
    async with await ServerQueue.connect(empty_database_url) as empty:
        async with running(CellsWorker({"empty": empty, "eu": two.eu}, doubling())):
            assert await doubled(two.eu, 1) == 2
        assert "cell empty cannot be served" in caplog.text
        with pytest.raises(SchemaBehind):
            await asyncio.wait_for(CellsWorker({"empty": empty}, doubling()).run(), 20)


async def test_what_a_handler_submits_goes_to_the_cell_of_its_task(
    two: TwoCells, both: dict[str, ServerQueue]
):
    jobs = doubling()
    double = jobs.registered[JOB]

    @jobs.task
    async def ask(number: int) -> int:
        return (await double.submit(number)).id

    async with running(CellsWorker(both, jobs)) as worker:
        await ready(worker)
        for queue, number in ((two.eu, 5), (two.us, 7)):
            task = await queue.submit_task("@global:tasks:ask", {"number": number})
            child = (await queue.wait_for(task.task_id, 20)).result
            assert (await queue.wait_for(child, 20)).result == number * 2
            assert [one.id for one in await queue.list_tasks(job=JOB)] == [child]


@pytest.mark.parametrize("how", ["options", "setting"])
async def test_the_command_serves_the_cells_it_is_given(two: TwoCells, tmp_path: Path, how: str):
    (tmp_path / "program.py").write_text(PROGRAM)
    options = [part for name, url in two.urls.items() for part in ("--url", f"{name}={url}")]
    given = {} if how == "options" else {"PGJOBS_CELLS": two.setting}
    arguments = options if how == "options" else ()
    with ending(command("program:jobs", *arguments, cwd=tmp_path, **given)) as process:
        assert await doubled(two.eu, 1) == 2
        assert await doubled(two.us, 2) == 4
        process.send_signal(signal.SIGTERM)
        # Not here: the relay runs on this event loop, and the worker says goodbye through it.
        _, talk = await asyncio.to_thread(process.communicate, timeout=20)
    assert process.returncode == 0, talk
    assert talk.count("has stopped") == 2
    assert await two.eu.list_workers() == await two.us.list_workers() == []


async def test_the_command_serves_one_cell_while_another_cannot_be_reached(two: TwoCells, tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    await two.relay.close()
    with ending(command("program:jobs", cwd=tmp_path, PGJOBS_CELLS=two.setting)) as process:
        assert await doubled(two.eu, 1) == 2
        said(process, "waiting for the database")
        async with two.relay:
            assert await doubled(two.us, 2) == 4
            process.send_signal(signal.SIGINT)
            _, talk = await asyncio.to_thread(process.communicate, timeout=20)
    assert process.returncode == 130, talk
    password = two.us_url.partition("://")[2].partition(":")[2].partition("@")[0]
    assert password
    assert password not in talk
