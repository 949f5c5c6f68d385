"""Workers over HTTP."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from pgjobs.queue.queue import Queue
from tests.surfaces.rest_server import Api, problem_of


def test_a_registered_worker_belongs_to_the_caller(ada: Api, bob: Api):
    answer = ada.post("workers")
    assert answer.status_code == 201
    worker = answer.json()
    assert set(worker) == {"id", "last_heartbeat"}
    assert datetime.fromisoformat(worker["last_heartbeat"]).utcoffset() is not None
    assert ada.patch(f"workers/{worker['id']}").status_code == 200
    assert problem_of(bob.patch(f"workers/{worker['id']}")) == "forbidden"


def test_workers_are_listed_newest_first_with_their_job_count(ada: Api):
    first = ada.post("workers").json()["id"]
    serving = ada.register()["worker_id"]
    page = ada.get("workers").json()
    assert [worker["id"] for worker in page["items"]] == [serving, first]
    assert [worker["job_count"] for worker in page["items"]] == [1, 0]
    assert (page["total"], page["total_relation"], page["limit"], page["offset"]) == (2, "eq", 50, 0)
    assert set(page["items"][0]) == {"id", "last_heartbeat", "job_count"}


def test_a_heartbeat_moves_forward_and_is_the_owners_only(ada: Api, root: Api):
    worker = ada.post("workers").json()
    answer = ada.patch(f"workers/{worker['id']}")
    assert answer.json()["id"] == worker["id"]
    assert answer.json()["last_heartbeat"] >= worker["last_heartbeat"]
    # Not even a superuser keeps somebody else's worker alive.
    assert problem_of(root.patch(f"workers/{worker['id']}")) == "forbidden"
    assert problem_of(ada.patch(f"workers/{uuid4()}")) == "worker-not-found"
    assert problem_of(ada.patch("workers/not-a-uuid")) == "validation-error"


async def test_a_heartbeat_tells_which_tasks_to_stop(ada: Api, queue: Queue):
    worker = ada.register()["worker_id"]
    ada.submit()
    ada.submit()
    task, other = ada.claim(worker), ada.claim(worker)
    assert ada.patch(f"workers/{worker}").json()["cancel_requested"] == []
    held = await queue.get_task(task_uuid=UUID(task["id"]))
    await queue.cancel_task(held.id, reason="too slow")
    assert ada.patch(f"workers/{worker}").json()["cancel_requested"] == [task["id"]]
    stopped = ada.update(task, "cancelled").json()
    assert (stopped["status"], stopped["error"]) == ("cancelled", "too slow")
    assert ada.patch(f"workers/{worker}").json()["cancel_requested"] == []
    assert ada.get(f"tasks/{other['id']}").json()["status"] == "claimed"


def test_a_worker_is_retired_by_its_owner_or_a_superuser(ada: Api, bob: Api, root: Api):
    mine, theirs = (ada.post("workers").json()["id"] for _ in range(2))
    assert problem_of(bob.delete(f"workers/{mine}")) == "forbidden"
    answer = ada.delete(f"workers/{mine}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert root.delete(f"workers/{theirs}").status_code == 204
    assert problem_of(ada.delete(f"workers/{mine}")) == "worker-not-found"


def test_retiring_a_worker_cleans_up_all_that_hangs_on_it(ada: Api):
    job = ada.register()
    ada.put("rooms/lab/providers", json={"category": "fs", "name": "disk", "worker_id": job["worker_id"]})
    ada.submit()
    task = ada.claim(job["worker_id"])
    assert ada.delete(f"workers/{job['worker_id']}").status_code == 204
    failed = ada.get(f"tasks/{task['id']}").json()
    assert (failed["status"], failed["error"]) == ("failed", "Worker disconnected")
    assert failed["job_name"] == "lab:modifiers:Rotate"
    assert ada.get("rooms/lab/providers").json()["items"] == []
    assert ada.get("rooms/lab/jobs").json()["items"] == []
    assert problem_of(ada.get("rooms/lab/jobs/lab:modifiers:Rotate")) == "job-not-found"


def test_a_job_with_waiting_tasks_outlives_its_worker(ada: Api):
    job = ada.register()
    task = ada.submit()
    ada.delete(f"workers/{job['worker_id']}")
    assert ada.get("rooms/lab/jobs/lab:modifiers:Rotate").json()["workers"] == []
    assert ada.get(f"tasks/{task['id']}").json()["status"] == "pending"


def test_a_room_lists_the_workers_of_the_jobs_it_sees(ada: Api, root: Api):
    here = ada.register(room="lab")["worker_id"]
    everywhere = root.register(room="@global")["worker_id"]
    ada.register(room="elsewhere")
    ada.post("workers")
    page = ada.get("rooms/lab/workers").json()
    assert {worker["id"] for worker in page["items"]} == {here, everywhere}
    assert page["total"] == 2
