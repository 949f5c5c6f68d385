"""Every exit code, and what is said with it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pgjobs.cli.database import URL_IS_PUBLIC
from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.commands import environment, run, start
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks
from tests.surfaces.processes import wait_until


async def test_0_when_all_is_well(pgjobs: Pgjobs, job: str):
    assert pgjobs("jobs", "list").returncode == 0


def test_1_when_the_database_cannot_be_reached():
    done = run("tasks", "list", PGJOBS_DATABASE_URL="postgresql://ada:hush@127.0.0.1:1/x")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("url", "is_warned_of"),
    [
        ("postgresql://ada:hush@127.0.0.1:1/x", True),
        ("postgresql://ada@127.0.0.1:1/x?password=hush", True),
        ("postgresql://ada@127.0.0.1:1/x", False),
        ("postgresql://127.0.0.1:1/x", False),
    ],
)
def test_a_password_among_the_arguments_is_warned_of(url: str, is_warned_of: bool):
    told = run("tasks", "list", "--url", url).stderr.splitlines()
    assert ("PGJOBS_DATABASE_URL instead" in told[0]) == is_warned_of
    assert len(told) == 1 + is_warned_of
    quiet = run("tasks", "list", PGJOBS_DATABASE_URL=url).stderr
    assert "warning" not in quiet


async def test_2_when_the_database_refuses_an_argument(pgjobs: Pgjobs, job: str):
    done = pgjobs("enqueue", job, "--priority", 99)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pgjobs: ")


async def test_3_when_there_is_no_such_thing(pgjobs: Pgjobs, queue: Queue):
    nobody = "00000000-0000-4000-8000-000000000000"
    for arguments in (
        ("tasks", "show", 42), ("tasks", "wait", 42), ("tasks", "retry", 42), ("jobs", "show", "no:such:job"),
        ("workers", "show", nobody), ("workers", "retire", nobody), ("enqueue", "no:such:job"),
        ("token", "revoke", nobody),
    ):  # fmt: skip
        done = pgjobs(*arguments)
        assert (done.returncode, done.stdout) == (3, ""), arguments
        assert len(done.stderr.splitlines()) == 1


async def test_4_when_the_state_of_things_forbids_it(pgjobs: Pgjobs, queue: Queue, job: str):
    [number] = await failed_tasks(queue, job, 1)
    done = pgjobs("tasks", "cancel", number)
    assert done.returncode == 4
    assert "failed" in done.stderr
    await queue.archive_job(job)
    assert pgjobs("enqueue", job).returncode == 4


def test_5_when_the_schema_is_behind(empty_database_url: str, tmp_path: Path):
    for url in (empty_database_url, f"sqlite:///{tmp_path / 'new.db'}"):
        done = run("tasks", "list", "--url", url)
        assert (done.returncode, done.stdout) == (5, "")
        assert "migrate" in done.stderr


@pytest.mark.postgres_only
async def test_6_when_something_is_wrong(pgjobs: Pgjobs, queue: Queue, job: str):
    await failed_tasks(queue, job, 12)
    await queue.sweep()
    assert pgjobs("doctor").returncode == 6


async def test_7_when_the_awaited_task_failed_or_was_cancelled(pgjobs: Pgjobs, queue: Queue, job: str):
    [failed] = await failed_tasks(queue, job, 1)
    done = pgjobs("tasks", "wait", failed)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == f"Task {failed} is failed: no disk\n"
    task = await queue.submit_task(job)
    await queue.cancel_task(task.task_id, reason="not wanted")
    assert pgjobs("tasks", "wait", task.task_id).returncode == 7


async def test_124_when_the_time_is_over(pgjobs: Pgjobs, queue: Queue, job: str):
    task = await queue.submit_task(job)
    done = pgjobs("tasks", "wait", task.task_id, "--timeout", "0.2s")
    assert (done.returncode, done.stdout) == (124, "")
    assert done.stderr == f"Task {task.task_id} is still pending.\n"


async def test_130_when_somebody_presses_ctrl_c(queue_url: str, queue: Queue, job: str):
    task = await queue.submit_task(job)
    process = start("tasks", "wait", task.task_id, PGJOBS_DATABASE_URL=queue_url)
    # It has begun once it holds the database open.
    wait_until(lambda: _is_connected(process.pid))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def _is_connected(pid: int) -> bool:
    opened = [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()]
    return any(name.endswith("queue.db") for name in opened) or sum("socket:" in name for name in opened) > 2


URLS = [
    "postgresql://postgres:hush@127.0.0.1:1/x",
    "postgresql://postgres:hu/sh@127.0.0.1/hush",
    "postgresql://postgres:hush@127.0.0.1:port/x",
    "postgresql://postgres:hush@[::1/x",
    "postgresql://postgres:hush@127.0.0.1/x?sslmode=hush",
    "postgresql://postgres:hush@127.0.0.1:1/x?password=hush2&connect_timeout=no",
    "postgresql+asyncpg://postgres:hush@127.0.0.1:1/x",
    "mysql://root:hush@127.0.0.1/x",
    "sqlite://root:hush@127.0.0.1/x",
    "hush",
]

# Every URL in one process: starting one takes longer than all of them.
SPEAKING = """
import sys
from pgjobs.cli import main

for url in sys.argv[1:]:
    for command in (["tasks", "list"], ["migrate"], ["doctor"]):
        sys.argv = ["pgjobs", *command, "--url", url]
        try:
            main()
        except SystemExit as end:
            print(end.code)
"""


def test_a_password_is_never_printed():
    done = subprocess.run(
        [sys.executable, "-c", SPEAKING, *URLS],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == {"1", "2", "4"}
    warnings = [line for line in done.stderr.splitlines() if line == URL_IS_PUBLIC]
    errors = [line for line in done.stderr.splitlines() if line != URL_IS_PUBLIC]
    assert len(done.stdout.split()) == len(errors) == 3 * len(URLS), done.stderr
    assert len(warnings) == 3 * (len(URLS) - 1)
    assert "hu" not in done.stdout + done.stderr


@pytest.mark.parametrize("url", [URLS[0], URLS[3]])
def test_psql_does_not_print_it_either(url: str):
    done = run("psql", "-c", "select 1", PGJOBS_DATABASE_URL=url)
    assert done.returncode in (1, 2)
    assert "hu" not in done.stdout + done.stderr
