"""The blocking queue over psycopg: the same verbs, answers and errors as with asyncpg."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from pgjobs import errors
from pgjobs.queue.queue import Queue as AsyncQueue
from pgjobs.sync import JobManager, Queue

JOB = "@global:tests:Echo"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def queue(database_url: str) -> Iterator[Queue]:
    with Queue.connect(database_url, max_size=4) as queue:
        queue.register_job("@global", "tests", "Echo", max_attempts=3)
        yield queue
        assert {rule.violations for rule in queue.check()} == {0}


def claim(queue: Queue, quantity: int = 1) -> list[Any]:
    leases: list[Any] = queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=quantity)
    return leases


def test_a_task_lives_its_whole_life_without_an_event_loop(queue):
    worker = queue.register_worker("night shift", jobs=[JOB])
    queue.submit_tasks(JOB, [{"n": n} for n in range(3)], owner="ann", tags=["a", "b"])
    done, failed, released = queue.claim_tasks(worker.id, quantity=3, lease=MINUTE)
    assert [lease.payload for lease in (done, failed, released)] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert (done.owner, done.tags) == ("ann", ["a", "b"])
    assert queue.start_task(done).status == "running"
    queue.report_progress([done], [{"done": 0.5}])
    assert queue.get_task(done.task_id).progress == {"done": 0.5}
    assert queue.renew_task(done, 2 * MINUTE).until > done.until
    assert queue.complete_task(done, {"ok": True}).status == "completed"
    assert queue.fail_task(failed, "no route to host", kind="network").status == "pending"
    assert queue.release_task(released).status == "pending"
    assert queue.heartbeat_worker(worker.id).id == worker.id
    assert queue.wait_for(done.task_id).result == {"ok": True}
    assert [attempt.error_kind for attempt in queue.list_attempts(failed.task_id)] == ["network"]
    assert queue.retire_worker(worker.id).failed == 0


def test_every_option_of_a_job_arrives_as_it_was_given(queue):
    options = {
        "max_attempts": 7,
        "backoff_base": timedelta(seconds=3),
        "backoff_cap": timedelta(minutes=5),
        "jitter_share": 0.5,
        "jitter_cap": timedelta(seconds=30),
        "max_age": timedelta(days=2),
        "events": "full",
        "retain_completed": timedelta(days=3),
        "retain_failed": timedelta(days=4),
        "schema": {"type": "object"},
    }
    queue.register_job("@global", "tests", "Other", **options)
    job = queue.get_job("@global:tests:Other")
    assert {name: getattr(job, name) for name in options} == options
    queue.set_error_policy(job.full_name, "auth", is_retryable=False, jitter_share=0.25)


def test_every_option_of_a_task_arrives_as_it_was_given(queue):
    available_at = datetime(2100, 1, 1, tzinfo=UTC)
    options = {
        "priority": 2,
        "max_attempts": 9,
        "submitter": "s",
        "owner": "o",
        "project": "p",
        "tags": ["t"],
    }
    submitted = queue.submit_task(JOB, {}, idempotency_key="k", available_at=available_at, **options)
    task = queue.get_task(submitted.task_id)
    assert {name: getattr(task, name) for name in options} == options
    assert (task.due_at, task.idempotency_key) == (available_at, "k")
    assert queue.get_task(task_uuid=task.uuid).id == task.id
    job_ids = [task.job_id]
    assert queue.claim_tasks(job_ids=job_ids, holder="me", lease=MINUTE, quantity=500) == []


def test_operators_work_without_an_event_loop_too(queue):
    task = queue.submit_task(JOB)
    assert queue.ignore_task(task.task_id, actor="ann").status == "ignored"
    assert queue.unignore_task(task.task_id).status == "pending"
    assert queue.cancel_task(task.task_id, reason="asked").reason == "asked"
    assert queue.retry_task(task.task_id).status == "pending"
    assert queue.pause_job(JOB).paused_at is not None
    assert claim(queue) == []
    queue.resume_job(JOB)
    assert [listed.id for listed in queue.list_tasks(room="@global", page_size=1)] == [task.task_id]
    assert {swept.error for swept in queue.sweep()} == {None}


def test_a_wait_that_runs_out_shows_the_task_as_it_stands(queue):
    task = queue.submit_task(JOB)
    assert queue.wait_for(task.task_id, timeout=0.01, poll=0.001).status == "pending"


def test_threads_share_a_queue(queue):
    queue.submit_tasks(JOB, [{}] * 40)

    def work(_: int) -> list[int]:
        leases = claim(queue, 5)
        return [item.task_id for item in queue.complete_tasks(leases)]

    with ThreadPoolExecutor(8) as threads:
        done = [task_id for batch in threads.map(work, range(8)) for task_id in batch]
    assert len(done) == len(set(done)) == 40


async def test_a_queue_is_usable_inside_an_event_loop(queue):
    assert queue.submit_task(JOB).is_new


def test_a_queue_shows_no_driver(queue):
    assert not hasattr(queue, "driver")


@pytest.mark.parametrize("open_one", [Queue.connect, JobManager], ids=["queue", "manager"])
def test_an_empty_database_is_migrated(empty_database_url, monkeypatch, open_one):
    monkeypatch.setenv("PGJOBS_MANAGE_ROLES", "false")
    with open_one(empty_database_url) as opened:
        opened.migrate()
        opened.migrate()
    with Queue.connect(empty_database_url) as queue:
        assert queue.count_workers().total == 0


async def test_an_empty_database_is_migrated_inside_an_event_loop(empty_database_url, monkeypatch):
    monkeypatch.setenv("PGJOBS_MANAGE_ROLES", "false")
    address = urlsplit(empty_database_url)
    without_password = address._replace(netloc=f"{address.username}@{address.hostname}:{address.port}")
    with JobManager(without_password.geturl(), password=address.password) as manager:
        manager.migrate()
        assert manager.list_jobs() == []


def test_a_transaction_of_the_callers_does_not_migrate(queue, database_url):
    with psycopg.connect(database_url) as connection, pytest.raises(errors.InvalidArgument, match="migrate"):
        queue.bound_to(connection).migrate()


UNREACHABLE: dict[str, tuple[dict[str, Any], str]] = {
    "wrong password": ({"password": "wrong"}, "password authentication failed"),
    "unknown user": ({"user": "nobody_of_that_name"}, "password authentication failed"),
    "unknown database": ({"path": "/no_such_database"}, 'database "no_such_database" does not exist'),
    "wrong port": ({"port": 1}, "refused"),
    "unknown host": ({"hostname": "no.such.host.invalid"}, "no.such.host.invalid"),
}


def moved(url: str, **parts: Any) -> str:
    address = urlsplit(url)
    user, password = parts.get("user", address.username), parts.get("password", address.password)
    host, port = parts.get("hostname", address.hostname), parts.get("port", address.port)
    path = parts.get("path", address.path)
    return address._replace(netloc=f"{user}:{password}@{host}:{port}", path=path).geturl()


@pytest.mark.parametrize("call", ["list_jobs", "migrate"])
@pytest.mark.parametrize("what", UNREACHABLE)
def test_a_database_that_cannot_be_reached_is_told_of_at_once(database_url, what, call):
    parts, reason = UNREACHABLE[what]
    began = time.monotonic()
    url = moved(database_url, **parts)
    with JobManager(url) as manager, pytest.raises(errors.DatabaseUnavailable) as told:
        getattr(manager, call)()
    assert time.monotonic() - began < 10
    assert reason in str(told.value)
    assert urlsplit(database_url).password not in str(told.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hu/sh@127.0.0.1/x",
        "postgresql://ada:hush@[::1/x",
        "postgresql://ada:hush@127.0.0.1:no/x",
    ],
)
def test_a_url_that_is_none_is_told_of_without_its_password(url):
    with JobManager(url) as manager, pytest.raises(errors.PgJobsError) as told:
        manager.list_jobs()
    assert "hush" not in str(told.value)


REFUSED: dict[str, tuple[type[errors.PgJobsError], Callable[[Any], Any]]] = {
    "unknown job": (errors.JobNotFound, lambda queue: queue.submit_task("@global:tests:None")),
    "unknown task": (errors.TaskNotFound, lambda queue: queue.get_task(1 << 40)),
    "unknown worker": (errors.WorkerNotFound, lambda queue: queue.claim_tasks(uuid4())),
    "foreign token": (errors.TaskNotFound, lambda queue: queue.complete_task((1, uuid4()))),
    "priority": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, priority=11)),
    "huge priority": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, priority=1 << 40)),
    "huge task number": (errors.InvalidArgument, lambda queue: queue.get_task(1 << 80)),
    "huge job number": (errors.InvalidArgument, lambda queue: queue.claim_tasks(job_ids=[1 << 40])),
    "room": (errors.InvalidRoom, lambda queue: queue.register_job("a@b", "tests", "Echo")),
    "schema": (
        errors.SchemaConflict,
        lambda queue: queue.register_job("@global", "tests", "Echo", schema={"type": "string"}),
    ),
    "NUL in a payload": (errors.PayloadInvalid, lambda queue: queue.submit_task(JOB, {"a": "\0"})),
    "NUL in a text": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, owner="\0")),
    "lone surrogate": (errors.InvalidArgument, lambda queue: queue.submit_task(JOB, owner="\ud800")),
    "not JSON": (errors.PayloadInvalid, lambda queue: queue.submit_task(JOB, {"a": object()})),
    "NaN": (errors.PayloadInvalid, lambda queue: queue.submit_task(JOB, {"a": float("nan")})),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_refusals_are_the_same_as_with_asyncpg(queue, database_url, what):
    expected, refused = REFUSED[what]
    with pytest.raises(errors.PgJobsError) as here:
        refused(queue)
    async with await AsyncQueue.connect(database_url, max_size=1) as asynchronous:
        with pytest.raises(errors.PgJobsError) as there:
            await refused(asynchronous)
    assert type(here.value) is type(there.value) is expected
    if expected.sqlstate not in ("PJ003", "PJ014", "PJ013"):
        assert (here.value.message, here.value.hint) == (there.value.message, there.value.hint)


def test_a_database_without_the_schema_asks_to_migrate(empty_database_url):
    with Queue.connect(empty_database_url) as queue, pytest.raises(errors.SchemaBehind) as behind:
        queue.submit_task(JOB)
    assert behind.value.hint == "Run: pgjobs migrate"


def test_a_connection_that_was_cut_is_not_lent_again(queue, database_url):
    with psycopg.connect(database_url, autocommit=True) as operator:
        operator.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
    assert queue.count_workers().total == 0


def test_a_connection_that_cannot_write_any_more_is_not_lent_again(database_url):
    with Queue.connect(database_url, max_size=1) as queue:
        with queue._wrapped.driver.pool.connection() as connection:  # type: ignore[attr-defined]
            connection.execute("set default_transaction_read_only = on")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            queue.register_job("@global", "tests", "Echo")
        queue.register_job("@global", "tests", "Echo")
