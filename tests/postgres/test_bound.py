"""Verbs in the caller's transaction, whatever the caller's connection is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from pgjobs import errors
from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Lease

pytest.importorskip("psycopg", reason="psycopg is not installed (pip install pgjobs-server[sync])")
pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")

from tests.postgres.callers import CALLERS, Caller

JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)
DOCUMENTS: list[Any] = [
    {},
    {"a": None, "b": [1, 2.5, True, "ü", {"c": {}}]},
    [],
    [None],
    "",
    "text",
    "null",
    "1",
    '"quoted"',
    "back\\slash",
    0,
    -1.5,
    True,
    False,
]


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[Queue]:
    async with await Queue.connect(database_url, max_size=1) as queue:
        await queue.register_job("@global", "tests", "Echo", max_attempts=3)
        yield queue
        assert {rule.violations for rule in await queue.check()} == {0}


@pytest.fixture(params=CALLERS)
async def caller(request: pytest.FixtureRequest, database_url: str, queue: Queue) -> AsyncIterator[Caller]:
    async with CALLERS[request.param](database_url) as caller:
        yield caller


@pytest.fixture
def bound(queue: Queue, caller: Caller) -> Queue:
    return queue.bound_to(caller.connection)


async def claim(queue: Queue, quantity: int = 1) -> list[Lease]:
    return await queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=quantity)


async def count_tasks(queue: Queue) -> int:
    return len(await queue.list_tasks(room="@global"))


async def test_a_task_submitted_first_thing_is_there_after_the_commit_and_not_before(queue, caller, bound):
    submitted = await bound.submit_task(JOB, {"n": 1})
    assert await count_tasks(queue) == 0
    await caller.commit()
    assert (await queue.get_task(submitted.task_id)).payload == {"n": 1}


async def test_a_task_submitted_first_thing_is_gone_after_a_rollback(queue, caller, bound):
    await bound.submit_task(JOB)
    await caller.rollback()
    await caller.commit()
    assert await count_tasks(queue) == 0


async def test_a_queue_stays_bound_from_one_transaction_to_the_next(queue, caller, bound):
    await bound.submit_task(JOB)
    await caller.commit()
    await bound.submit_task(JOB)
    await caller.rollback()
    await bound.submit_task(JOB)
    await caller.commit()
    assert await count_tasks(queue) == 2


async def test_a_task_sees_and_shares_the_fate_of_the_callers_own_statements(queue, caller, bound):
    await caller.execute("create table public.orders (id integer)")
    await caller.commit()
    await caller.execute("insert into public.orders values (1)")
    await bound.submit_task(JOB)
    await caller.rollback()
    await bound.submit_task(JOB)
    await caller.execute("insert into public.orders values (2)")
    await caller.commit()
    assert await count_tasks(queue) == 1
    await caller.execute("do $$ begin assert (select array_agg(id) from public.orders) = '{2}'; end $$")


async def test_a_completion_shares_the_fate_of_the_handlers_work(queue, caller, bound):
    task = await queue.submit_task(JOB)
    (lease,) = await claim(queue)
    await bound.complete_task(lease, {"lost": True})
    await caller.rollback()
    assert (await queue.get_task(task.task_id)).status == "claimed"
    await bound.complete_task(lease, {"kept": True})
    await caller.commit()
    assert (await queue.get_task(task.task_id)).result == {"kept": True}


async def test_documents_come_back_as_they_went(caller, bound):
    await bound.submit_tasks(JOB, [*DOCUMENTS, {}])
    leases = await claim(bound, len(DOCUMENTS))
    (unreported,) = await claim(bound)
    assert [lease.payload for lease in leases] == DOCUMENTS
    await bound.report_progress(leases, DOCUMENTS)
    assert [(await bound.get_task(lease.task_id)).progress for lease in leases] == DOCUMENTS
    await bound.complete_tasks(leases, DOCUMENTS)
    tasks = [await bound.get_task(lease.task_id) for lease in leases]
    assert [task.payload for task in tasks] == DOCUMENTS
    assert [task.result for task in tasks] == DOCUMENTS
    await bound.complete_task(unreported)
    task = await bound.get_task(unreported.task_id)
    assert (task.payload, task.progress, task.result) == ({}, None, None)
    await caller.commit()


async def test_numbers_dates_and_options_arrive_as_they_were_given(caller, bound):
    options: dict[str, Any] = {
        "max_attempts": 7,
        "backoff_base": timedelta(seconds=3),
        "jitter_share": 0.5,
        "retain_failed": timedelta(days=4),
        "schema": {"type": "object"},
    }
    await bound.register_job("@global", "tests", "Other", **options)
    job = await bound.get_job("@global:tests:Other")
    assert {name: getattr(job, name) for name in options} == options
    assert await bound.claim_tasks(job_ids=[job.id], holder="me", lease=MINUTE, quantity=500) == []


REFUSED: dict[str, tuple[type[errors.PgJobsError], Callable[[Queue], Awaitable[Any]]]] = {
    "unknown job": (errors.JobNotFound, lambda queue: queue.submit_task("@global:tests:None")),
    "unknown task": (errors.TaskNotFound, lambda queue: queue.get_task(1 << 40)),
    "unknown lease": (errors.TaskNotFound, lambda queue: queue.complete_task((1, uuid4()))),
    "priority": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, priority=11)),
    "huge priority": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, priority=1 << 40)),
    "NUL in a text": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, owner="\0")),
    "NUL in a payload": (errors.PayloadInvalid, lambda queue: queue.submit_task(JOB, {"a": "\0"})),
}


async def test_refusals_are_those_of_an_unbound_queue(queue, caller, bound):
    raised = {}
    for what, (_, call) in REFUSED.items():
        with pytest.raises(errors.PgJobsError) as refusal:
            await call(bound)
        raised[what] = refusal.type
        await caller.rollback()
    assert raised == {what: problem for what, (problem, _) in REFUSED.items()}
    assert await count_tasks(queue) == 0


async def test_a_lost_lease_is_told_and_leaves_the_transaction_usable(queue, caller, bound):
    await queue.submit_task(JOB)
    (lease,) = await claim(queue)
    await queue.complete_task(lease)
    with pytest.raises(errors.LeaseLost):
        await bound.fail_task(lease, "too late")
    await bound.submit_task(JOB)
    await caller.commit()
    assert await count_tasks(queue) == 2


async def test_a_bound_queue_neither_listens_nor_closes_the_connection(caller, bound):
    with pytest.raises(errors.InvalidArgument):
        await bound.driver.listen("wake", lambda _: None)
    await bound.close()
    await bound.submit_task(JOB)
    await caller.commit()


async def test_what_is_no_connection_is_refused_with_advice(queue):
    with pytest.raises(errors.InvalidArgument) as refused:
        queue.bound_to(object())
    assert "psycopg" in str(refused.value.hint)


async def test_an_applications_own_subclass_of_a_connection_is_recognised(queue, database_url):
    from sqlalchemy import create_engine
    from sqlalchemy.orm import Session

    class OurSession(Session):
        """Lives in the application's module, not in SQLAlchemy's."""

    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))
    with OurSession(engine) as session:
        await queue.bound_to(session).submit_task(JOB)
        session.commit()
    engine.dispose()
    assert await count_tasks(queue) == 1
