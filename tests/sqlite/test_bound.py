"""Verbs in the caller's own transaction."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, PayloadInvalid
from pgjobs.queue.server import ServerQueue as Queue

MINUTE = timedelta(minutes=1)


@pytest.fixture
def ledger(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The caller's own table in the queue's file."""
    connection.execute("create table ledger (entry text not null)")
    connection.commit()
    return connection


def entries(connection):
    return [row[0] for row in connection.execute("select entry from ledger order by rowid")]


async def test_a_task_is_submitted_with_the_callers_work(queue, job, ledger):
    ledger.execute("insert into ledger values ('order 1')")
    submitted = await queue.bound_to(ledger).submit_task(job, {"order": 1})
    assert await queue.list_tasks() == []
    ledger.commit()
    assert [task.id for task in await queue.list_tasks()] == [submitted.task_id]


async def test_a_rollback_takes_the_task_back(queue, job, ledger):
    ledger.execute("insert into ledger values ('order 1')")
    await queue.bound_to(ledger).submit_task(job)
    ledger.rollback()
    assert await queue.list_tasks() == []
    assert entries(ledger) == []


async def test_a_task_is_completed_with_the_callers_work(queue, job, ledger):
    await queue.submit_task(job)
    lease = (await queue.claim_tasks(holder="me", lease=timedelta(days=9999), in_room="@global"))[0]
    ledger.execute("insert into ledger values ('done')")
    # The caller's connection has no clock of its own, and the test's stands still in 2030.
    assert (await queue.bound_to(ledger).complete_task(lease, {"ok": True})).status == "completed"
    ledger.rollback()
    assert (await queue.get_task(lease.task_id)).status == "claimed"


async def test_a_verb_begins_a_transaction_where_python_would(queue, job, connection):
    await queue.bound_to(connection).submit_task(job)
    assert connection.in_transaction
    connection.rollback()
    assert await queue.list_tasks() == []


async def test_a_connection_that_commits_by_itself_goes_on_doing_so(path, queue, job):
    connection = sqlite3.connect(path, isolation_level=None)
    await queue.bound_to(connection).submit_task(job)
    assert not connection.in_transaction
    assert len(await queue.list_tasks()) == 1
    connection.close()


@pytest.mark.parametrize(
    ("refused", "problem"),
    [
        (lambda queue: queue.submit_task("@global:tests:Nothing"), JobNotFound),
        (lambda queue: queue.submit_task("@global:tests:Work", {"text": "\0"}), PayloadInvalid),
        (lambda queue: queue.register_job("lab", "tests", "Work", jitter_share=2.0), InvalidArgument),
    ],
)
async def test_a_refusal_leaves_the_transaction_usable(queue, job, ledger, refused, problem):
    bound = queue.bound_to(ledger)
    ledger.execute("insert into ledger values ('before')")
    with pytest.raises(problem):
        await refused(bound)
    ledger.execute("insert into ledger values ('after')")
    await bound.submit_task(job)
    ledger.commit()
    assert entries(ledger) == ["before", "after"]
    assert len(await queue.list_tasks()) == 1


async def test_a_connection_is_bound_again_while_it_is_being_read(queue, job, ledger):
    ledger.executemany("insert into ledger values (?)", [("a",), ("b",), ("c",)])
    for (entry,) in ledger.execute("select entry from ledger"):
        await queue.bound_to(ledger).submit_task(job, {"entry": entry})
    ledger.commit()
    assert [task.id for task in await queue.list_tasks()] == [3, 2, 1]


async def test_rows_are_the_same_whatever_the_caller_makes_of_theirs(queue, job, connection):
    connection.row_factory = sqlite3.Row
    assert await queue.bound_to(connection).get_job(job) == await queue.get_job(job)


async def test_a_bound_queue_cannot_listen(queue, job, connection):
    with pytest.raises(InvalidArgument, match="cannot listen"):
        await queue.bound_to(connection).wait_for(1)


async def test_closing_a_bound_queue_leaves_the_connection_open(queue, connection):
    await queue.bound_to(connection).close()
    assert connection.execute("select 1").fetchone() == (1,)


async def test_a_queue_in_memory_is_used_over_the_connection_that_has_it():
    connection = sqlite3.connect(":memory:")
    async with await Queue.connect("sqlite://") as elsewhere:
        queue = elsewhere.bound_to(connection)
        await queue.migrate()
        await queue.register_job("@global", "tests", "Work")
        assert [job.name for job in await queue.list_jobs()] == ["Work"]
    connection.close()
