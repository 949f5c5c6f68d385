"""Tasks that are cancelled while a worker over HTTP has them."""

from __future__ import annotations

import threading
import time
from uuid import UUID

import pytest

from pgjobs.contrib.joblib import Api, ClaimedTask, JobManager, TaskCancelled
from pgjobs.queue.queue import Queue
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.rest_server import Api as Caller

PATIENT = {"Prefer": "wait=15"}


async def cancel(queue: Queue, task_id: str) -> None:
    await queue.cancel_task((await queue.get_task(task_uuid=UUID(task_id))).id, reason="too slow")


async def test_a_running_task_learns_that_it_should_stop(sdk: Api, root: Caller, queue: Queue):
    began = threading.Event()

    def execute(task: ClaimedTask) -> None:
        began.set()
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            task.raise_if_cancelled()
            time.sleep(0.02)

    with JobManager(sdk, execute=execute, heartbeat_interval=0.1, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE)
        assert began.wait(15)
        await cancel(queue, task["id"])
        ended = root.get(f"tasks/{task['id']}", headers=PATIENT).json()
    assert (ended["status"], ended["error"]) == ("cancelled", "too slow")


async def test_work_that_was_done_before_it_could_stop_is_kept(sdk: Api, root: Caller, queue: Queue):
    began = threading.Event()

    def execute(task: ClaimedTask) -> str:
        began.set()
        deadline = time.monotonic() + 15
        while not task.cancel_requested and time.monotonic() < deadline:
            time.sleep(0.02)
        return "done"

    with JobManager(sdk, execute=execute, heartbeat_interval=0.1, polling_interval=0.1) as manager:
        manager.register(Rotate)
        task = root.submit(ROTATE)
        assert began.wait(15)
        await cancel(queue, task["id"])
        ended = root.get(f"tasks/{task['id']}", headers=PATIENT).json()
    assert (ended["status"], ended["result"]) == ("completed", "done")


async def test_a_claimed_task_is_asked_and_no_other(manager: JobManager, root: Caller, queue: Queue):
    manager.register(Rotate)
    root.submit(ROTATE)
    root.submit(ROTATE)
    task, other = manager.claim(), manager.claim()
    assert task is not None
    assert other is not None
    await cancel(queue, task.id)
    manager.heartbeat()
    assert (task.cancel_requested, other.cancel_requested) == (True, False)
    with pytest.raises(TaskCancelled):
        task.raise_if_cancelled()
    other.raise_if_cancelled()
    manager.cancel(task)
    assert root.get(f"tasks/{task.id}").json()["status"] == "cancelled"
