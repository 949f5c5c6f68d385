"""Many callers at once: nothing twice, nothing lost, no error."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.surfaces.rest_server import Api

JOB = "lab:modifiers:Rotate"
EACH = int(os.environ.get("PGJOBS_SOAK_EACH", "15"))


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def submit(api: Api, quantity: int, start: int) -> list[dict[str, Any]]:
    return [api.submit(number=start + place) for place in range(quantity)]


def test_a_hundred_parallel_submits_make_a_hundred_tasks(ada: Api):
    ada.register()
    tasks = at_once([ada.submit] * 100)
    assert len({task["id"] for task in tasks}) == 100
    assert ada.get("rooms/lab/tasks", params={"limit": 0}).json()["total"] == 100


def test_thirty_claims_on_twenty_tasks_hand_out_each_once(ada: Api):
    workers = [ada.register()["worker_id"] for _ in range(30)]
    submitted = {ada.submit()["id"] for _ in range(20)}
    answers = at_once([partial(ada.post, "tasks/claim", json={"worker_id": worker}) for worker in workers])
    assert {answer.status_code for answer in answers} == {200}
    claimed = [answer.json()["task"]["id"] for answer in answers if answer.json()["task"]]
    assert len(claimed) == len(set(claimed)) == 20
    assert set(claimed) == submitted


def test_ten_workers_run_as_many_tasks_each(ada: Api):
    """Every worker has its fill, and no task is anybody else's too."""
    workers = [ada.register()["worker_id"] for _ in range(10)]
    submitted = {
        task["id"]
        for tasks in at_once([partial(submit, ada, EACH, start * EACH) for start in range(10)])
        for task in tasks
    }

    def work(worker: str) -> list[str]:
        done = []
        for _ in range(EACH):
            task = ada.claim(worker)
            assert task["worker_id"] == worker
            assert ada.update(task, "running").status_code == 200
            assert ada.update(task, "completed", result=task["payload"]["number"]).status_code == 200
            done.append(task["id"])
        return done

    done = at_once([partial(work, worker) for worker in workers])
    assert [len(tasks) for tasks in done] == [EACH] * 10
    assert {task for tasks in done for task in tasks} == submitted
    assert len(submitted) == 10 * EACH
    assert ada.get("rooms/lab/tasks", params={"status": "completed", "limit": 0}).json()["total"] == 10 * EACH
    page = ada.get("rooms/lab/tasks", params={"limit": 500}).json()["items"]
    assert [task["result"] == task["payload"]["number"] for task in page] == [True] * 10 * EACH
    assert ada.post("tasks/claim", json={"worker_id": workers[0]}).json() == {"task": None}
