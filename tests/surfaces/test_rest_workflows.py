"""Workflows and dependencies over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of

JOB = "lab:modifiers:Rotate"
NOBODY = "00000000-0000-4000-8000-000000000000"
postgres_only = pytest.mark.postgres_only


def entry(name: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "job": JOB, "after": list(after), **more}


DIAMOND = [entry("top"), entry("left", "top"), entry("right", "top"), entry("bottom", "left", "right")]


def submitted(api: Api, tasks: Any = DIAMOND, name: str = "nightly") -> dict[str, Any]:
    answer = api.post("rooms/lab/workflows", json={"name": name, "tasks": tasks})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def end_next(api: Api, worker: str, status: str = "completed") -> str:
    task = api.claim(worker)
    assert api.update(task, "running").status_code == 200
    assert api.update(task, status, **({"error": "broken"} if status == "failed" else {})).status_code == 200
    return str(task["id"])


@postgres_only
def test_a_workflow_runs_in_the_order_of_its_edges(ada: Api):
    worker = ada.register()["worker_id"]
    flow = submitted(ada)
    assert (flow["status"], flow["tasks"], flow["submitter"]) == ("pending", 4, "ada")
    ids = flow["task_ids"]
    ended = [end_next(ada, worker) for _ in ids]
    assert (ended[0], set(ended[1:3]), ended[3]) == (ids["top"], {ids["left"], ids["right"]}, ids["bottom"])
    done = ada.get(f"workflows/{flow['id']}").json()
    assert (done["status"], done["completed"]) == ("completed", 4)
    assert done["ended_at"] is not None


@postgres_only
def test_where_it_is_and_how_it_is_drawn(ada: Api):
    ada.register()
    answer = ada.post("rooms/lab/workflows", json={"name": "nightly", "tasks": DIAMOND})
    flow = answer.json()
    assert answer.headers["Location"] == f"/v1/joblib/workflows/{flow['id']}"
    graph = ada.get(f"workflows/{flow['id']}/graph").json()
    numbers = {node["name"]: node["number"] for node in graph["nodes"]}
    assert {(numbers["top"], numbers["left"]), (numbers["right"], numbers["bottom"])} < {
        (parent, child) for parent, child in graph["edges"]
    }
    assert {node["name"]: node["id"] for node in graph["nodes"]} == flow["task_ids"]
    assert {node["name"]: node["phase"] for node in graph["nodes"]}["bottom"] == "dependent"
    assert ada.get(f"workflows/{flow['id']}/graph?most=1").json()["left_off"] == 3
    tasks = ada.get(f"workflows/{flow['id']}/tasks?limit=3").json()
    rest = ada.get(f"workflows/{flow['id']}/tasks", params={"limit": 3, "after": tasks["next"]}).json()
    assert [task["name"] for task in tasks["items"] + rest["items"]] == list(numbers)
    assert rest["next"] is None


@postgres_only
def test_lists_go_on_where_a_page_ended(ada: Api):
    ada.register()
    made = [submitted(ada, [entry("a")], name=name)["id"] for name in ("one", "two", "one")]
    page = ada.get("workflows?limit=2").json()
    assert [flow["id"] for flow in page["items"]] == made[:0:-1]
    rest = ada.get("workflows", params={"limit": 2, "cursor": page["next"]}).json()
    assert ([flow["id"] for flow in rest["items"]], rest["next"]) == (made[:1], None)
    named = ada.get("rooms/lab/workflows?name=one").json()["items"]
    assert [flow["id"] for flow in named] == [made[2], made[0]]
    assert ada.get("rooms/elsewhere/workflows").json()["items"] == []


@postgres_only
def test_what_failed_is_retried_and_what_was_cancelled_because_of_it_comes_back(ada: Api, root: Api):
    worker = ada.register()["worker_id"]
    flow = submitted(ada)
    end_next(ada, worker, "failed")
    root.post("sweep", json={})
    place = f"workflows/{flow['id']}"
    assert (failed := ada.get(place).json())["status"] == "failed"
    assert (failed["failed"], failed["cancelled"]) == (1, 3)
    assert problem_of(ada.post(f"{place}/retry", json={})) == "forbidden"
    assert root.post(f"{place}/retry", json={"reason": "mended"}).json()["status"] == "pending"
    for _ in range(4):
        end_next(ada, worker)
    assert ada.get(place).json()["status"] == "completed"


@postgres_only
def test_who_submitted_a_workflow_cancels_it_and_a_superuser_does(ada: Api, bob: Api, root: Api):
    ada.register()
    first, second = submitted(ada), submitted(ada)
    assert problem_of(bob.post(f"workflows/{first['id']}/cancel", json={})) == "forbidden"
    assert ada.get(f"workflows/{first['id']}").json()["status"] == "pending"
    for api, flow in ((ada, first), (root, second)):
        cancelled = api.post(f"workflows/{flow['id']}/cancel", json={"reason": "no longer needed"}).json()
        assert (cancelled["status"], cancelled["cancelled"]) == ("cancelled", 4)


@postgres_only
def test_tasks_run_after_tasks_by_their_public_ids(ada: Api):
    worker = ada.register()["worker_id"]
    parent = ada.submit()
    child = ada.post(f"rooms/lab/tasks/{JOB}", json={"after": [parent["id"]], "on_failure": "run"}).json()
    assert child["status"] == "pending"
    flow = submitted(ada, [entry("last", child["id"])])
    ended = [end_next(ada, worker, status) for status in ("failed", "completed", "completed")]
    assert ended == [parent["id"], child["id"], flow["task_ids"]["last"]]


@postgres_only
@pytest.mark.parametrize(
    ("tasks", "problem"),
    [
        ([entry("a", "b"), entry("b")], "validation-error"),
        ([entry("a"), entry("a")], "validation-error"),
        ([], "validation-error"),
        ([entry("a", on_failure="explode")], "validation-error"),
        ([entry("a", NOBODY)], "task-not-found"),
        ([{"job": "lab:modifiers:Nothing"}], "job-not-found"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(ada: Api, tasks: Any, problem: str):
    ada.register()
    refused = ada.post("rooms/lab/workflows", json={"name": "nightly", "tasks": tasks})
    assert problem_of(refused) == problem
    assert ada.get("workflows").json()["items"] == []
    assert ada.get("rooms/lab/tasks").json()["total"] == 0
    lost = ada.post(f"rooms/lab/tasks/{JOB}", json={"after": [NOBODY]})
    assert problem_of(lost) == "task-not-found"


@postgres_only
async def test_the_rules_of_a_server_hold_for_workflows(serve: Serve, queue: Queue):
    with Api(serve(validate_payloads=True, require_workers=True), token_of("ada")) as ada:
        worker = ada.register(schema={"properties": {"angle": {"type": "number"}}})["worker_id"]
        wrong = [entry("a", payload={"angle": "wide"})]
        refused = ada.post("rooms/lab/workflows", json={"name": "n", "tasks": wrong})
        assert problem_of(refused) == "payload-invalid"
        elsewhere = ada.post("rooms/elsewhere/workflows", json={"name": "n", "tasks": [entry("a")]})
        assert problem_of(elsewhere) == "job-not-found"
        submitted(ada, [entry("a", payload={"angle": 1})])
        ada.delete(f"workers/{worker}")
        lonely = ada.post("rooms/lab/workflows", json={"name": "n", "tasks": [entry("a")]})
        assert problem_of(lonely) == "no-workers-available"


def test_workflows_are_not_on_sqlite(serve: Serve, queue: Queue, ada: Api):
    if queue.driver.dialect != "sqlite":
        pytest.skip("Postgres has them")
    ada.register()
    for refused in (
        ada.post("rooms/lab/workflows", json={"name": "n", "tasks": [entry("a")]}),
        ada.get("workflows"),
        ada.get(f"workflows/{NOBODY}"),
        ada.post(f"rooms/lab/tasks/{JOB}", json={"after": [NOBODY]}),
    ):
        assert (refused.status_code, problem_of(refused)) == (501, "not-on-sqlite")
        assert "embedded" in refused.text or "Postgres" in refused.text


@postgres_only
async def test_a_workflow_beyond_the_quota_is_refused_whole(ada: Api, queue: Queue):
    ada.register()
    await queue.driver.call("set_quota", room="lab", owner="ada", max_waiting=3)
    refused = ada.post("rooms/lab/workflows", json={"name": "nightly", "tasks": DIAMOND})
    assert (refused.status_code, problem_of(refused)) == (429, "quota-exceeded")
    assert int(refused.headers["Retry-After"]) > 0
    assert await queue.list_workflows() == []
    assert ada.get("rooms/lab/tasks").json()["total"] == 0
