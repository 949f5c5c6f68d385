"""`pgjobs tasks why`, `pgjobs top` and `pgjobs doctor`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from pgjobs.drivers.embedded import EmbeddedPostgres, EmbeddedPostgresError
from pgjobs.queue import Queue
from tests.server import PostgresServer, new_home
from tests.surfaces.cli.commands import Terminal, run
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks


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
        terminal.type("q")
        assert terminal.end() == 0
    assert "\x1b[?1049h" in terminal.shown
    assert terminal.shown.rstrip().endswith("\x1b[?25h\x1b[?1049l"), "the cursor is back"


async def test_doctor_finds_what_is_wrong_with_jobs_and_says_the_sql(pgjobs: Pgjobs, queue: Queue, job: str):
    await failed_tasks(queue, job, 12)
    for worker in await queue.list_workers():
        await queue.heartbeat_worker(worker.id)
    await queue.sweep()
    done = pgjobs("doctor", "--json")
    assert done.returncode == 6, done.stderr
    document = json.loads(done.stdout)
    found = next(each for each in document["items"] if each["subject"] == f"job {job}")
    assert "12 of 12" in found["message"]
    assert job in found["advice"]


@pytest.fixture(scope="module")
def durable() -> Iterator[EmbeddedPostgres]:
    """A server as it should be: the one of the other tests does without fsync, which doctor would tell."""
    home = new_home()
    try:
        with EmbeddedPostgres(home / "server", options={"max_connections": "30"}) as server:
            yield server
    except EmbeddedPostgresError as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(home)


@pytest.fixture
async def patient(durable: EmbeddedPostgres) -> str:
    """The address of a freshly migrated database there."""
    connection = await asyncpg.connect(durable.url)
    await connection.execute("drop schema if exists pgjobs cascade")
    await connection.close()
    assert run("migrate", "--no-roles", "--url", durable.url).returncode == 0
    return durable.url


def test_doctor_finds_nothing_wrong_with_a_new_queue(patient: str, tmp_path: Path):
    done = run("doctor", "--deep", "--url", patient)
    assert (done.returncode, done.stdout.splitlines()[1:], done.stderr) == (0, [], "All is well.\n")
    file = f"sqlite:///{tmp_path / 'jobs.db'}"
    run("migrate", "--url", file)
    assert run("doctor", "--deep", "--url", file).returncode == 0


async def test_doctor_finds_what_was_changed_by_hand_and_its_sql_mends_it(patient: str):
    connection = await asyncpg.connect(patient)
    index = await connection.fetchval(
        "select indexrelid::regclass::text from pg_index join pg_class on oid = indexrelid"
        " where relnamespace = 'pgjobs'::regnamespace and not indisunique limit 1"
    )
    await connection.execute(f"""
        drop index {index};
        alter table pgjobs.jobs add column mine text;
        create or replace function pgjobs.now() returns timestamptz language sql as $$ select now() $$;
        alter table pgjobs.outcomes drop constraint outcomes_are_whole;
        create table pgjobs.notes (note text)
    """)
    done = run("doctor", "--url", patient)
    assert done.returncode == 6, done.stderr
    rows = {line.split("\t")[1]: line.split("\t") for line in done.stdout.splitlines()[1:]}
    assert {subject: row[0] for subject, row in rows.items()} == {
        f"index {index}": "error",
        "function pgjobs.now()": "error",
        "constraint outcomes_are_whole on pgjobs.outcomes": "error",
        "column pgjobs.jobs.mine": "info",
        "table pgjobs.notes": "info",
    }
    for row in rows.values():
        await connection.execute(row[3])
    await connection.close()
    assert run("migrate", "--no-roles", "--url", patient).returncode == 0
    assert run("doctor", "--url", patient).returncode == 0
    assert await _schemas(patient) == ["pgjobs"], "nothing is left of the comparison"


async def _schemas(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("select nspname from pg_namespace where nspname like 'pgjobs%'")
    await connection.close()
    return [row["nspname"] for row in rows]


async def test_doctor_finds_invalid_indexes(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute(
        "update pg_index set indisvalid = false where indexrelid = 'pgjobs.tasks_pkey'::regclass"
    )
    done = run("doctor", "--url", patient)
    assert done.returncode == 6
    row = next(line for line in done.stdout.splitlines() if "tasks_pkey" in line)
    assert "reindex index concurrently" in row
    await connection.close()


async def test_doctor_sees_clocks_that_differ(database_url: str):
    connection = await asyncpg.connect(database_url)
    await connection.execute("update pgjobs.test_clock set shift = interval '1 minute'")
    await connection.close()
    done = run("doctor", "--url", database_url)
    assert done.returncode == 6
    assert "60 s apart\tselect clock_timestamp()" in done.stdout


def test_doctor_says_when_the_schema_is_behind(empty_database_url: str):
    done = run("doctor", "--url", empty_database_url)
    assert done.returncode == 5
    assert "error\tschema\tNot installed: migrations/0001" in done.stdout


async def test_doctor_does_what_a_login_allows(database_url: str, postgres_server: PostgresServer):
    connection = await asyncpg.connect(database_url)
    login = f"reader_{database_url.rpartition('/')[2]}"
    await connection.execute(f"create role {login} login password 'reader' in role pgjobs_readonly")
    try:
        url = database_url.replace(f"postgres:{postgres_server.password}", f"{login}:reader")
        done = run("doctor", "--url", url)
        assert done.returncode == 6, done.stderr
        assert "This login may not look at what is installed" in done.stdout
        assert "fsync is off" in done.stdout
    finally:
        await connection.execute(f"drop role {login}")
        await connection.close()
