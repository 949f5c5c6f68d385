"""`pgjobs migrate`, run as people run it."""

from __future__ import annotations

import asyncio
import subprocess

import asyncpg
import pytest

from tests.server import PostgresServer
from tests.surfaces.cli.commands import command, environment
from tests.surfaces.cli.warm import run as pgjobs


async def test_steps_go_to_stdout_and_talk_to_stderr(empty_database_url: str):
    first = pgjobs("migrate", "--no-roles", "--url", empty_database_url)
    assert first.returncode == 0, first.stderr
    assert "migrations/0001" in first.stdout
    assert "create function" not in first.stdout, "a line for each of hundreds tells nobody anything"
    assert "applied" in first.stderr
    again = pgjobs("migrate", "--no-roles", PGJOBS_DATABASE_URL=empty_database_url)
    assert (again.returncode, again.stdout) == (0, "")
    assert "up to date" in again.stderr


UNDER_WAY = """
select count(*) from pg_locks as l
join pg_stat_activity as a on a.pid = l.pid
where a.datname = current_database() and a.pid <> pg_backend_pid() and l.mode = 'AccessExclusiveLock'
"""


async def test_a_run_that_is_killed_in_the_middle_is_taken_up_by_the_next(empty_database_url: str):
    connection = await asyncpg.connect(empty_database_url)
    process = subprocess.Popen(  # noqa: ASYNC220
        command("migrate", "--no-roles"),
        env=environment(PGJOBS_DATABASE_URL=empty_database_url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    async with asyncio.timeout(60):
        while await connection.fetchval(UNDER_WAY) < 20:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        process.kill()
        assert process.wait(10) == -9
        while await connection.fetchval(UNDER_WAY) > 0:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    again = pgjobs("migrate", "--no-roles", PGJOBS_DATABASE_URL=empty_database_url)
    assert again.returncode == 0, again.stderr
    assert "applied" in again.stderr
    assert await connection.fetchval("select count(*) from pgjobs.check() where violations > 0") == 0
    await connection.close()


async def test_a_dry_run_lists_steps_and_takes_none(empty_database_url: str):
    listed = pgjobs("migrate", "--dry-run", DATABASE_URL=empty_database_url)
    assert listed.returncode == 0, listed.stderr
    assert "migrations/0001" in listed.stdout
    connection = await asyncpg.connect(empty_database_url)
    assert await connection.fetchval("select to_regnamespace('pgjobs')") is None
    await connection.close()


async def test_a_dump_needs_no_database_and_can_be_run_by_psql(empty_database_url: str):
    script = pgjobs("migrate", "--dump", "--no-roles", PGJOBS_SCHEMA="elsewhere")
    assert script.returncode == 0, script.stderr
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute(script.stdout)
    await connection.close()
    again = pgjobs("migrate", "--no-roles", "--url", empty_database_url, PGJOBS_SCHEMA="elsewhere")
    assert (again.returncode, again.stdout) == (0, "")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://postgres:hush@127.0.0.1:1/x",
        "postgresql://postgres:hu/sh@127.0.0.1/hush",
        "mysql://root:hush@127.0.0.1/x",
        "hush",
    ],
)
def test_an_unreachable_database_is_one_line_without_the_password(url: str):
    failed = pgjobs("migrate", PGJOBS_DATABASE_URL=url)
    assert (failed.returncode, failed.stdout) == (1 if ":1/" in url else 2, "")
    assert failed.stderr.startswith("pgjobs: ")
    assert failed.stderr.count("\n") == 1
    assert "hu" not in failed.stderr


def test_a_wrong_password_is_one_line(postgres_server: PostgresServer):
    url = postgres_server.url().replace(postgres_server.password, "hush")
    failed = pgjobs("migrate", PGJOBS_DATABASE_URL=url)
    assert failed.returncode == 1
    assert failed.stderr == 'pgjobs: password authentication failed for user "postgres"\n'


def test_no_database_at_all_says_what_to_set():
    failed = pgjobs("migrate")
    assert failed.returncode == 2
    assert "PGJOBS_DATABASE_URL" in failed.stderr


def test_a_wrong_schema_name_says_what_is_allowed():
    failed = pgjobs("migrate", "--dump", PGJOBS_SCHEMA="Not a name")
    assert failed.returncode == 2
    assert "lower-case" in failed.stderr
