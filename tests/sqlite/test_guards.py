"""Rows change through verbs only, as far as SQLite can see to it."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

import pytest

from pgjobs.drivers.sqlite.functions import Context
from pgjobs.queue.server import ServerQueue as Queue

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def connection(queue: Queue, job: str, connection: sqlite3.Connection) -> sqlite3.Connection:
    """Sees task 1 completed, 2 failed, 3 running, 4 waiting for another attempt and 5 pending."""
    await queue.submit_tasks(job, [{}] * 5)
    leases = await queue.claim_tasks(
        holder="me", lease=timedelta(minutes=1), in_room="@global", quantity=4, start=True
    )
    await queue.complete_task(leases[0], {"ok": True})
    await queue.fail_tasks(leases[1:2], ["broken"], retryable=[False])
    await queue.fail_task(leases[3], "broken")
    return connection


@pytest.fixture
def pretender(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A connection on which a verb seems to be running."""
    Context.of(connection).is_verb_running = True
    return connection


CHANGES = [
    "update tasks set status = 'cancelled', ended_at = 1, due_at = null, is_ready = 0 where id = 5",
    "delete from tasks where id = 5",
    "insert into tasks (job_id, room, priority, max_attempts, created_at, payload) values (1, 1, 5, 1, 1, 1)",
    "delete from attempts",
    "insert into attempts (task_id, attempt, status, ended_at) values (1, 1, 'failed', 1)",
    "delete from events",
    "insert into events (at, kind) values (1, 'completed')",
]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_strangers_connection_cannot_change_rows(connection, change):
    with pytest.raises(sqlite3.OperationalError, match="no such function"):
        connection.execute(change)


@pytest.mark.parametrize("change", CHANGES)
async def test_a_callers_connection_cannot_change_rows_without_a_verb(queue, job, connection, change):
    await queue.bound_to(connection).get_job(job)
    with pytest.raises(sqlite3.IntegrityError, match="by verbs only"):
        connection.execute(change)


@pytest.mark.parametrize(
    "change",
    [
        "update attempts set error = 'nothing'",
        "update events set at = 1",
        "update tasks set payload = '[]' where id = 5",
        "update tasks set priority = 1 where id = 5",
        "update tasks set result = '1' where id = 1",
        "update tasks set error = 'another' where id = 2",
        "update tasks set status = 'pending', due_at = 1, ended_at = null, result = null where id = 1",
        "update tasks set status = 'pending', due_at = 1, ended_at = null, error = null where id = 2",
        "update tasks set token = 'another' where id = 3",
        "update tasks set attempt = 2 where id = 3",
        "update tasks set holder = 'another' where id = 3",
        "update tasks set until = until - 1 where id = 3",
        "update tasks set until = null, worker_id = 'another' where id = 3",
        "update tasks set started_at = started_at + 1 where id = 3",
        "update tasks set status = 'completed', ended_at = 1, until = null, token = 'another' where id = 3",
        "update tasks set status = 'completed', ended_at = 1, due_at = null, token = 'x' where id = 4",
        "update tasks set status = 'failed', ended_at = 1, due_at = null, token = 'x' where id = 4",
        "update tasks set status = 'ignored', until = null where id = 3",
    ],
)
async def test_some_changes_are_refused_even_to_verbs(pretender, change):
    with pytest.raises(sqlite3.IntegrityError):
        pretender.execute(change)


async def test_the_guards_see_a_legal_change(pretender):
    pretender.execute("update tasks set until = until + 1 where id = 3")
    assert pretender.execute("select changes()").fetchone() == (1,)


async def test_anybody_may_read_the_tables(connection):
    statuses = [row[0] for row in connection.execute("select status from tasks order by id")]
    assert statuses == ["completed", "failed", "running", "pending", "pending"]


async def test_settings_are_anybodys_to_change(queue, job, connection):
    connection.execute("update settings set payload_limit = 2048")
    connection.commit()
    assert (await queue.submit_task(job, "x" * 2000)).is_new
