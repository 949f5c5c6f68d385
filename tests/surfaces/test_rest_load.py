"""Many callers at once: nothing twice, nothing lost, no error."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.surfaces.rest_server import Api

JOB = "lab:modifiers:Rotate"


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


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


def test_ten_workers_run_fifty_tasks_each_once(ada: Api):
    workers = [ada.register()["worker_id"] for _ in range(10)]
    submitted = {ada.submit(number=number)["id"] for number in range(50)}

    def work(worker: str) -> list[str]:
        done = []
        while (task := ada.post("tasks/claim", json={"worker_id": worker}).json()["task"]) is not None:
            assert ada.update(task, "running").status_code == 200
            assert ada.update(task, "completed", result=task["payload"]["number"]).status_code == 200
            done.append(task["id"])
        return done

    done = [task for tasks in at_once([partial(work, worker) for worker in workers]) for task in tasks]
    assert len(done) == len(set(done)) == 50
    assert set(done) == submitted
    assert ada.get("rooms/lab/tasks", params={"status": "completed", "limit": 0}).json()["total"] == 50
