"""`pgjobs worker`, run as people run it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pgjobs import Queue

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
        ("program:jobs", "postgresql://127.0.0.1:1/x", "127.0.0.1"),
    ):
        with command(place, cwd=tmp_path, **({"PGJOBS_DATABASE_URL": url} if url else {})) as process:
            _, talk = process.communicate(timeout=20)
        assert process.returncode == (1 if ":1/" in url else 2)
        assert told in talk
        assert len(talk.splitlines()) == 1, talk
