"""Steps, waits, calls and signals over HTTP: a worker in any language has them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from tests.surfaces.rest_server import Api, problem_of

pytestmark = pytest.mark.postgres_only
NOBODY = "00000000-0000-4000-8000-000000000000"
JOB = "lab:modifiers:Rotate"


class Held:
    """A task under a lease."""

    def __init__(self, api: Api, worker: str) -> None:
        answer = api.post("tasks/claim", json={"worker_id": worker})
        assert answer.json()["task"] is not None, "nothing was due"
        self.api, self.id = api, answer.json()["task"]["id"]
        self.token = {"Lease-Token": answer.headers["Lease-Token"]}
        api.patch(f"tasks/{self.id}", json={"status": "running"}, headers=self.token)

    def post(self, what: str, **body: Any) -> httpx.Response:
        return self.api.post(f"tasks/{self.id}/{what}", json=body, headers=self.token)

    def complete(self, result: Any = None) -> None:
        body = {"status": "completed", "result": result}
        assert self.api.patch(f"tasks/{self.id}", json=body, headers=self.token).status_code == 200


@pytest.fixture
def worker(ada: Api) -> str:
    return str(ada.register()["worker_id"])


@pytest.fixture
def held(ada: Api, worker: str) -> Held:
    ada.submit()
    return Held(ada, worker)


def test_the_first_result_of_a_step_is_kept(held: Held):
    first = held.post("steps", name="charge", result={"id": 7})
    assert first.json() == {"number": 1, "is_new": True, "kept": {"id": 7}}
    again = held.post("steps", name="charge", result={"id": 8})
    assert again.json() == {"number": 1, "is_new": False, "kept": {"id": 7}}
    steps = held.api.get(f"tasks/{held.id}/steps").json()
    assert [(step["number"], step["name"], step["is_done"]) for step in steps["items"]] == [
        (1, "charge", True)
    ]


def test_steps_are_kept_and_read_page_by_page(held: Held):
    for number in range(5):
        held.post("steps", name=f"page-{number}")
    page = held.api.get(f"tasks/{held.id}/steps?limit=3").json()
    rest = held.api.get(f"tasks/{held.id}/steps", params={"limit": 3, "after": page["next"]}).json()
    assert [step["name"] for step in page["items"] + rest["items"]] == [f"page-{n}" for n in range(5)]
    assert rest["next"] is None


def test_results_are_whole_for_who_holds_the_lease_and_without_secrets_for_others(held: Held, bob: Api):
    held.post("steps", name="login", result={"password": "hunter2"})
    place = f"tasks/{held.id}/steps"
    assert held.api.get(place, headers=held.token).json()["items"][0]["result"] == {"password": "hunter2"}
    assert "hunter2" not in bob.get(place).text
    assert "hunter2" not in bob.get(f"tasks/{held.id}/flow").text
    refused = bob.get(place, headers={"Lease-Token": NOBODY})
    assert problem_of(refused) == "lease-lost"


def test_only_a_lease_speaks_for_a_task(held: Held):
    bodies: dict[str, dict[str, Any]] = {
        "steps": {"name": "a"},
        "suspend": {"name": "a", "signal": "a"},
        "calls": {"name": "a", "job": JOB, "payloads": [{}]},
    }
    for what, body in bodies.items():
        place = f"tasks/{held.id}/{what}"
        assert problem_of(held.api.post(place, json=body)) == "validation-error"
        stranger = held.api.post(place, json=body, headers={"Lease-Token": NOBODY})
        assert problem_of(stranger) == "lease-lost"
    assert held.api.get(f"tasks/{held.id}/steps").json()["items"] == []


async def test_a_task_sleeps_without_a_worker(ada: Api, worker: str, held: Held, database_url: str):
    asked = held.post("suspend", name="trial", delay_seconds=3600).json()
    assert asked["is_suspended"]
    assert ada.get(f"tasks/{held.id}/details").json()["phase"] == "sleeping"
    assert ada.post("tasks/claim", json={"worker_id": worker}).json()["task"] is None
    connection = await asyncpg.connect(database_url)
    await connection.execute("update pgjobs.test_clock set shift = $1", timedelta(hours=1))
    await connection.close()
    again = Held(ada, worker)
    assert again.post("suspend", name="trial", delay_seconds=3600).json()["is_suspended"] is False
    again.complete()


def test_a_task_waits_for_a_signal_and_the_first_counts(ada: Api, bob: Api, worker: str, held: Held):
    assert held.post("suspend", name="approved", signal="approved").json()["is_suspended"]
    place = f"tasks/{held.id}/signals"
    first = bob.post(place, json={"name": "approved", "payload": {"by": "bob"}})
    assert (first.status_code, first.json()["is_new"]) == (201, True)
    second = ada.post(place, json={"name": "approved", "payload": {"by": "ada"}})
    assert (second.status_code, second.json()["is_new"]) == (200, False)
    again = Held(ada, worker)
    ended = again.post("suspend", name="approved", signal="approved").json()
    assert (ended["is_suspended"], ended["result"]) == (False, {"by": "bob"})
    again.complete()
    assert problem_of(bob.post(place, json={"name": "late"})) == "invalid-task-transition"


def test_a_task_calls_others_without_holding_their_slot(ada: Api, worker: str, held: Held):
    call = {"name": "pages", "job": JOB, "payloads": [{"page": 1}, {"page": 2}]}
    assert held.post("calls", **call).json() == {"is_suspended": True, "items": []}
    for page in (1, 2):
        Held(ada, worker).complete(f"page {page}")
    again = Held(ada, worker)
    assert again.id == held.id
    called = again.post("calls", **call).json()
    assert [(each["status"], each["result"]) for each in called["items"]] == [
        ("completed", "page 1"),
        ("completed", "page 2"),
    ]


def test_the_flow_of_a_task_shows_before_and_after(ada: Api, bob: Api, worker: str):
    parent = ada.submit()
    flow = ada.post(
        "rooms/lab/workflows",
        json={"name": "nightly", "tasks": [{"name": "merge", "job": JOB, "after": [parent["id"]]}]},
    ).json()
    child = flow["task_ids"]["merge"]
    seen = bob.get(f"tasks/{child}/flow").json()
    assert (seen["waits_for"], seen["parents"]["total"]) == ("parents", 1)
    assert (seen["parents"]["items"][0]["id"], seen["workflow"]["name"]) == (parent["id"], "nightly")
    below = bob.get(f"tasks/{parent['id']}/flow").json()
    assert ([each["id"] for each in below["children"]["items"]], below["workflow"]) == ([child], None)
    Held(ada, worker).complete()
    merging = Held(ada, worker)
    merging.post("steps", name="charge", result=1)
    merging.post("suspend", name="approved", signal="ok", delay_seconds=60)
    seen = bob.get(f"tasks/{child}/flow").json()
    assert [(step["name"], step["kind"], step["is_done"]) for step in seen["steps"]] == [
        ("charge", "step", True),
        ("approved", "signal", False),
    ]
    assert (seen["waits_for"], seen["signal"], seen["step_count"]) == ("signal", "ok", 2)
    assert seen["until"] is not None
    reasons = bob.get(f"tasks/{child}/why").json()["items"]
    (why,) = [check for check in reasons if check["action"] == "send_signal"]
    assert why["arguments"] == {"task_id": child, "signal": "ok"}


def test_metrics_say_how_many_are_suspended_blocked_and_held(ada: Api, root: Api, worker: str, held: Held):
    held.post("suspend", name="approved", signal="approved")
    for on_failure in ("hold", "run"):
        parent = ada.submit()
        body = {"after": [parent["id"]], "on_failure": on_failure}
        ada.post(f"rooms/lab/tasks/{JOB}", json=body)
    failing = Held(ada, worker)
    ada.patch(f"tasks/{failing.id}", json={"status": "failed", "error": "no"}, headers=failing.token)
    root.post("sweep", json={})
    lines = root.get("/metrics").text.splitlines()
    told = {
        name: [line for line in lines if line.startswith(f"jobs_{name}{{")]
        for name in ("suspended", "blocked", "held")
    }
    assert {name: [line.rsplit(" ", 1)[1] for line in found] for name, found in told.items()} == {
        "suspended": ["1.0"],
        "blocked": ["1.0"],
        "held": ["1.0"],
    }
