"""`pgjobs worker`, run as people run it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pgjobs import Queue
from tests.databases import Databases
from tests.surfaces.processes import free_port
from tests.surfaces.relay import Relay

PROGRAM = """
import logging
from pgjobs import Jobs

jobs = Jobs()

@jobs.task
async def double(number: int) -> int:
    logging.getLogger("mine").info("doubling")
    return number * 2
"""


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "PGJOBS_DATABASE_URL")}
    return subprocess.Popen(
        [sys.executable, "-c", "from pgjobs.cli import main; main()", "worker", *arguments],
        cwd=cwd,
        env=inherited | environment,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
async def test_it_runs_tasks_until_it_is_told_to_stop(
    database_url: str, tmp_path: Path, told: signal.Signals, code: int
):
    (tmp_path / "program.py").write_text(PROGRAM)
    with command("program:jobs", "--concurrency", "4", "--url", database_url, cwd=tmp_path) as process:
        async with await Queue.connect(database_url) as queue:
            await queue.register_job("@global", "tasks", "double")
            task = await queue.submit_task("@global:tasks:double", {"number": 21})
            assert (await queue.wait_for(task.task_id, 20)).result == 42
            process.send_signal(told)
            _, talk = process.communicate(timeout=20)
            assert process.returncode == code
            assert await queue.list_workers() == []
    assert f"task={task.task_id} job=@global:tasks:double attempt=1 doubling" in talk
    assert "has stopped" in talk


def test_what_cannot_be_served_is_told_in_a_line(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    for place, url, told in (
        ("nowhere:jobs", "postgresql://x", "no module nowhere"),
        ("program:nothing", "postgresql://x", "cannot be loaded"),
        ("program:double", "postgresql://x", "not Jobs"),
        ("program:jobs", "", "No database URL"),
    ):
        with command(place, cwd=tmp_path, **({"PGJOBS_DATABASE_URL": url} if url else {})) as process:
            _, talk = process.communicate(timeout=20)
        assert process.returncode == 2
        assert told in talk
        assert len(talk.splitlines()) == 1, talk


async def test_one_that_starts_before_its_database_waits_for_it(database_url: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    relay = Relay(database_url, free_port())
    with command("program:jobs", "--url", relay.url, cwd=tmp_path) as process:
        said(process, "waiting for the database")
        async with relay, await Queue.connect(database_url) as queue:
            await queue.register_job("@global", "tasks", "double")
            task = await queue.submit_task("@global:tasks:double", {"number": 21})
            assert (await queue.wait_for(task.task_id, 30)).result == 42
            process.send_signal(signal.SIGTERM)
            # Not here: the relay runs on this event loop, and the worker says goodbye through it.
            await asyncio.to_thread(process.communicate, timeout=20)
    assert process.returncode == 0


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_one_that_waits_for_its_database_can_be_told_to_stop(tmp_path: Path, told: signal.Signals, code: int):
    (tmp_path / "program.py").write_text(PROGRAM)
    url = f"postgresql://127.0.0.1:{free_port()}/x"
    with command("program:jobs", "--url", url, cwd=tmp_path) as process:
        said(process, "waiting for the database")
        process.send_signal(told)
        _, talk = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Traceback" not in talk


def test_a_database_that_will_never_do_ends_it_at_once(
    databases: Databases, database_url: str, empty_database_url: str, tmp_path: Path
):
    (tmp_path / "program.py").write_text(PROGRAM)
    user, _, place = database_url.partition("://")[2].rpartition("@")
    name = user.partition(":")[0]
    for url, told in (
        (f"postgresql://{name}:wrong@{place}", "password"),
        (database_url.rpartition("/")[0] + "/nowhere", "nowhere"),
        (empty_database_url, "pgjobs migrate"),
    ):
        with command("program:jobs", cwd=tmp_path, PGJOBS_DATABASE_URL=url) as process:
            _, talk = process.communicate(timeout=20)
        assert process.returncode in (1, 5), talk
        assert told in talk
        assert len(talk.splitlines()) == 1, talk


def said(process: subprocess.Popen[str], text: str) -> None:
    """Reads on until the process has said something."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"it never said {text!r}")
