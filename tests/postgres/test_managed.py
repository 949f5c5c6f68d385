"""Managed services give a login that is no superuser, owns no database and makes no roles: everything works."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import asyncpg
import psycopg
import pytest

from pgjobs import Jobs, Queue, Worker
from pgjobs.errors import LeaseLost
from pgjobs.schema.migrate import migrate, read_release
from pgjobs.server.app import require_current

numbers = count(1)
MINUTE = timedelta(minutes=1)


@pytest.fixture(params=["may create a schema", "owns an empty schema"])
def managed_url(request: pytest.FixtureRequest, empty_database_url: str) -> Iterator[str]:
    """The address of a login with the least that the guide asks for."""
    name = f"managed{next(numbers)}_{request.node.name.count('owns')}"
    with psycopg.connect(empty_database_url, autocommit=True) as admin:
        database = admin.info.dbname
        admin.execute(f"create role {name} login password 'change-me' nosuperuser nocreatedb nocreaterole")
        if "owns" in request.param:
            admin.execute(f"create schema pgjobs authorization {name}")
        else:
            admin.execute(f"grant create on database {database} to {name}")
        try:
            yield f"postgresql://{name}:change-me@{admin.info.host}:{admin.info.port}/{database}"
        finally:
            admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = %s", [name])
            admin.execute(f"drop owned by {name} cascade")
            admin.execute(f"drop role {name}")


async def install(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection, read_release(roles=False))
    assert not await migrate(connection, read_release(roles=False))
    await connection.close()


async def test_a_worker_runs_tasks_and_upkeep_finds_nothing_wrong(managed_url: str):
    await install(managed_url)
    jobs = Jobs(category="mail")

    @jobs.task(max_attempts=1)
    async def welcome(to: str) -> str:
        if to == "nobody":
            raise ValueError(to)
        return f"sent to {to}"

    welcome.schedule("nightly", cron="0 3 * * *", payload=welcome.payload("all"))
    async with await Queue.connect(managed_url) as queue:
        await require_current(queue)
        jobs.use(queue)
        async with Worker(queue, jobs, sweep=timedelta(seconds=1)):
            # Woken by a notification: polling alone would take longer than this.
            assert await (await welcome.submit("ada")).result(timeout=5) == "sent to ada"
            failed = await welcome.submit("nobody")
            await queue.wait_for(failed.id, 5)
        assert [task.status for task in await queue.list_tasks()] == ["failed", "completed"]
        assert (await queue.retry_task(failed.id)).status == "pending"
        assert [schedule.name for schedule in await queue.list_schedules()] == ["nightly"]
        assert [step.error for step in await queue.sweep() if step.error] == []
        assert {rule.violations for rule in await queue.check()} == {0}


async def test_rules_hold_against_the_owner_too(managed_url: str):
    await install(managed_url)
    async with await Queue.connect(managed_url) as queue:
        await queue.register_job("@global", "tests", "Work")
        await queue.submit_task("@global:tests:Work")
        [lease] = await queue.claim_tasks(holder="one", lease=MINUTE, in_room="@global")
        await queue.complete_task(lease)
        with pytest.raises(LeaseLost):
            await queue.fail_task((lease.task_id, (await queue.register_worker("other")).id), "too late")
        connection = await asyncpg.connect(managed_url)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await connection.execute("delete from pgjobs.outcomes")
        assert refused.value.sqlstate == "PJ020"
        await connection.close()


async def test_the_commands_work_too(managed_url: str):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pgjobs.cli", *arguments, "--url", managed_url]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    migrated = await asyncio.to_thread(run, "migrate", "--no-roles")
    assert migrated.returncode == 0, migrated.stderr
    doctor = await asyncio.to_thread(run, "doctor", "--deep")
    assert doctor.returncode in (0, 6), doctor.stderr
    assert "permission" not in doctor.stdout + doctor.stderr
