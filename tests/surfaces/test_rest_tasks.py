"""Tasks over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of

JOB = "lab:modifiers:Rotate"
SHAPE = {
    "id", "job_name", "room_id", "status", "created_at", "started_at", "completed_at", "worker_id", "error",
    "payload", "result", "queue_position",
}  # fmt: skip


@pytest.fixture
def worker(ada: Api) -> str:
    return str(ada.register()["worker_id"])


def at(ada: Api, worker: str, status: str) -> dict[str, Any]:
    """A task taken to a status."""
    task = ada.submit()
    if status != "pending":
        task = ada.claim(worker)
    if status in ("running", "completed", "failed"):
        task = ada.update(task, "running").json()
    if status in ("completed", "failed", "cancelled"):
        task = ada.update(task, status).json()
    assert task["status"] == status
    return task


def test_a_submitted_task_is_accepted_and_says_where_it_is(ada: Api, worker: str):
    answer = ada.post(f"rooms/lab/tasks/{JOB}", json={"payload": {"angle": 90}})
    task = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/joblib/tasks/{task['id']}"
    assert answer.headers["retry-after"] == "1"
    assert set(task) == SHAPE
    assert (task["status"], task["payload"], task["queue_position"]) == ("pending", {"angle": 90}, 1)
    assert (task["job_name"], task["room_id"], task["worker_id"]) == (JOB, "lab", None)
    assert ada.get(answer.headers["location"]).json() == task


def test_the_payload_is_optional(ada: Api, worker: str):
    assert ada.post(f"rooms/lab/tasks/{JOB}", json={}).json()["payload"] == {}


def test_a_task_of_an_unknown_or_foreign_job_is_refused(ada: Api, root: Api, worker: str):
    assert problem_of(ada.post("rooms/lab/tasks/lab:modifiers:Missing", json={})) == "job-not-found"
    assert problem_of(ada.post(f"rooms/elsewhere/tasks/{JOB}", json={})) == "job-not-found"
    root.register(room="@global")
    assert ada.submit("@global:modifiers:Rotate", room="elsewhere")["room_id"] == "elsewhere"


def test_other_rooms_jobs_may_be_allowed(serve: Serve):
    with Api(serve(cross_room_jobs=True), token_of("ada")) as ada:
        ada.register()
        assert ada.submit(JOB, room="elsewhere")["room_id"] == "elsewhere"


def test_a_job_without_workers_accepts_tasks_unless_told_otherwise(serve: Serve, ada: Api, worker: str):
    ada.submit()
    ada.delete(f"workers/{worker}")
    assert ada.submit()["status"] == "pending"
    with Api(serve(require_workers=True), token_of("ada")) as strict:
        assert problem_of(strict.post(f"rooms/lab/tasks/{JOB}", json={})) == "no-workers-available"
    assert ada.get("rooms/lab/tasks").json()["total"] == 2


def test_the_same_idempotency_key_gets_the_same_task(ada: Api, worker: str):
    def submit(key: str) -> Any:
        return ada.post(f"rooms/lab/tasks/{JOB}", json={}, headers={"Idempotency-Key": key}).json()["id"]

    assert submit("one") == submit("one") != submit("two")
    assert ada.get("rooms/lab/tasks").json()["total"] == 2


def test_a_claim_hands_out_the_oldest_task_of_the_workers_jobs(ada: Api, worker: str):
    ada.register("Other", worker_id=worker)
    first = ada.submit()
    second = ada.submit("lab:modifiers:Other")
    claimed = [ada.claim(worker) for _ in range(2)]
    assert [task["id"] for task in claimed] == [first["id"], second["id"]]
    assert set(claimed[0]) == SHAPE
    assert (claimed[0]["status"], claimed[0]["worker_id"]) == ("claimed", worker)
    assert ada.post("tasks/claim", json={"worker_id": worker}).json() == {"task": None}


def test_only_the_workers_owner_claims(ada: Api, bob: Api, root: Api, worker: str):
    ada.submit()
    assert problem_of(ada.post("tasks/claim", json={})) == "validation-error"
    assert problem_of(ada.post("tasks/claim", json={"worker_id": str(uuid4())})) == "worker-not-found"
    for stranger in (bob, root):
        assert problem_of(stranger.post("tasks/claim", json={"worker_id": worker})) == "forbidden"
    assert ada.claim(worker)["status"] == "claimed"


def test_a_task_runs_and_completes_with_its_result(ada: Api, worker: str):
    ada.submit()
    task = ada.claim(worker)
    running = ada.update(task, "running").json()
    assert (running["status"], running["completed_at"]) == ("running", None)
    assert running["started_at"] is not None
    done = ada.update(task, "completed", result={"frames": [1, 2]}).json()
    assert (done["status"], done["result"], done["error"]) == ("completed", {"frames": [1, 2]}, None)
    assert done["completed_at"] >= done["started_at"] == running["started_at"]
    assert ada.get(f"tasks/{task['id']}").json() == done


def test_a_task_fails_with_its_error(ada: Api, worker: str):
    failed = ada.update(at(ada, worker, "running"), "failed", error="out of memory").json()
    assert (failed["status"], failed["error"]) == ("failed", "out of memory")
    assert failed["completed_at"] is not None


ALLOWED = {
    "pending": {"cancelled"},
    "claimed": {"running", "failed", "cancelled"},
    "running": {"completed", "failed", "cancelled"},
    "completed": set(),
    "failed": set(),
    "cancelled": set(),
}


@pytest.mark.parametrize("old", ALLOWED)
def test_steps_are_legal_or_refused(ada: Api, worker: str, old: str):
    for new in sorted(ALLOWED):
        task = at(ada, worker, old)
        answer = ada.update(task, new)
        if new in ALLOWED[old]:
            assert (answer.status_code, answer.json()["status"]) == (200, new)
        else:
            assert problem_of(answer) == "invalid-task-transition"
            assert answer.json()["detail"] == f"Cannot transition from '{old}' to '{new}'"
            assert ada.get(f"tasks/{task['id']}").json()["status"] == old
        # Nothing may stay in line before the next one.
        while (rest := ada.post("tasks/claim", json={"worker_id": worker}).json()["task"]) is not None:
            ada.update(rest, "cancelled")


def test_only_the_workers_owner_or_a_superuser_updates(ada: Api, bob: Api, root: Api, worker: str):
    bobs = bob.submit()
    task = ada.claim(worker)
    assert task["id"] == bobs["id"]
    assert problem_of(bob.update(task, "running")) == "forbidden"
    assert problem_of(bob.update(task, "cancelled")) == "forbidden"
    assert ada.update(task, "running").status_code == 200
    assert root.update(task, "cancelled").json()["status"] == "cancelled"


def test_a_submitter_cancels_what_is_still_pending(ada: Api, bob: Api, worker: str):
    task = bob.submit()
    assert problem_of(ada.update(task, "cancelled")) == "forbidden"
    cancelled = bob.update(task, "cancelled", error="changed my mind").json()
    assert (cancelled["status"], cancelled["error"]) == ("cancelled", "changed my mind")
    assert cancelled["queue_position"] is None


async def test_a_token_that_is_not_current_is_lost(ada: Api, queue: Queue, worker: str):
    task = at(ada, worker, "running")
    answer = ada.update(task, "completed", token=str(uuid4()))
    assert problem_of(answer) == "lease-lost"
    assert ada.get(f"tasks/{task['id']}").json()["status"] == "running"


def test_ending_the_last_task_retires_an_orphaned_job(ada: Api, bob: Api, worker: str):
    task = bob.submit()
    ada.delete(f"workers/{worker}")
    assert ada.get(f"rooms/lab/jobs/{JOB}").status_code == 200
    bob.update(task, "cancelled")
    assert problem_of(ada.get(f"rooms/lab/jobs/{JOB}")) == "job-not-found"
    assert ada.get(f"tasks/{task['id']}").json()["job_name"] == JOB
    assert ada.get(f"rooms/lab/jobs/{JOB}/tasks").json()["total"] == 1


def test_unknown_tasks_and_statuses_are_refused(ada: Api, worker: str):
    for answer in (ada.get(f"tasks/{uuid4()}"), ada.patch(f"tasks/{uuid4()}", json={"status": "running"})):
        assert problem_of(answer) == "task-not-found"
    task = ada.submit()
    for status in ("ignored", "done", None):
        assert problem_of(ada.patch(f"tasks/{task['id']}", json={"status": status})) == "validation-error"


def test_places_in_line_follow_the_order_of_claims(ada: Api, worker: str):
    tasks = [ada.submit() for _ in range(3)]
    assert [task["queue_position"] for task in tasks] == [1, 2, 3]
    claimed = ada.claim(worker)
    assert claimed["queue_position"] is None
    listed = ada.get("rooms/lab/tasks").json()["items"]
    assert [(task["status"], task["queue_position"]) for task in listed] == [
        ("pending", 2), ("pending", 1), ("claimed", None),
    ]  # fmt: skip


def test_a_rooms_tasks_are_listed_by_status_and_job(ada: Api, root: Api, worker: str):
    root.register(room="@global")
    elsewhere = ada.submit("@global:modifiers:Rotate", room="elsewhere")
    shared = ada.submit("@global:modifiers:Rotate")
    by_status = {status: at(ada, worker, status)["id"] for status in list(ALLOWED)[1:]}
    by_status["pending"] = ada.submit()["id"]
    page = ada.get("rooms/lab/tasks").json()
    assert page["total"] == 7
    assert elsewhere["id"] not in {task["id"] for task in page["items"]}
    for status, task_id in by_status.items():
        found = ada.get(f"rooms/lab/jobs/{JOB}/tasks", params={"status": status}).json()
        assert [task["id"] for task in found["items"]] == [task_id]
        assert found["total"] == 1
    pending = ada.get("rooms/lab/tasks", params={"status": "pending"}).json()
    assert [task["id"] for task in pending["items"]] == [by_status["pending"], shared["id"]]
    assert problem_of(ada.get("rooms/lab/tasks", params={"status": "ignored"})) == "validation-error"
    assert problem_of(ada.get(f"rooms/elsewhere/jobs/{JOB}/tasks")) == "job-not-found"
    last = ada.get("rooms/lab/tasks", params={"limit": 1, "offset": 6}).json()
    assert [task["id"] for task in last["items"]] == [shared["id"]]


@pytest.mark.postgres_only
async def test_a_submit_beyond_the_quota_says_when_to_try_again(
    ada: Api, bob: Api, queue: Queue, worker: str
):
    await queue.driver.call("set_quota", room="lab", owner="ada", max_waiting=1)
    ada.submit()
    refused = ada.post(f"rooms/lab/tasks/{JOB}", json={"payload": {}})
    assert (refused.status_code, problem_of(refused)) == (429, "quota-exceeded")
    assert int(refused.headers["Retry-After"]) > 0
    assert "at most 1 waiting" in refused.json()["detail"]
    bob.submit()
