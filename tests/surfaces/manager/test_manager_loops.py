"""Two worker loops written for another job manager run here with another import and another database line."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgjobs import sync
from pgjobs.errors import LeaseLost
from pgjobs.queue.queue import Queue

BLOCKING = """
import time
from pgjobs.sync import JobManager

jm = JobManager(db)
job = jm.create_job(
    domain="chatbooks", queue="default", job_type="export",
    payload={"name": name, "selections": content_selections}, owner_user_id=user_id,
)

while True:
    job = jm.acquire_next_job("chatbooks", "default", lease_seconds=60, worker_id="cb-worker-1")
    if not job:
        time.sleep(2)
        continue
    try:
        # process export/import
        jm.complete_job(job["id"], worker_id="cb-worker-1", lease_id=job["lease_id"], result={"path": archive_path})
    except Exception as e:
        jm.fail_job(job["id"], worker_id="cb-worker-1", lease_id=job["lease_id"], error=str(e), retryable=True)
"""

AWAITED = """
import asyncio
from pgjobs import JobManager

jm = JobManager(db)

async def run_worker():
    while True:
        job = await jm.acquire_next_job("chatbooks", "default", lease_seconds=60, worker_id="cb-worker-1")
        if not job:
            await asyncio.sleep(2)
            continue
        try:
            # process export/import
            await jm.complete_job(job["id"], worker_id="cb-worker-1", lease_id=job["lease_id"], result={"path": archive_path})
        except Exception as e:
            await jm.fail_job(job["id"], worker_id="cb-worker-1", lease_id=job["lease_id"], error=str(e), retryable=True)

asyncio.run(run_worker())
"""


class Idle(BaseException):
    """The loop found nothing to do and went to sleep."""


def going_home(sleep: Any) -> Any:
    """Ends the loop instead of sleeping; servers of other tests, in threads of their own, sleep on."""

    def go_home(seconds: float) -> Any:
        if threading.current_thread() is threading.main_thread():
            raise Idle
        return sleep(seconds)

    return go_home


@pytest.fixture(params=["postgres", "sqlite"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("database_url"))
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with sync.Queue.connect(url) as queue:
        queue.migrate()
    return url


def namespace(db: str, **given: Any) -> dict[str, Any]:
    return {
        "db": db,
        "name": "weekly",
        "content_selections": [1],
        "user_id": "ann",
        "archive_path": "/a.zip",
        **given,
    }


def test_the_blocking_loop_runs_as_written(db, monkeypatch):
    monkeypatch.setattr(time, "sleep", going_home(time.sleep))
    used = namespace(db)
    with pytest.raises(Idle):
        exec(BLOCKING, used)
    [job] = used["jm"].list_jobs()
    assert (job["status"], job["result"], job["owner_user_id"]) == ("completed", {"path": "/a.zip"}, "ann")
    used["jm"].close()


def test_the_blocking_loop_fails_a_job_that_raises(db, monkeypatch):
    monkeypatch.setattr(time, "sleep", going_home(time.sleep))
    used = namespace(db, archive_path={"not", "JSON"})
    with pytest.raises(Idle):
        exec(BLOCKING, used)
    [job] = used["jm"].list_jobs()
    assert (job["status"], job["retry_count"]) == ("queued", 1)
    used["jm"].close()


def test_the_awaited_loop_runs_as_written(db, monkeypatch):
    with sync.JobManager(db) as manager:
        manager.create_job("chatbooks", "default", "export", {})
    monkeypatch.setattr(asyncio, "sleep", going_home(asyncio.sleep))
    used = namespace(db)
    with pytest.raises(Idle):
        exec(AWAITED, used)
    monkeypatch.undo()
    with sync.JobManager(db) as manager:
        [job] = manager.list_jobs()
    assert (job["status"], job["result"]) == ("completed", {"path": "/a.zip"})


class Slow:
    """Work during which the lease lapses, the first time it is done; SQLite is asked for its clock."""

    def __init__(self, db: str) -> None:
        self._db = db
        self._shift = timedelta()
        self.times = 0
        self.options = {"clock": lambda: datetime.now(UTC) + self._shift} if db.startswith("sqlite") else {}

    def __call__(self) -> None:
        self.times += 1
        if self.times > 1:
            return
        self._shift = timedelta(minutes=2)
        if not self.options:
            with psycopg.connect(self._db) as connection:
                connection.execute("update pgjobs.test_clock set shift = %s", [self._shift])


def slow(loop: str, options: str) -> str:
    return loop.replace("# process export/import", "work()").replace(
        "JobManager(db)", f"JobManager(db, {options}**work.options)"
    )


def test_the_blocking_loop_survives_a_slow_job_that_was_given_to_another(db, monkeypatch):
    monkeypatch.setattr(time, "sleep", going_home(time.sleep))
    used = namespace(db, work=Slow(db))
    with pytest.raises(Idle):
        exec(slow(BLOCKING, "on_lost_lease='return', "), used)
    [job] = used["jm"].list_jobs()
    assert (used["work"].times, job["status"], job["last_error"]) == (1, "queued", "lease_expired")
    used["jm"].close()


def test_the_awaited_loop_survives_a_slow_job_that_was_given_to_another(db, monkeypatch):
    with sync.JobManager(db) as manager:
        manager.create_job("chatbooks", "default", "export", {})
    monkeypatch.setattr(asyncio, "sleep", going_home(asyncio.sleep))
    loop = slow(AWAITED, "on_lost_lease='return', ")
    if not db.startswith("postgres"):
        # Only a driver that is opened at once takes a clock.
        loop = loop.replace("jm = JobManager(db, on_lost_lease='return', **work.options)\n", "").replace(
            "async def run_worker():\n",
            "async def run_worker():\n    jm = await JobManager.connect(db, on_lost_lease='return', **work.options)\n",
        )
    used = namespace(db, work=Slow(db))
    with pytest.raises(Idle):
        exec(loop, used)
    monkeypatch.undo()
    with sync.JobManager(db, **used["work"].options) as manager:
        [job] = manager.list_jobs()
    assert (used["work"].times, job["status"], job["last_error"]) == (1, "queued", "lease_expired")


def test_a_loop_that_does_not_ask_for_an_answer_is_told_by_an_exception(db, monkeypatch):
    monkeypatch.setattr(time, "sleep", going_home(time.sleep))
    used = namespace(db, work=Slow(db))
    with pytest.raises(LeaseLost):
        exec(slow(BLOCKING, ""), used)
    used["jm"].close()


async def test_a_manager_of_a_url_connects_when_it_is_first_used(db):
    from pgjobs import JobManager

    async with JobManager(db) as manager:
        job = await manager.create_job("chatbooks", "default", "export", {})
        assert await manager.get_job(job["id"]) == job
    async with await JobManager.connect(db) as manager:
        assert isinstance(manager.queue, Queue)
        assert await manager.get_job(job["id"]) == job
    await JobManager(db).close()
