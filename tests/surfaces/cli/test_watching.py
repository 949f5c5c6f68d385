"""`pgjobs tasks why` and `pgjobs top`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.cli.commands import Terminal
from tests.surfaces.cli.conftest import Pgjobs

pytestmark = pytest.mark.postgres_only


async def test_why_says_what_stands_in_the_way(pgjobs: Pgjobs, queue: Queue, job: str):
    task = await queue.submit_task(job, delay=timedelta(hours=1))
    done = pgjobs("tasks", "why", task.task_id)
    assert done.returncode == 0, done.stderr
    names, *checks = [line.split("\t") for line in done.stdout.splitlines()]
    assert names == ["check", "ok", "answer", "sql"]
    reason = next(check for check in checks if check[1] == "no")
    assert done.stderr == f"{reason[2]}\n"
    assert "due" in reason[0] + reason[2]
    assert pgjobs("tasks", "why", 4242).returncode == 3


async def test_top_prints_once_in_a_pipe(pgjobs: Pgjobs, queue: Queue, job: str):
    await queue.submit_tasks(job, [{}, {}])
    done = pgjobs("top")
    assert done.returncode == 0, done.stderr
    names, row = [line.split("\t") for line in done.stdout.splitlines()]
    shown = dict(zip(names, row, strict=True))
    assert (shown["job"], shown["due"], shown["state"]) == (job, "2", "unserved")
    assert "\x1b" not in done.stdout


async def test_top_is_a_live_screen_that_q_ends(queue_url: str, queue: Queue, job: str):
    await queue.submit_tasks(job, [{}, {}])
    with Terminal("top", "--interval", "0.2", PGJOBS_DATABASE_URL=queue_url) as terminal:
        terminal.until("2 due")
        await queue.submit_task(job)
        terminal.until("3 due")
        terminal.type("xq")
        assert terminal.end() == 0
    assert "\x1b[?1049h" in terminal.shown
    assert terminal.shown.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "the cursor is back"
