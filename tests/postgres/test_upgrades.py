"""From the baseline to today and to the next release: all data is there, and work goes on."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from pgjobs.drivers.postgres.driver import BoundDriver
from pgjobs.errors import MigrationFailed, SchemaAhead
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.drift import differences
from pgjobs.schema.migrate import migrate
from pgjobs.schema.release import Release, read_release
from pgjobs.schema.script import Script
from tests.releases import changed

RELEASE = read_release(roles=False)
BASELINE = replace(RELEASE, migrations=RELEASE.migrations[:1], code=())
DATA = Path(__file__).with_name("earlier_data.sql").read_text(encoding="utf-8")
TODAY = """
select pgjobs.register_job('@global', 'tests', 'Shared', keep => true);
select pgjobs.limit_job('@global:tests:Shared', fair => true, weights => '{"acme": 3}');
select pgjobs.save_step(6, '00000000-0000-4000-8000-0000000000a6', 'fetched', '{"pages": 3}');
select pgjobs.send_signal(3, 'approved', 'true');
select pgjobs.set_quota('@global', 'zoe', max_waiting => 100);
select pgjobs.control_queue('shop', 'orders', 'pause');
select pgjobs.update_generic_job(6, result => '{"pages": 1}');
select pgjobs.complete_generic_jobs(array[7], array['00000000-0000-4000-8000-0000000000a7'::uuid], null, null, array['mine']);
select pgjobs.append_log(array[6], array['00000000-0000-4000-8000-0000000000a6'::uuid], array['[{"message": "half done"}]'::jsonb]);
"""
MADE_BY_VERBS = {
    "sharing",
    "key_weights",
    "steps",
    "signals",
    "task_log",
    "quotas",
    "queue_controls",
    "kept_results",
    "completion_tokens",
}
"""Tables that came after the baseline, with rows that `TODAY` makes."""
STATUSES = {
    1: "pending", 2: "pending", 3: "pending", 4: "pending", 5: "claimed",
    6: "running", 7: "completed", 8: "failed", 9: "cancelled", 10: "ignored",
}  # fmt: skip


@pytest.fixture
async def connection(empty_database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(empty_database_url)
    yield connection
    await connection.close()


def next_release() -> Release:
    """What a release after this one may bring: a table that is filled in batches, an index, other code."""
    newest = RELEASE.migrations[-1].number
    files = (
        "create table pgjobs.notes (task_id bigint primary key, words text not null);",
        (
            "-- runs: in batches\ninsert into pgjobs.notes (task_id, words)\n"
            "select t.id, t.payload::text from pgjobs.tasks as t\n"
            "where not exists (select from pgjobs.notes as n where n.task_id = t.id) order by t.id limit 3;"
        ),
        (
            "-- runs: outside a transaction\n"
            "create index concurrently if not exists notes_by_words on pgjobs.notes (words);"
        ),
    )
    more = (
        Script(f"{newest + place:04d}_next.sql", sql, f"checksum {place}")
        for place, sql in enumerate(files, 1)
    )
    return replace(
        changed(RELEASE, "next"), migrations=(*RELEASE.migrations, *more), version=f"{RELEASE.version}.1"
    )


async def make_baseline(connection: asyncpg.Connection) -> None:
    """Tables and rows without code, which would not let rows be written by hand."""
    await migrate(connection, BASELINE)
    await connection.execute(DATA)


def token(task_id: int) -> UUID:
    return UUID(int=0x00000000_0000_4000_8000_0000000000A0 + task_id)


async def assert_work_goes_on(queue: Queue) -> None:
    assert {task.id: task.status for task in await queue.list_tasks(page_size=500)} == STATUSES
    assert (await queue.submit_tasks("@global:tests:Work", [{}], idempotency_keys=["first"]))[0].task_id == 1
    assert (await queue.get_task(7)).result == {"angle": 90}
    assert [attempt.error for attempt in await queue.list_attempts(4)] == ["no answer"]
    assert {event.kind for event in await queue.list_events(of_task=8)} == {"failed"}
    for task_id in (5, 6):
        (answer,) = await queue.complete_tasks([(task_id, token(task_id))])
        assert (answer.status, answer.problem) == ("completed", None)
    (answer,) = await queue.complete_tasks([(7, token(7))])
    assert answer.status == "completed", "what was acknowledged before is answered alike"
    await queue.retry_task(8)
    await queue.unignore_task(10)
    await queue.cancel_task(3)
    worker = await queue.register_worker("newcomer", jobs=["@global:tests:Work"])
    claimed = [(await queue.claim_tasks(worker.id))[0] for _ in range(4)]
    assert [lease.task_id for lease in claimed][:2] == [2, 1]
    assert {lease.task_id for lease in claimed} == {1, 2, 8, 10}
    await queue.complete_tasks(claimed)
    assert [swept.error for swept in await queue.sweep() if swept.error] == []


async def rows(connection: asyncpg.Connection) -> dict[str, int]:
    """How many rows each table holds; the runner's own aside."""
    names = await connection.fetch(
        "select relname from pg_class where relnamespace = 'pgjobs'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and relname not in ('migrations', 'waiting_marks') and relname not like 'installed%'"
    )
    return {
        row["relname"]: await connection.fetchval(f"select count(*) from pgjobs.{row['relname']}")
        for row in names
    }


async def assert_promises_kept(connection: asyncpg.Connection) -> None:
    assert [rule for rule in await Queue(BoundDriver(connection)).check() if rule.violations] == []


async def test_rows_of_the_baseline_are_there_after_an_upgrade_and_work_goes_on(connection):
    await make_baseline(connection)
    before = await rows(connection)
    done = await migrate(connection, RELEASE)
    assert list(done.migrations) == list(RELEASE.migrations[1:])
    assert before.items() <= (await rows(connection)).items()
    await assert_promises_kept(connection)
    await assert_work_goes_on(Queue(BoundDriver(connection)))
    await assert_promises_kept(connection)
    assert await differences(connection, "pgjobs") == []


async def test_rows_of_today_are_there_after_the_next_upgrade_and_work_goes_on(connection):
    await make_baseline(connection)
    await migrate(connection, RELEASE)
    await connection.execute(TODAY)
    before = await rows(connection)
    assert all(before[table] for table in MADE_BY_VERBS)
    done = await migrate(connection, next_release())
    assert [script.name[5:] for script in done.migrations] == ["next.sql"] * 3
    assert before.items() <= (await rows(connection)).items()
    assert await connection.fetchval("select count(*) from pgjobs.notes") == len(STATUSES)
    await assert_promises_kept(connection)
    await assert_work_goes_on(Queue(BoundDriver(connection)))
    await assert_promises_kept(connection)


def test_every_migration_that_makes_a_table_has_rows_in_the_test():
    """Reads, marks of those who wait, runs of schedules, turns and notes of keys come and go."""
    volatile = {
        "reads",
        "reads_in_flight",
        "waiting_marks",
        "watched",
        "sign_ins",
        "error_cursor",
        "schedule_runs",
        "key_turns",
        "key_rests",
        "rate_notes",
        "quota_uses",
        "unique_tasks",
        "kept_progress",
        "dependencies",
        "settled",
        "rechecks",
        "workflows",
        "workflow_tasks",
    }
    sql = "".join(script.sql for script in RELEASE.migrations)
    made = set(re.findall(r"^create (?:unlogged )?table pgjobs\.(\w+)", sql, re.MULTILINE))
    filled = set(re.findall(r"^insert into pgjobs\.(\w+)", DATA, re.MULTILINE))
    assert made - filled - volatile - MADE_BY_VERBS <= {"settings", "secrets", "error_policies", "node"}


async def test_an_upgrade_that_fails_is_taken_up_where_it_stopped(connection):
    await make_baseline(connection)
    await migrate(connection, RELEASE)
    whole = next_release()
    broken = replace(whole.migrations[-1], sql="-- runs: outside a transaction\nselect oops;")
    with pytest.raises(MigrationFailed, match="oops"):
        await migrate(connection, replace(whole, migrations=(*whole.migrations[:-1], broken)))
    # What is committed is for old and new code alike.
    await assert_promises_kept(connection)
    assert [script.number for script in (await migrate(connection, whole)).migrations] == [
        whole.migrations[-1].number
    ]
    await assert_work_goes_on(Queue(BoundDriver(connection)))


async def test_code_of_an_older_version_is_refused_after_an_upgrade(connection):
    await migrate(connection, RELEASE)
    await migrate(connection, next_release())
    with pytest.raises(SchemaAhead):
        await migrate(connection, RELEASE)
