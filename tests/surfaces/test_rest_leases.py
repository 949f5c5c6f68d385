"""Leases over HTTP: a worker whose task has passed on changes nothing, and is told so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.rest_server import Api, problem_of

JOB = "lab:modifiers:Rotate"


def claim(api: Api, worker: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A task, and the header that proves the lease."""
    answer = api.post("tasks/claim", json={"worker_id": worker})
    return answer.json()["task"], {"Lease-Token": answer.headers["lease-token"]}


def update(api: Api, task: dict[str, Any], status: str, lease: dict[str, str], **body: Any) -> httpx.Response:
    return api.patch(f"tasks/{task['id']}", json={"status": status, **body}, headers=lease)


@pytest.fixture
async def worker(ada: Api, queue: Queue) -> str:
    """Serves a job whose tasks are tried again at once."""
    worker_id = str(ada.register()["worker_id"])
    await queue.register_job(*JOB.split(":"), max_attempts=5, backoff_base=timedelta(0))
    return worker_id


@pytest.mark.parametrize("successor", ["ada", "bob"])
@pytest.mark.parametrize("status", ["running", "completed", "failed", "cancelled"])
async def test_a_worker_taken_for_dead_cannot_touch_the_task_of_its_successor(
    ada: Api, bob: Api, queue: Queue, worker: str, successor: str, status: str
):
    ada.submit()
    task, lease = claim(ada, worker)
    assert update(ada, task, "running", lease).status_code == 200
    await queue.retire_worker(UUID(worker))
    heir = {"ada": ada, "bob": bob}[successor]
    again, fresh = claim(heir, heir.register()["worker_id"])
    assert (again["id"], fresh != lease) == (task["id"], True)
    refused = update(ada, task, status, lease, result=1 if status == "completed" else None)
    assert (refused.status_code, problem_of(refused)) == (409, "lease-lost")
    assert ada.get(f"tasks/{task['id']}").json() == again
    assert update(heir, again, "running", fresh).status_code == 200
    assert update(heir, again, "completed", fresh, result=2).json()["result"] == 2
    # Not even after the end, and not by saying the same.
    assert problem_of(update(ada, task, "completed", lease, result=1)) == "lease-lost"
    assert ada.get(f"tasks/{task['id']}").json()["result"] == 2


def test_saying_a_thing_twice_under_the_same_lease_is_saying_it_once(ada: Api, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    first = update(ada, task, "running", lease)
    assert (first.status_code, update(ada, task, "running", lease).json()) == (200, first.json())
    done = update(ada, task, "completed", lease, result=1)
    again = update(ada, task, "completed", lease, result=2)
    assert (again.status_code, again.json()) == (200, done.json())
    assert again.json()["result"] == 1
    assert problem_of(update(ada, task, "failed", lease)) == "lease-lost"


async def test_a_failure_that_is_told_twice_is_tried_again_once(ada: Api, queue: Queue, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    first = update(ada, task, "failed", lease, error="no route")
    assert (first.status_code, first.json()["status"]) == (200, "pending")
    assert (update(ada, task, "failed", lease, error="no route").json()) == first.json()
    again, fresh = claim(ada, worker)
    # Also while the next attempt goes on, and after it has ended.
    assert update(ada, task, "failed", lease, error="no route").json() == again
    assert update(ada, again, "running", fresh).status_code == 200
    done = update(ada, again, "completed", fresh, result=2)
    assert update(ada, task, "failed", lease, error="no route").json() == done.json()
    held = await queue.get_task(task_uuid=UUID(task["id"]))
    assert [attempt.error for attempt in await queue.list_attempts(held.id)] == ["no route", None]
    assert problem_of(update(ada, task, "completed", lease)) == "lease-lost"


async def test_a_repeated_ending_is_answered_after_its_worker_has_left(ada: Api, queue: Queue, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    update(ada, task, "running", lease)
    done = update(ada, task, "completed", lease, result=1)
    ada.delete(f"workers/{worker}")
    assert update(ada, task, "completed", lease, result=1).json() == done.json()


def test_without_a_token_steps_are_judged_by_status_alone(ada: Api, worker: str):
    ada.submit()
    task, _ = claim(ada, worker)
    assert update(ada, task, "running", {}).status_code == 200
    assert problem_of(update(ada, task, "running", {})) == "invalid-task-transition"
    assert update(ada, task, "completed", {}).status_code == 200
    assert problem_of(update(ada, task, "completed", {})) == "invalid-task-transition"


def test_the_current_token_does_not_make_a_foreign_task_ones_own(ada: Api, bob: Api, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    assert problem_of(update(bob, task, "running", lease)) == "forbidden"
    assert ada.get(f"tasks/{task['id']}").json()["status"] == "claimed"


def test_only_the_claim_shows_the_token(ada: Api, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    token = lease["Lease-Token"]
    for answer in (
        ada.get(f"tasks/{task['id']}"),
        ada.get("rooms/lab/tasks"),
        ada.get(f"rooms/lab/jobs/{JOB}/tasks"),
        update(ada, task, "running", lease),
    ):
        assert answer.status_code == 200
        assert token not in answer.text
        assert "lease-token" not in answer.headers
    empty = ada.post("tasks/claim", json={"worker_id": worker})
    assert (empty.json(), "lease-token" in empty.headers) == ({"task": None}, False)


def test_a_token_is_a_uuid_in_header_or_body(ada: Api, worker: str):
    ada.submit()
    task, lease = claim(ada, worker)
    assert problem_of(update(ada, task, "running", {"Lease-Token": "mine"})) == "validation-error"
    assert problem_of(update(ada, task, "running", {"Lease-Token": str(uuid4())})) == "lease-lost"
    assert problem_of(update(ada, task, "running", {}, token=str(uuid4()))) == "lease-lost"
    assert update(ada, task, "running", {}, token=lease["Lease-Token"]).json()["status"] == "running"
