"""From every earlier state of the tables to the newest: all data is there, and work goes on."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from pgjobs.drivers.postgres import BoundDriver
from pgjobs.errors import MigrationFailed
from pgjobs.queue import Queue
from pgjobs.schema.drift import differences
from pgjobs.schema.migrate import migrate
from pgjobs.schema.release import Release, read_release

RELEASE = read_release(roles=False)
NEWEST = RELEASE.migrations[-1].number
DATA = re.split(
    r"^-- since (\d{4})$",
    Path(__file__).with_name("earlier_data.sql").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)
STATUSES = {
    1: "pending", 2: "pending", 3: "pending", 4: "pending", 5: "claimed",
    6: "running", 7: "completed", 8: "failed", 9: "cancelled", 10: "ignored",
}  # fmt: skip


@pytest.fixture
async def connection(empty_database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(empty_database_url)
    yield connection
    await connection.close()


def release_of(number: int) -> Release:
    """The tables as they were; functions of today would not fit them."""
    return replace(RELEASE, migrations=RELEASE.migrations[:number], code=())


def data_of(number: int) -> list[str]:
    """What tables could hold then."""
    first, *later = DATA
    return [first, *(sql for since, sql in zip(later[::2], later[1::2], strict=True) if int(since) <= number)]


async def make_earlier(connection: asyncpg.Connection, number: int) -> None:
    await migrate(connection, release_of(number))
    for sql in data_of(number):
        await connection.execute(sql)


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
    """How many rows each table holds; the runner's own aside, and minutes, whose rows were made wider."""
    names = await connection.fetch(
        "select relname from pg_class where relnamespace = 'pgjobs'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and relname not in ('migrations', 'waiting', 'rollups') and relname not like 'installed%'"
    )
    return {
        row["relname"]: await connection.fetchval(f"select count(*) from pgjobs.{row['relname']}")
        for row in names
    }


async def assert_promises_kept(connection: asyncpg.Connection) -> None:
    assert [rule for rule in await Queue(BoundDriver(connection)).check() if rule.violations] == []


@pytest.mark.parametrize("number", range(1, NEWEST))
async def test_data_of_an_earlier_state_is_upgraded_at_once(connection, number):
    await make_earlier(connection, number)
    before = await rows(connection)
    done = await migrate(connection, RELEASE)
    assert [script.number for script in done.migrations] == list(range(number + 1, NEWEST + 1))
    assert before.items() <= (await rows(connection)).items()
    await assert_promises_kept(connection)
    await assert_work_goes_on(Queue(BoundDriver(connection)))
    await assert_promises_kept(connection)
    assert await differences(connection, "pgjobs") == []


async def test_what_was_counted_before_stays_counted(connection):
    await make_earlier(connection, 13)
    await migrate(connection, RELEASE)
    queue = Queue(BoundDriver(connection))
    metrics = await connection.fetch(
        "select measure, up_to, quantity, seconds from pgjobs.metrics() where quantity + seconds > 0"
        " and measure in ('completed', 'failed', 'duration', 'latency') order by measure, up_to"
    )
    assert [tuple(row) for row in metrics] == [
        ("completed", None, 41, 0),
        ("duration", 0.1, 41, 0),
        ("duration", math.inf, 0, 3.5),
        ("latency", 0.01, 40, 0),
        ("latency", math.inf, 1, 7200.2),
    ]
    assert sum(step.failed for step in await queue.throughput("@global:tests:Work")) == 1
    assert sum(step.failed for step in await queue.throughput()) == 3
    assert [step.wait_p95 for step in await queue.throughput() if step.wait_p95] == [pytest.approx(0.48)]


async def test_data_of_the_first_state_is_upgraded_step_by_step(connection):
    await make_earlier(connection, 1)
    for number in range(2, NEWEST + 1):
        await migrate(connection, release_of(number))
    await migrate(connection, RELEASE)
    await assert_promises_kept(connection)
    await assert_work_goes_on(Queue(BoundDriver(connection)))
    assert await differences(connection, "pgjobs") == []


def test_every_migration_that_makes_a_table_has_rows_in_the_test():
    """Reads, marks of those who wait and runs of schedules come and go; nobody would miss them."""
    volatile = {"reads", "reads_in_flight", "waiting", "watched", "sign_ins", "error_cursor", "schedule_runs"}
    sql = "".join(script.sql for script in RELEASE.migrations)
    made = set(re.findall(r"^create (?:unlogged )?table pgjobs\.(\w+)", sql, re.MULTILINE))
    filled = set(re.findall(r"^insert into pgjobs\.(\w+)", "".join(DATA), re.MULTILINE))
    assert made - filled - volatile <= {"settings", "secrets", "error_policies"}


async def test_an_upgrade_that_fails_leaves_the_earlier_state(connection):
    await make_earlier(connection, NEWEST - 1)
    broken = replace(RELEASE.migrations[-1], sql="select oops;")
    with pytest.raises(MigrationFailed, match="oops"):
        await migrate(connection, replace(RELEASE, migrations=(*RELEASE.migrations[:-1], broken)))
    assert await connection.fetchval("select count(*) from pgjobs.tasks") == len(STATUSES)
    await migrate(connection, RELEASE)
    await assert_promises_kept(connection)
    await assert_work_goes_on(Queue(BoundDriver(connection)))
