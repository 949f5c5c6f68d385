"""From a release as it was shipped to today, with its own workers and server at work, and all that a team built on it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.drift import differences, lost_grants
from pgjobs.schema.migrate import migrate
from pgjobs.schema.release import read_release
from tests.releases import RELEASED, changed, unpack
from tests.reliability.beside import Watch, beside, ended
from tests.reliability.crew import Crew
from tests.reliability.ledger_worker import record
from tests.surfaces.processes import ROOT, Server

TODAY = read_release(roles=False)
LONGEST_WAIT = float(os.environ.get("PGJOBS_UPGRADE_WAIT", "1"))
DATA = Path(__file__).with_name("released.sql").read_text()
OF_A_TEAM = """
grant usage on schema pgjobs to {role};
grant execute on function pgjobs.submit_tasks, pgjobs.claim_tasks to {role} with grant option;
grant select on pgjobs.failed to {role};
grant select (id, status) on pgjobs.task to {role};
create view public.failures as select * from pgjobs.failed;
create view public.mine as select t.id, t.status, t.due_at from pgjobs.task as t where t.job = '@global:mail:Send';
create function public.names() returns text language sql
begin atomic select string_agg(t.status, ' ' order by t.id) from pgjobs.task as t where t.job = '@global:mail:Send'; end;
create table public.mailings (
  id integer primary key, job_id integer not null references pgjobs.jobs (id), task_id bigint references pgjobs.tasks (id)
);
insert into public.mailings select 1, j.id, 3 from pgjobs.jobs as j where j.name = 'Send';
create table ledger (number int, attempt int, pid int);
"""
KEPT = {
    "the role's functions": (
        "select has_function_privilege('{role}', f.oid, 'execute with grant option') from pg_proc as f"
        " where f.pronamespace = 'pgjobs'::regnamespace and f.proname in ('submit_tasks', 'claim_tasks')"
    ),
    "the role's view": "select has_table_privilege('{role}', 'pgjobs.failed', 'select')",
    "the role's column": "select has_column_privilege('{role}', 'pgjobs.task', 'status', 'select')",
    "views on it": "select (select count(*) from public.failures) = 1 and (select count(*) from public.mine) = 8",
    "a function on it": (
        "select public.names() = 'cancelled ignored completed failed running running pending pending'"
    ),
    "foreign keys to it": (
        "select count(*) = 2 and bool_and(c.convalidated) from pg_constraint as c"
        " where c.conrelid = 'public.mailings'::regclass and c.contype = 'f'"
    ),
}


@dataclass
class Shipped:
    """A database of a release, and its programs."""

    version: str
    root: Path
    url: str
    role: str

    @property
    def path(self) -> str:
        return os.pathsep.join([str(self.root / "src"), str(self.root)])

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One of its commands."""
        command = [sys.executable, "-c", "from pgjobs.cli import main; main()", *arguments]
        environment = {**os.environ, "PYTHONPATH": self.path, "PGJOBS_DATABASE_URL": self.url}
        return subprocess.run(
            command, env=environment, cwd=self.root, capture_output=True, text=True, check=False
        )

    async def broken(self, connection: asyncpg.Connection) -> list[str]:
        """What a team had built on the release and has no more."""
        checks = {name: await connection.fetch(sql.format(role=self.role)) for name, sql in KEPT.items()}
        return [name for name, rows in checks.items() if not rows or not all(row[0] for row in rows)]


@pytest.fixture(params=sorted(RELEASED))
async def shipped(request, empty_database_url: str, tmp_path: Path) -> AsyncIterator[Shipped]:
    root = unpack(request.param, tmp_path)
    shipped = Shipped(
        request.param, root, empty_database_url, f"team_{empty_database_url.rpartition('/')[2]}"
    )
    done = await asyncio.to_thread(shipped.run, "migrate", "--no-roles")
    assert done.returncode == 0, done.stderr
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute(f"create role {shipped.role}")
    try:
        assert await connection.fetchval("select version from pgjobs.installed_code") == shipped.version
        await connection.execute(DATA)
        await connection.execute(OF_A_TEAM.format(role=shipped.role))
        assert await shipped.broken(connection) == []
        yield shipped
    finally:
        await connection.execute(f"drop owned by {shipped.role}; drop role {shipped.role}")
        await connection.close()


@contextmanager
def asked(connection: asyncpg.Connection) -> Iterator[list[str]]:
    """What is sent to the database meanwhile."""
    queries: list[str] = []

    def note(query: Any) -> None:
        queries.append(query.query)

    connection.add_query_logger(note)
    yield queries
    connection.remove_query_logger(note)


async def assert_data_is_there(connection: asyncpg.Connection) -> None:
    """What the release wrote, as verbs of today tell it."""
    queue = Queue(BoundDriver(connection))
    assert (await queue.get_task(3)).result == {"sent": True}
    assert ((await queue.get_task(4)).error, (await queue.get_task(4)).error_kind) == (
        "no such address",
        "smtp",
    )
    assert (await queue.get_task(1)).reason == "not needed"
    assert [schedule.name for schedule in await queue.list_schedules()] == ["nightly"]
    assert await connection.fetchval("select count(*) from pgjobs.generic_jobs where domain = 'shop'") == 2
    again = await queue.submit_tasks("@global:mail:Send", [{}], room="lab", idempotency_keys=["key 7"])
    assert [(task.task_id, task.is_new) for task in again] == [(7, False)]
    for row in await connection.fetch("select task_id, token from held_before order by task_id"):
        [answer] = await queue.complete_tasks([(row["task_id"], row["token"])])
        assert (answer.status, answer.problem) == ("completed", None)


async def test_workers_and_servers_of_a_release_go_on_through_an_upgrade(shipped: Shipped, tmp_path: Path):
    connection = await asyncpg.connect(shipped.url)
    before = await connection.fetchval("select count(*) from pgjobs.tasks")
    watch, log = Watch(), tmp_path / "log"
    await connection.execute(
        "select pgjobs.register_job(split_part($1, ':', 1), split_part($1, ':', 2), split_part($1, ':', 3), keep => true)",
        record.address,
    )
    with (
        Crew(shipped.url, log, size=1, lease_seconds=20, root=shipped.root) as crew,
        Server(shipped.url, PYTHONPATH=shipped.path) as server,
    ):
        started = await connection.fetchval("select count(*) from pgjobs.outcomes")
        async with beside(shipped.url, server.base, None, watch, connection.get_server_pid()) as counted:
            await ended(connection, started + 20)
            done = await migrate(connection, TODAY)
            assert [script.number for script in done.migrations] == [m.number for m in TODAY.migrations[1:]]
            await ended(connection, started + len(counted) + 20)
            with Crew(shipped.url, log, size=1, lease_seconds=20) as of_today:
                await ended(connection, started + len(counted) + 20)
                assert all(process.poll() is None for process in of_today.processes), crew.log[-3000:]
        await ended(connection, started + len(counted))
        assert all(process.poll() is None for process in crew.processes), crew.log[-3000:]
    outcomes = await connection.fetch(
        "select o.status, o.attempt, count(*) from pgjobs.outcomes as o join pgjobs.jobs as j on j.id = o.job_id"
        " where concat_ws(':', j.room, j.category, j.name) = $1 group by 1, 2",
        record.address,
    )
    assert [tuple(row) for row in outcomes] == [("completed", 1, len(counted))], crew.log[-3000:]
    assert await connection.fetchval("select count(*) from ledger") == len(counted)
    assert await connection.fetchval("select count(*) from pgjobs.tasks") == before + len(counted)
    assert watch.longest_wait < LONGEST_WAIT, f"waited {watch.longest_wait:.3f} s"
    assert await shipped.broken(connection) == []
    await assert_data_is_there(connection)
    assert [rule for rule in await Queue(BoundDriver(connection)).check() if rule.violations] == []
    await connection.close()


async def test_what_a_team_built_on_a_release_survives_and_nothing_differs_from_a_fresh_schema(
    shipped: Shipped,
):
    connection = await asyncpg.connect(shipped.url)
    with asked(connection) as queries:
        await migrate(connection, TODAY)
    locked = next(place for place, query in enumerate(queries) if query.startswith("-- Takes the locks"))
    assert len(queries[locked:]) < 15, "what is done under locks is prepared before them"
    assert await shipped.broken(connection) == []
    assert await differences(connection, "pgjobs") == []
    assert await lost_grants(connection, "pgjobs") == []
    done = await migrate(connection, changed(TODAY, "next"))
    assert len(done.code) > 500
    assert await shipped.broken(connection) == []
    await migrate(connection, TODAY)
    await assert_data_is_there(connection)
    await connection.close()


UNDER_WAY = (
    "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"
    " and pid <> all ($1::integer[])"
)
STAGES = {
    "between migrations": f"{UNDER_WAY} and (select count(*) from pgjobs.migrations) between 3 and 6",
    "while code is replaced": f"{UNDER_WAY} and query like 'create or replace function%'",
    "under locks": (
        f"{UNDER_WAY} and exists (select from pg_locks as l where l.pid = pg_stat_activity.pid and l.granted"
        " and l.relation = 'pgjobs.task'::regclass and l.mode = 'AccessExclusiveLock')"
    ),
}


async def test_an_upgrade_that_is_killed_is_taken_up_by_the_next(shipped: Shipped):
    connection = await asyncpg.connect(shipped.url)
    command = [sys.executable, "-c", "from pgjobs.cli import main; main()", "migrate", "--no-roles"]
    environment = {**os.environ, "PGJOBS_DATABASE_URL": shipped.url, "PYTHONPATH": str(ROOT / "src")}
    others = [row["pid"] for row in await connection.fetch(UNDER_WAY, [])]
    for stage, is_there in STAGES.items():
        process = subprocess.Popen(  # noqa: ASYNC220
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        async with asyncio.timeout(60):
            while not await connection.fetchval(is_there, others):
                assert process.poll() is None, stage
            process.kill()
            assert process.wait() == -9
            while await connection.fetchval(UNDER_WAY, others):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert await connection.fetchval("select version from pgjobs.installed_code") == shipped.version, (
            stage
        )
        assert await shipped.broken(connection) == [], stage
    await migrate(connection, TODAY)
    assert await shipped.broken(connection) == []
    assert await differences(connection, "pgjobs") == []
    await assert_data_is_there(connection)
    await connection.close()


async def test_twenty_upgrades_at_once_are_one(shipped: Shipped):
    async def run() -> int:
        connection = await asyncpg.connect(shipped.url)
        try:
            return len((await migrate(connection, TODAY)).migrations)
        finally:
            await connection.close()

    async with asyncio.timeout(120):
        await asyncio.gather(*(run() for _ in range(20)))
    connection = await asyncpg.connect(shipped.url)
    applied = await connection.fetch("select number from pgjobs.migrations order by applied_at, number")
    assert [row["number"] for row in applied] == [script.number for script in TODAY.migrations]
    assert await shipped.broken(connection) == []
    assert await differences(connection, "pgjobs") == []
    await assert_data_is_there(connection)
    await connection.close()


async def test_a_release_does_not_take_an_upgrade_back(shipped: Shipped):
    connection = await asyncpg.connect(shipped.url)
    await migrate(connection, TODAY)
    done = await asyncio.to_thread(shipped.run, "migrate", "--no-roles")
    assert done.returncode != 0
    assert "newer than this version of pgjobs" in done.stderr
    assert await differences(connection, "pgjobs") == []
    await connection.close()
