"""Handlers in other processes: they answer, fail, crash and are killed, and the worker lives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgjobs import Queue, TaskFailed, Worker
from tests.surfaces import heavy


@pytest.fixture
async def queue(database_url: str):
    async with await Queue.connect(database_url) as queue:
        heavy.jobs.use(queue)
        yield queue
        heavy.jobs.use(None)


async def test_a_process_answers_and_is_kept_for_the_next_task(queue: Queue):
    async with Worker(queue, heavy.jobs, processes=1):
        first = await (await heavy.add.submit(1, 2)).result(timeout=20)
        second = await (await heavy.add.submit(3, right=4)).result(timeout=20)
    assert (first["sum"], second["sum"]) == (3, 7)
    assert first["pid"] == second["pid"] != os.getpid()


async def test_what_goes_wrong_in_a_process_fails_its_task_only(queue: Queue, tmp_path: Path):
    async with Worker(queue, heavy.jobs, processes=2):
        failed, crashed = await heavy.fail.submit("no luck"), await heavy.crash.submit()
        unsendable, hanging = await heavy.give_lock.submit(), await heavy.hang.submit(str(tmp_path / "file"))
        for handle, kind in (
            (failed, "ValueError"),
            (crashed, "ProcessDied"),
            (unsendable, "TypeError"),
            (hanging, "timeout"),
        ):
            with pytest.raises(TaskFailed) as caught:
                await handle.result(timeout=20)
            assert caught.value.task.error_kind == kind
        assert (await (await heavy.add.submit(1, 1)).result(timeout=20))["sum"] == 2
    assert not (tmp_path / "file").exists()
