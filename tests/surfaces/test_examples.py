"""Every program of examples/ that needs nothing but a database runs as its first lines say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pgjobs import sync
from tests.surfaces.processes import free_port, wait_until

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = {
    "outbox.py": "order 2 is not paid\norder 1: shipped 1 time",
    "cron.py": "run 1: the report of today\nrun 2: the report of today\n"
    "nightly: At 02:30 every day, Europe/Berlin",
    "limits.py": "10 pages, 2 at once",
    "workflow.py": "completed: 600, merge completed",
}
PATIENCE = 180.0
ELSEWHERE = {
    "chatbooks_worker.py",  # test_manager_docs.py
    "prompt_studio_facade.py",
    "rotate_worker.py",  # test_bridge_processes.py
    "filesystem_provider.py",
}


def environment(url: str) -> dict[str, str]:
    return {**os.environ, "PGJOBS_DATABASE_URL": url}


def run(url: str, *command: str) -> str:
    ended = subprocess.run(
        command, cwd=EXAMPLES, env=environment(url), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@contextmanager
def running(url: str, *command: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, *command], cwd=EXAMPLES, env=environment(url))
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def there(ask: Callable[[], Any]) -> Any:
    """What `ask` answers, or nothing while nobody listens."""
    try:
        return ask()
    except httpx.TransportError:
        return None


def test_every_example_is_run_by_a_test():
    here = {*PRINTED, "fastapi_app.py", "django_app.py", "psql_only.sql"}
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == here | ELSEWHERE


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_says(name: str, database_url: str):
    assert run(database_url, sys.executable, name) == PRINTED[name]


def test_psql_is_enough(database_url: str):
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed")
    said = run(database_url, psql, "--no-psqlrc", "--quiet", database_url, "--file", "psql_only.sql")
    assert said.splitlines() == [
        "created",
        "pending|due",
        "sending to ada@example.org",
        "completed",
        '@global:mail:Send|completed|{"sent": true}',
    ]


def test_a_fastapi_application_runs_its_own_tasks(database_url: str):
    base = f"http://127.0.0.1:{(port := free_port())}"
    with (
        running(database_url, "-m", "uvicorn", "fastapi_app:app", "--port", str(port)),
        httpx.Client(base_url=base, trust_env=False) as client,
    ):
        asked = wait_until(
            lambda: there(lambda: client.post("/mails", params={"to": "ada@example.org"})), PATIENCE
        )
        place = f"/mails/{asked.json()['task']}"
        assert wait_until(lambda: client.get(place).json()["result"], PATIENCE) == "sent to ada@example.org"


def test_django_submits_in_its_own_transaction(database_url: str):
    pytest.importorskip("django")
    run(database_url, sys.executable, "django_app.py", "migrate")
    base = f"http://127.0.0.1:{(port := free_port())}"
    with (
        running(database_url, "-m", "pgjobs.cli", "worker", "django_app:jobs", "--log-level", "ERROR"),
        running(database_url, "django_app.py", "runserver", "--noreload", str(port)),
        sync.Queue.connect(database_url) as queue,
        httpx.Client(base_url=base, trust_env=False) as client,
    ):
        wait_until(queue.list_jobs, PATIENCE)
        first = wait_until(lambda: there(lambda: client.post("/users/ada")), PATIENCE)
        assert first.status_code == 202, first.text
        ended = wait_until(lambda: (task := queue.get_task(first.json()["task"])).is_ended and task, PATIENCE)
        assert (ended.status, ended.result) == ("completed", "welcome, ada")
        assert client.post("/users/ada").status_code == 500, "there is one such user already"
        assert len(queue.list_tasks()) == 1
