"""What only Postgres can show operators: tables, blockers, estimates, and counts that must not be counted twice."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import md5
from typing import Any

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.binaries import find_program

JOB = "@global:tests:Work"
MINUTE = timedelta(minutes=1)
VIEWS = [
    "installed",
    "overview",
    "top",
    "jobs_status",
    "task",
    "running",
    "waiting",
    "scheduled_tasks",
    "failed",
    "stuck",
    "errors",
    "workers_status",
    "providers_status",
    "task_events",
    "throughput",
    "metrics",
    "findings",
    "storage",
    "blockers",
    "generic_jobs",
    "incomplete_cleanup_tasks",
    "incomplete_cleanup_events",
    "job",
    "schedule",
    "workflow",
    "problems",
]


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("@global", "tests", "Work", max_attempts=2)
        yield queue


@pytest.fixture
async def psql(database_url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def fail(queue: Queue, error: str) -> None:
    await queue.submit_task(JOB)
    [lease] = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    await queue.fail_task(lease, error, retryable=False)


async def test_these_are_all_the_views_that_anybody_may_look_at(psql):
    rows = await psql.fetch("""
        select c.relname from pg_class as c
        where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'v'
          and (has_table_privilege('pgjobs_readonly', c.oid, 'select') or has_table_privilege('pgjobs_api', c.oid, 'select'))
    """)
    assert {row["relname"] for row in rows} == set(VIEWS)


@pytest.mark.parametrize("view", VIEWS)
async def test_a_view_shows_no_payload(queue, psql, view):
    await queue.submit_task(JOB, {"hunter2": "payload"})
    [lease] = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    await queue.complete_task(lease, {"hunter2": "result"})
    shown = str(await psql.fetch(f"select * from pgjobs.{view}"))
    # The generic manager's clients read their payloads there; readers may not look at it.
    assert ("hunter2" in shown) == (view == "generic_jobs")


@pytest.mark.parametrize(
    "view",
    [view for view in VIEWS if view not in ("task", "task_events", "generic_jobs") and "cleanup" not in view],
)
async def test_a_view_and_the_function_of_its_name_show_the_same_columns(psql, view):
    columns = "select * from {} limit 0"
    statement = await psql.prepare(columns.format(f"pgjobs.{view}"))
    shown = [attribute.name for attribute in statement.get_attributes()]
    if view in ("job", "schedule", "workflow", "problems", "installed"):
        assert shown
        return
    function = await psql.prepare(columns.format(f"pgjobs.{view}()"))
    assert [attribute.name for attribute in function.get_attributes()] == shown


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
async def test_errors_are_counted_once_in_whatever_portions(queue, psql, batch):
    for number in range(7):
        await fail(queue, f"broken {number}")
    total = 0
    # Other events come in between, and count for nothing.
    for _ in range(10):
        total += await psql.fetchval("select pgjobs._sweep_errors(pgjobs._now(), $1)", batch)
        assert [error.last_week for error in await queue.errors()] == [7]
    assert total == 7
    await fail(queue, "broken 8")
    assert [error.last_week for error in await queue.errors()] == [8]


async def test_an_error_that_commits_late_is_counted(queue, psql, database_url):
    await queue.submit_task(JOB)
    [lease] = await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global")
    late = await asyncpg.connect(database_url)
    transaction = late.transaction()
    await transaction.start()
    await queue.bound_to(late).fail_task(lease, "broken", retryable=False)
    await fail(queue, "broken")
    await queue.sweep("errors")
    assert [error.last_week for error in await queue.errors()] == [1]
    await transaction.commit()
    await late.close()
    assert [error.last_week for error in await queue.errors()] == [2]
    await queue.sweep("errors")
    assert [error.last_week for error in await queue.errors()] == [2]


async def test_counting_goes_on_in_a_cluster_with_younger_transactions(queue, psql):
    await psql.execute("update pgjobs.error_cursor set since = '900000000:900000000:'")
    await fail(queue, "broken")
    assert [error.last_week for error in await queue.errors()] == []
    await queue.sweep("errors")
    await fail(queue, "broken")
    await queue.sweep("errors")
    assert [error.last_week for error in await queue.errors()] == [1]


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("timeout after 30.5 s on 'db7'", "timeout after # s on *"),
        ('no "file" 0xdeadBEEF', "no * #"),
        ("  task 1b671a64-40d5-491e-99b0-da01ff1f3341 is gone\nTraceback", "task * is gone"),
        ("x" * 500, "x" * 200),
        ("", ""),
    ],
)
async def test_errors_that_differ_in_numbers_ids_and_quotes_have_one_fingerprint(psql, message, pattern):
    fingerprint = await psql.fetchval("select pgjobs._error_fingerprint('kind', $1)", message)
    assert fingerprint == md5(f"kind:{pattern}".encode()).hexdigest()[:12]


async def test_durations_are_told_in_one_unit(psql):
    told = {
        0.0: "0 ms",
        0.0004: "0 ms",
        0.9999: "1000 ms",
        1: "1 s",
        1.5: "2 s",
        2.5: "2 s",
        99: "99 s",
        100: "2 min",
        5999: "100 min",
        6000: "2 h",
        172799: "48 h",
        172800: "2 d",
        1e7: "116 d",
    }
    for seconds, text in told.items():
        assert await psql.fetchval("select pgjobs._short_duration($1)", float(seconds)) == text


@pytest.mark.parametrize(
    ("quantities", "share", "seconds"),
    [
        ([], 0.5, None),
        ([0] * 14, 0.5, None),
        ([4], 0.5, 0.005),
        ([0, 0, 0, 10, 10], 0.5, 0.5),
        ([0] * 13 + [3], 0.95, 3600),
    ],
)
async def test_a_percentile_lies_within_its_bucket(psql, quantities, share, seconds):
    given = await psql.fetchval("select pgjobs._histogram_percentile($1, $2)", quantities, share)
    assert given == (None if seconds is None else pytest.approx(seconds))


async def test_a_long_line_is_estimated(queue, psql):
    await queue.submit_tasks(JOB, [{}] * 3_000)
    await psql.execute("analyze pgjobs.ready")
    [status] = await queue.jobs_status()
    assert 2_500 < status.waiting < 3_500
    assert (await queue.overview()).waiting == status.waiting


async def test_a_long_line_without_statistics_counts_as_more_than_is_counted(queue):
    await queue.submit_tasks(JOB, [{}] * 3_000)
    assert (await queue.overview()).waiting > 1_000


async def test_storage_shows_every_table(queue, psql):
    await queue.submit_tasks(JOB, [{}] * 100)
    await psql.execute("vacuum analyze pgjobs.tasks")
    shown = {table.relation: table for table in await queue.storage()}
    tables = await psql.fetch("select tablename from pg_tables where schemaname = 'pgjobs'")
    assert set(shown) == {row["tablename"] for row in tables}
    tasks = shown["tasks"]
    assert (tasks.live, tasks.dead) == (100, 0)
    assert tasks.last_vacuum_at is not None
    assert tasks.table_bytes + tasks.index_bytes == tasks.total_bytes > 0


async def test_whoever_holds_a_transaction_open_is_a_blocker(queue, database_url):
    holder = await asyncpg.connect(database_url, server_settings={"application_name": "night report"})
    async with holder.transaction(isolation="repeatable_read"):
        await holder.fetchval("select 1")
        pid = holder.get_server_pid()
        [blocker] = [blocker for blocker in await queue.blockers() if blocker.pid == pid]
        assert (blocker.kind, blocker.state) == ("session", "idle in transaction")
        assert blocker.name.startswith("night report ")
        assert blocker.advice == f"select pg_terminate_backend({pid})"
    await holder.close()
    assert pid not in {blocker.pid for blocker in await queue.blockers()}


async def test_transactions_of_other_databases_block_nothing_here(queue, empty_database_url):
    holder = await asyncpg.connect(empty_database_url)
    await holder.execute("create table scratch (n int)")
    await holder.execute("begin; insert into scratch values (1); prepare transaction 'elsewhere'")
    try:
        async with holder.transaction(isolation="repeatable_read"):
            await holder.execute("insert into scratch values (2)")
            assert await queue.blockers() == []
    finally:
        await holder.execute("rollback prepared 'elsewhere'")
        await holder.close()


async def test_a_prepared_transaction_is_a_blocker(queue, psql, database_url):
    holder = await asyncpg.connect(database_url)
    await holder.execute("create table scratch (n int)")
    await holder.execute("begin; insert into scratch values (1); prepare transaction 'forgotten'")
    await holder.close()
    try:
        [blocker] = [blocker for blocker in await queue.blockers() if blocker.kind == "prepared transaction"]
        assert (blocker.name, blocker.advice) == ("forgotten", "rollback prepared 'forgotten'")
    finally:
        await psql.execute("rollback prepared 'forgotten'")


async def test_what_is_wrong_with_the_database_is_a_finding_with_the_statement_that_mends_it(queue, psql):
    async def found(subject: str) -> list[str]:
        return [finding.advice for finding in await queue.findings() if finding.subject == subject]

    await psql.execute("alter table pgjobs.ready set (autovacuum_enabled = false)")
    await psql.execute(
        "update pg_index set indisvalid = false where indexrelid = 'pgjobs.ready_again'::regclass"
    )
    [vacuum] = await found("table ready")
    [reindex] = await found("index ready_again")
    await psql.execute(vacuum)
    await psql.execute(reindex)
    assert await found("table ready") == await found("index ready_again") == []


async def test_a_table_of_dead_rows_is_a_finding(queue, psql):
    await psql.execute("create table scratch as select 1")
    await psql.execute("alter table pgjobs.waiting_marks set (autovacuum_enabled = off)")
    await psql.execute(
        "insert into pgjobs.waiting_marks (job_ids, since) select '{1}', now() from generate_series(1, 110000)"
    )
    await psql.execute("delete from pgjobs.waiting_marks")
    async with asyncio.timeout(20):
        while True:
            await psql.execute("select pg_stat_force_next_flush()")
            found = [
                f
                for f in await queue.findings()
                if f.subject == "table waiting_marks" and "dead" in f.message
            ]
            if found:
                break
            await asyncio.sleep(0.05)
    await psql.execute(found[0].advice)


async def test_help_names_every_view_and_verb_with_an_example(psql):
    rows = await psql.fetch("select kind, name, says from pgjobs.help()")
    named = {(row["kind"], row["name"]) for row in rows}
    assert {("view", view) for view in VIEWS} | {("function", "why"), ("function", "claim_tasks")} <= named
    assert [row["name"] for row in await psql.fetch("select name from pgjobs.help('why a task')")] == ["why"]


async def test_top_fits_a_screen_of_120_columns(queue, database_url):
    job = f"{'a-room-with-a-long-name' * 4}:category:{'x' * 100}"
    await queue.register_job(*job.split(":"))
    await queue.submit_tasks(job, [{}] * 1_500)
    await queue.archive_job(job)
    if (program := find_program("psql")) is None:
        pytest.skip("psql is not installed")
    command = [program, database_url, "-X", "-c", "select * from pgjobs.top"]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    assert "archived" in done.stdout
    # Room for millions: the numbers here are short.
    assert max(len(line) for line in done.stdout.splitlines()) <= 110


async def test_a_refusal_shows_no_empty_lines(psql):
    for arguments, shown in {
        "'task-not-found', 'No task'": (None, None),
        "'task-not-found', 'No task', 'gone'": ("gone", None),
        "'task-not-found', 'No task', null, 'look'": (None, "look"),
        "'task-not-found', 'No task', 'gone', 'look'": ("gone", "look"),
    }.items():
        with pytest.raises(asyncpg.PostgresError) as refusal:
            await psql.execute(f"select pgjobs._refuse({arguments})")
        assert refusal.value.sqlstate == "PJ002"
        assert (refusal.value.detail, refusal.value.hint) == shown


async def test_the_view_of_schedules_shows_no_payload_and_how_runs_went(queue, psql):
    await queue.register_schedule("nightly", JOB, cron="30 2 * * *", payload={"hunter2": 1})
    await queue.run_schedule("@global:nightly")
    [row] = await psql.fetch("select full_name, job, cron, state, recent, s.* from pgjobs.schedule as s")
    assert "hunter2" not in str(row)
    assert (row["full_name"], row["job"], row["state"]) == ("@global:nightly", JOB, "active")
    assert '"status": "pending"' in row["recent"]


async def test_why_a_job_is_paused_is_told_until_it_is_resumed(queue: Queue):
    task = await queue.submit_task(JOB)
    await queue.pause_job(JOB, actor="ada", reason="the printer\nis on fire, token=hunter2")
    await queue.pause_job(JOB, actor="bob")
    (status,) = await queue.jobs_status()
    assert status.state == "paused"
    assert status.pause_reason is not None
    assert status.pause_reason.startswith("the printer is on fire")
    assert "hunter2" not in status.pause_reason
    reason = next(step for step in await queue.why(task.task_id) if not step.is_ok)
    assert "ago: the printer is on fire" in reason.answer
    (finding,) = [found for found in await queue.findings() if found.subject == f"job {JOB}"]
    assert "the job was paused" in finding.message
    assert "ago: the printer is on fire" in finding.message
    await queue.resume_job(JOB)
    await queue.pause_job(JOB)
    (status,) = await queue.jobs_status()
    assert status.pause_reason is None


async def test_a_clock_that_was_moved_makes_no_transaction_old(queue: Queue, psql: Any, database_url: str):
    other = await asyncpg.connect(database_url, server_settings={"application_name": "young"})
    async with other.transaction(isolation="repeatable_read"):
        await other.execute("select count(*) from pgjobs.tasks")
        await psql.execute("update pgjobs.test_clock set shift = interval '1 day'")
        (blocker,) = [
            found for found in await psql.fetch("select * from pgjobs.blockers()") if "young" in found["name"]
        ]
        assert timedelta(0) <= blocker["age"] < timedelta(hours=1)
        assert [
            found.subject for found in await queue.findings() if found.subject.startswith("session")
        ] == []
    await other.close()
