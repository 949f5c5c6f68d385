"""What the console asks and does, over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.releases import newest_migration
from tests.surfaces.operations import operations
from tests.surfaces.rest_server import Api, problem_of

pytestmark = pytest.mark.postgres_only

JOB = "lab:modifiers:Rotate"
SECRET_URL = "https://ada:hunter2@files.example.org/drop?sig=deadbeef#part"


@pytest.fixture
def tasks(root: Api) -> dict[str, str]:
    """One failed, one running, two pending."""
    worker = root.register()["worker_id"]
    failed, running = root.submit(number=1), root.submit(number=2)
    claimed = root.claim(worker)
    root.update(claimed, "running")
    root.update(claimed, "failed", error="the disk is full")
    root.update(root.claim(worker), "running")
    pending = root.submit(number=3, target=SECRET_URL, api_key="k-1", nested=[{"password": "hunter2"}])
    other = root.submit(number=4)
    return {
        "failed": failed["id"],
        "running": running["id"],
        "pending": pending["id"],
        "other": other["id"],
        "worker": worker,
    }


def ids(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [task["id"] for task in answer.json()["items"]]


def test_tasks_are_found_by_filters_and_counted(ada: Api, tasks: dict[str, str]):
    newest_first = [tasks[name] for name in ("other", "pending", "running", "failed")]
    assert ids(ada.get("tasks")) == newest_first
    assert ids(ada.get("tasks", params={"status": "failed"})) == [tasks["failed"]]
    assert ids(ada.get("tasks", params={"text": "DISK is"})) == [tasks["failed"]]
    assert ids(ada.get("tasks", params={"job": JOB, "room": "lab", "limit": 1})) == [tasks["other"]]
    assert ids(ada.get("tasks", params={"room": "elsewhere"})) == []
    counted = ada.get("tasks/count", params={"status": "pending"}).json()
    assert counted == {"total": 2, "total_relation": "eq"}


def test_pages_go_on_where_the_last_one_ended(ada: Api, tasks: dict[str, str]):
    seen: list[str] = []
    before = None
    while True:
        page = ada.get("tasks", params={"limit": 3, **({"before": before} if before else {})}).json()
        seen += [task["id"] for task in page["items"]]
        before = page["next"]
        if before is None:
            break
    assert seen == ids(ada.get("tasks"))


@pytest.mark.parametrize(
    ("filters", "problem"),
    [
        ({"status": "odd"}, "validation-error"),
        ({"job": "a:b:missing"}, "job-not-found"),
        ({"room": "a:b"}, "invalid-room-id"),
        ({"since": "yesterday"}, "validation-error"),
        ({"limit": 501}, "validation-error"),
        ({"text": "x" * 201}, "validation-error"),
    ],
)
def test_filters_that_cannot_be_are_refused(ada: Api, filters: dict[str, Any], problem: str):
    assert problem_of(ada.get("tasks", params=filters)) == problem


def test_a_task_in_full_hides_what_looks_like_a_secret(ada: Api, tasks: dict[str, str]):
    answer = ada.get(f"tasks/{tasks['pending']}/details")
    task = answer.json()
    assert task["payload"] == {
        "number": 3,
        "target": "https://files.example.org/drop",
        "api_key": "…",
        "nested": [{"password": "…"}],
    }
    assert (task["status"], task["queue_position"]) == ("pending", 1)
    assert not any(word in answer.text for word in ("hunter2", "deadbeef", "#part", "k-1"))


def test_a_task_tells_its_attempts_events_and_why_it_waits(ada: Api, tasks: dict[str, str]):
    [attempt] = ada.get(f"tasks/{tasks['failed']}/attempts").json()["items"]
    assert (attempt["attempt"], attempt["error"]) == (1, "the disk is full")
    kinds = [event["kind"] for event in ada.get(f"tasks/{tasks['failed']}/events").json()["items"]]
    assert kinds == ["submitted", "claimed", "started", "failed"]
    checks = ada.get(f"tasks/{tasks['other']}/why").json()["items"]
    reason = next(check for check in checks if not check["is_ok"])
    assert reason["answer"] == "One task of its job comes before it."
    for part in ("details", "attempts", "events", "why"):
        assert problem_of(ada.get(f"tasks/{uuid4()}/{part}")) == "task-not-found"


def test_the_events_of_a_task_are_told_from_the_last_on_backwards(ada: Api, tasks: dict[str, str]):
    def told(**page: Any) -> tuple[list[str], int | None]:
        answer = ada.get(f"tasks/{tasks['failed']}/events", params=page).json()
        return [event["kind"] for event in answer["items"]], answer["previous"]

    kinds, earlier = told(limit=3)
    assert kinds == ["claimed", "started", "failed"]
    assert told(limit=3, before=earlier) == (["submitted"], None)


def test_an_operator_retries_ignores_and_cancels(root: Api, tasks: dict[str, str]):
    def act(name: str, verb: str) -> httpx.Response:
        return root.post(f"tasks/{tasks[name]}/{verb}", json={"reason": f"to {verb}"})

    def status(name: str) -> str:
        return str(root.get(f"tasks/{tasks[name]}/details").json()["status"])

    assert act("failed", "ignore").status_code == 204
    assert status("failed") == "ignored"
    assert act("failed", "unignore").status_code == 204
    assert act("failed", "ignore").status_code == 204
    assert act("failed", "retry").status_code == 204
    assert status("failed") == "pending"
    assert act("other", "cancel").status_code == 204
    assert status("other") == "cancelled"
    assert act("running", "cancel").status_code == 204
    assert status("running") == "running"
    assert root.get(f"tasks/{tasks['running']}/details").json()["cancel_requested_at"]
    assert problem_of(act("running", "retry")) == "invalid-task-transition"
    events = root.get(f"tasks/{tasks['failed']}/events").json()["items"]
    done = [(event["kind"], event["actor"], event["message"]) for event in events if event["actor"] == "root"]
    assert done[-4:] == [
        ("ignored", "root", "to ignore"),
        ("unignored", "root", "to unignore"),
        ("ignored", "root", "to ignore"),
        ("retried", "root", "to retry"),
    ]


def test_many_tasks_are_previewed_and_then_changed(root: Api, tasks: dict[str, str]):
    chosen = [tasks["failed"], tasks["running"], str(uuid4())]
    body = {"verb": "retry", "ids": chosen, "dry_run": True, "reason": "the disk was replaced"}
    preview = root.post("tasks/actions", json=body).json()
    assert preview == {"changed": 1, "refused": 2, "next": None}
    assert root.get("tasks/count", params={"status": "failed"}).json()["total"] == 1
    assert root.post("tasks/actions", json={**body, "dry_run": False}).json() == preview
    assert root.get("tasks/count", params={"status": "failed"}).json()["total"] == 0
    everything = {"verb": "cancel", "filter": {"status": "pending", "job": JOB}}
    assert root.post("tasks/actions", json=everything).json() == {"changed": 3, "refused": 0, "next": None}


def test_a_filter_takes_batches_of_a_hundred(root: Api):
    root.register()
    for _ in range(103):
        root.submit()
    body: dict[str, Any] = {"verb": "ignore", "filter": {"status": "pending"}}
    first = root.post("tasks/actions", json=body).json()
    assert first["changed"] == 100
    rest = root.post("tasks/actions", json={**body, "before": first["next"]}).json()
    assert rest == {"changed": 3, "refused": 0, "next": None}


@pytest.mark.parametrize(
    "body",
    [
        {"verb": "delete", "ids": [str(uuid4())]},
        {"verb": "retry"},
        {"verb": "retry", "ids": []},
        {"verb": "retry", "ids": [str(uuid4())], "filter": {}},
        {"verb": "retry", "filter": {}, "reason": "x" * 201},
    ],
)
def test_a_bulk_action_that_cannot_be_is_refused(root: Api, body: dict[str, Any]):
    assert problem_of(root.post("tasks/actions", json=body)) == "validation-error"


def test_a_running_task_is_asked_to_stop_or_ended_by_force(root: Api, tasks: dict[str, str]):
    assert root.post(f"tasks/{tasks['running']}/cancel", json={"reason": "slow"}).status_code == 204
    assert root.get(f"tasks/{tasks['running']}").json()["status"] == "running"
    assert root.patch(f"workers/{tasks['worker']}").json()["cancel_requested"] == [tasks["running"]]
    assert root.post(f"tasks/{tasks['running']}/cancel", json={"force": True}).status_code == 204
    ended = root.get(f"tasks/{tasks['running']}").json()
    assert (ended["status"], ended["error"]) == ("cancelled", "slow")


def test_only_superusers_change_anything(ada: Api, nobody: Api):
    for operation in operations():
        if operation.is_change and operation.tag in ("console", "schedules", "maintenance"):
            method, path = operation[:2]
            assert problem_of(ada.request(method, path, json={})) == "forbidden", operation
            assert problem_of(nobody.request(method, path, json={})) == "unauthorized", operation


def test_everybody_with_a_token_looks_and_nobody_else(ada: Api, nobody: Api):
    for operation in operations():
        if operation.tag == "console" and not operation.is_change and not operation.has_parameters:
            assert ada.get(operation.path).status_code == 200, operation
            assert problem_of(nobody.get(operation.path)) == "unauthorized", operation


def test_the_overview_counts_what_waits_and_runs(ada: Api, tasks: dict[str, str]):
    now = ada.get("overview").json()
    assert (now["waiting"], now["running"], now["workers"], now["jobs"]) == (2, 1, 1, 1)
    assert now["oldest_wait_seconds"] >= 0


def test_throughput_has_as_many_steps_as_a_chart_can_show(ada: Api):
    for minutes, step in ((60, 60), (360, 240), (1440, 900)):
        answer = ada.get("throughput", params={"minutes": minutes}).json()
        assert answer["step_seconds"] == step
        assert minutes * 60 / step <= len(answer["items"]) <= 98
    assert problem_of(ada.get("throughput", params={"minutes": 1})) == "validation-error"


def test_jobs_are_paused_resumed_and_shown(root: Api, tasks: dict[str, str]):
    [job] = root.get("jobs").json()["items"]
    assert (job["full_name"], job["state"], job["waiting"], job["running"]) == (JOB, "open", 2, 1)
    assert root.post(f"jobs/{job['id']}/pause", json={"reason": "prices change"}).status_code == 204
    assert root.get("jobs").json()["items"][0]["state"] == "paused"
    [check] = [
        check for check in root.get(f"tasks/{tasks['pending']}/why").json()["items"] if not check["is_ok"]
    ]
    assert "was paused" in check["answer"]
    assert root.post(f"jobs/{job['id']}/resume", json={}).status_code == 204
    assert root.get("jobs").json()["items"][0]["state"] == "open"
    assert problem_of(root.post(f"jobs/{uuid4()}/pause", json={})) == "job-not-found"


def test_jobs_are_limited_and_a_task_says_that_it_waits_for_a_slot(root: Api, tasks: dict[str, str]):
    [job] = root.get("jobs").json()["items"]
    assert job["max_running"] is None
    assert root.post(f"jobs/{job['id']}/limit", json={"max_running": 1}).status_code == 204
    assert root.get("jobs").json()["items"][0]["max_running"] == 1
    [check] = [
        check for check in root.get(f"tasks/{tasks['pending']}/why").json()["items"] if not check["is_ok"]
    ]
    assert check["answer"] == "1 of at most 1 of its job is claimed or running."
    assert root.post(f"jobs/{job['id']}/limit", json={"max_running": None}).status_code == 204
    assert root.get("jobs").json()["items"][0]["max_running"] is None
    for wrong in ({}, {"max_running": 0}, {"max_running": "many"}):
        assert problem_of(root.post(f"jobs/{job['id']}/limit", json=wrong)) == "validation-error"
    assert problem_of(root.post(f"jobs/{uuid4()}/limit", json={"max_running": 1})) == "job-not-found"


def test_jobs_share_by_key_and_their_keys_are_listed(root: Api, ada: Api, tasks: dict[str, str]):
    [job] = root.get("jobs").json()["items"]
    assert ada.get(f"jobs/{job['id']}/sharing").json() is None
    wanted = {"max_running_per_key": 2, "rate": "100/min", "fair": True, "weights": {"acme": 3}}
    assert root.post(f"jobs/{job['id']}/sharing", json=wanted).status_code == 204
    shown = ada.get(f"jobs/{job['id']}/sharing").json()
    assert {name: shown[name] for name in wanted} == wanted
    keys = ada.get(f"jobs/{job['id']}/keys").json()
    assert [key["key"] for key in keys] == [""]
    assert keys[0]["waiting"] >= 1
    for wrong in (
        {"rate": "often"},
        {"max_running_per_key": -1},
        {"weights": {"acme": 0}},
        {"on_failure": "stop"},
    ):
        assert problem_of(root.post(f"jobs/{job['id']}/sharing", json=wrong)) == "validation-error"
    assert problem_of(ada.post(f"jobs/{job['id']}/sharing", json=wanted)) == "forbidden"
    assert problem_of(root.get(f"jobs/{uuid4()}/keys")) == "job-not-found"


def test_workers_show_what_they_hold(ada: Api, tasks: dict[str, str]):
    [worker] = ada.get("workers/status").json()["items"]
    assert (worker["id"], worker["is_alive"], worker["jobs"]) == (tasks["worker"], True, [JOB])
    assert [task["id"] for task in worker["tasks"]] == [tasks["running"]]


def test_a_provider_forgets_its_answers(root: Api):
    provider = root.put("rooms/lab/providers", json={"category": "files", "name": "disk"}).json()
    upload = {"request_hash": "abc", "data": {"ok": True}}
    assert root.post(f"providers/{provider['id']}/results", json=upload).status_code == 204
    [shown] = root.get("providers/status").json()["items"]
    assert (shown["full_name"], shown["cached"], shown["is_alive"]) == ("lab:files:disk", 1, True)
    assert root.post(f"providers/{provider['id']}/invalidate").json() == {"forgotten": 1}
    assert root.get("providers/status").json()["items"][0]["cached"] == 0
    assert problem_of(root.post(f"providers/{uuid4()}/invalidate")) == "provider-not-found"


def test_the_database_tells_its_version(ada: Api):
    now = ada.get("database").json()
    assert now["version"] == newest_migration(now["server"].split()[0].lower())
    assert now["total_bytes"] > 0
