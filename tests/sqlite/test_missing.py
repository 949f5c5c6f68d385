"""What SQLite does not have says so, wherever it is asked for."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from pgjobs import Jobs, Worker
from pgjobs.errors import NotOnSqlite
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.release import sql_directory
from pgjobs.server import ApiSettings
from tests.surfaces.cli.warm import run
from tests.surfaces.rest_server import SECRET, Api, app_on, problem_of, serving, token_of

TABLE = (sql_directory("sqlite") / "README.md").read_text(encoding="utf-8").partition("| missing |")[2]
MISSING = re.findall(r"`(\w+)`", TABLE.partition("\n\n")[0])


@pytest.fixture
def root(sqlite_url: str, job: str):
    settings = ApiSettings(auth_secret=SecretStr(SECRET))
    with (
        serving(app_on(sqlite_url, settings)) as base,
        Api(base, token_of("root", is_superuser=True)) as api,
    ):
        yield api


def told(answer: httpx.Response) -> str:
    assert (answer.status_code, problem_of(answer)) == (501, "not-on-sqlite")
    assert "pip install 'pgjobs-server[embedded]'" in answer.json()["detail"]
    return str(answer.json()["detail"])


@pytest.mark.parametrize("verb", MISSING)
async def test_a_verb_it_does_not_have_is_refused_with_a_way_out(queue: Queue, verb: str):
    with pytest.raises(NotOnSqlite, match=f"^{verb} is not on SQLite") as refused:
        await queue.driver.call(verb)
    assert refused.value.sqlstate == "PJ022"
    assert refused.value.hint is not None
    assert "pgjobs-server[embedded]" in refused.value.hint


async def test_a_refused_verb_leaves_the_callers_transaction_usable(queue: Queue, job: str, connection):
    bound = queue.bound_to(connection)
    await bound.submit_task(job)
    with pytest.raises(NotOnSqlite):
        await bound.overview()
    connection.commit()
    assert len(await queue.list_tasks()) == 1


@pytest.mark.parametrize("path", ["/ui/", "/ui/main.js", "/ui/nothing"])
async def test_the_console_has_no_pages(root: Api, path: str):
    assert told(root.get(path)).startswith("The console is not on SQLite. ")


async def test_the_console_asks_in_vain(root: Api):
    for path in ("overview", "schedules", "findings", "/api/maintenance/incomplete-cleanup"):
        told(root.get(path))
    told(root.put("schedules", json={"name": "often", "job": "@global:tests:Work", "every_seconds": 60}))


async def test_nobody_signs_in(root: Api):
    told(root.post("session", json={"token": token_of("ada")}, headers={"Authorization": ""}))


async def test_the_rooms_and_metrics_are_served(root: Api):
    root.register()
    task = root.submit()
    assert root.get(f"tasks/{task['id']}").json()["status"] == "pending"
    assert "jobs_queued" in root.get("/metrics").text
    assert root.get("/readyz").status_code == 200


async def test_a_server_says_nothing_of_schedules_and_clean_up(root: Api, caplog: pytest.LogCaptureFixture):
    assert root.get("workers").status_code == 200
    assert [record.getMessage() for record in caplog.records if record.levelname != "INFO"] == []


async def test_a_worker_without_schedules_runs_and_complains_of_nothing(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
):
    async with await Queue.connect(sqlite_url) as queue:
        jobs = Jobs(queue)

        @jobs.task
        async def greet(name: str) -> str:
            return f"Hello, {name}!"

        async with Worker(queue, jobs, sweep=timedelta(seconds=0.05)):
            handle = await greet.submit(name="Ada")
            assert await handle.result(timeout=20) == "Hello, Ada!"
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []


async def test_a_worker_whose_program_declares_schedules_does_not_start(sqlite_url: str):
    async with await Queue.connect(sqlite_url) as queue:
        jobs = Jobs(queue)

        @jobs.task
        async def report() -> None: ...

        report.schedule("nightly", cron="@daily")
        with pytest.raises(NotOnSqlite, match="register_schedule"):
            async with Worker(queue, jobs):
                pass


@pytest.mark.parametrize("command", ["top", "doctor", "schedules list", "cleanup list", "tasks why 1"])
async def test_commands_end_with_a_code_and_the_way_out(
    queue: Queue, job: str, sqlite_url: str, command: str
):
    await queue.submit_task(job)
    done = run(*command.split(), PGJOBS_DATABASE_URL=sqlite_url)
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert "is not on SQLite. Use Postgres: pip install 'pgjobs-server[embedded]'" in done.stderr


def test_the_scripts_stay_small():
    lines = sum(
        len(path.read_text(encoding="utf-8").splitlines()) for path in sql_directory("sqlite").rglob("*.sql")
    )
    assert lines <= 3_000


def test_there_is_one_baseline():
    assert [path.name for path in Path(sql_directory("sqlite"), "migrations").iterdir()] == [
        "0001_baseline.sql"
    ]
