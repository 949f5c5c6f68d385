"""Two worker loops written for another job manager run here with another import and another database line."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pgjobs import sync
from pgjobs.queue import Queue

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


async def test_a_manager_of_a_url_connects_when_it_is_first_used(db):
    from pgjobs import JobManager

    async with JobManager(db) as manager:
        job = await manager.create_job("chatbooks", "default", "export", {})
        assert await manager.get_job(job["id"]) == job
    async with await JobManager.connect(db) as manager:
        assert isinstance(manager.queue, Queue)
        assert await manager.get_job(job["id"]) == job
    await JobManager(db).close()
