"""Schedules over HTTP, on every driver."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of
from tests.surfaces.test_events_stream import streaming

pytestmark = pytest.mark.postgres_only

JOB = "lab:modifiers:Rotate"
SECRET_URL = "https://ada:hunter2@files.example.org/drop?sig=deadbeef#part"


@pytest.fixture
def job(root: Api) -> dict[str, Any]:
    return root.register()


def put(api: Api, name: str = "nightly", **body: Any) -> dict[str, Any]:
    times = {} if {"cron", "every_seconds"} & body.keys() else {"cron": "30 2 * * *"}
    answer = api.put("schedules", json={"name": name, "job": JOB, **times, **body})
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def listed(api: Api, **filters: Any) -> list[str]:
    answer = api.get("schedules", params=filters)
    assert answer.status_code == 200, answer.text
    return [schedule["name"] for schedule in answer.json()["items"]]


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_schedule_is_registered_changed_and_left_as_it_is(root: Api, job: dict[str, Any]):
    body = {
        "name": "nightly", "job": JOB, "cron": "30 2 * * *", "timezone": "Europe/Berlin", "payload": {"angle": 90},
        "priority": 3, "max_attempts": 2, "missed": "skip", "overlap": False, "owner": "ada", "project": "p",
        "tags": ["night"],
    }  # fmt: skip
    created = root.put("schedules", json=body)
    assert created.status_code == 201, created.text
    schedule = created.json()
    assert schedule == {
        **body, "id": schedule["id"], "room": "lab", "full_name": "lab:nightly", "job_id": job["id"],
        "every_seconds": None, "words": "At 02:30 every day", "created_at": schedule["created_at"],
        "paused_at": None, "next_run_at": schedule["upcoming"][0], "last_run_at": None, "state": "active",
        "recent": [], "upcoming": schedule["upcoming"],
    }  # fmt: skip
    assert len(schedule["upcoming"]) == 5
    unchanged = root.put("schedules", json=body)
    assert (unchanged.status_code, unchanged.json()) == (200, schedule)
    changed = root.put("schedules", json={"name": "nightly", "job": JOB, "every_seconds": 90})
    assert changed.status_code == 200
    shown = changed.json()
    assert (shown["id"], shown["cron"], shown["every_seconds"]) == (schedule["id"], None, 90)
    assert (shown["words"], shown["priority"], shown["payload"], shown["tags"]) == (
        "Every 90 seconds", 5, {}, None,
    )  # fmt: skip
    assert (shown["timezone"], shown["missed"], shown["overlap"]) == ("UTC", "once", True)


def test_one_schedule_is_seen_in_full_and_lists_show_no_payload(ada: Api, root: Api, job: dict[str, Any]):
    schedule = put(root, payload={"angle": 90}, room="lab")
    in_full = ada.get(f"schedules/{schedule['id']}")
    assert (in_full.status_code, in_full.json()) == (200, schedule)
    [item] = ada.get("schedules").json()["items"]
    assert item == {name: value for name, value in schedule.items() if name not in ("payload", "upcoming")}


def test_schedules_are_listed_by_when_they_run_and_found_by_room_and_job(root: Api, job: dict[str, Any]):
    root.register("Bend", room="hall")
    put(root, "later", every_seconds=7200)
    put(root, "soon", every_seconds=3600)
    paused = put(root, "paused", every_seconds=60)
    put(root, "elsewhere", job="hall:modifiers:Bend", every_seconds=1800)
    root.post(f"schedules/{paused['id']}/pause", json={})
    assert listed(root) == ["elsewhere", "soon", "later", "paused"]
    assert listed(root, room="hall") == listed(root, job="hall:modifiers:Bend") == ["elsewhere"]
    assert listed(root, room="attic") == []
    page = root.get("schedules", params={"limit": 2, "offset": 1, "room": "lab"}).json()
    assert ([item["name"] for item in page["items"]], page["total"]) == (["later", "paused"], 3)


def test_a_run_out_of_turn_is_a_task_to_look_at(root: Api, job: dict[str, Any]):
    schedule = put(root, payload={"angle": 90})
    answer = root.post(f"schedules/{schedule['id']}/run", json={"reason": "the disk was replaced"})
    assert answer.status_code == 202, answer.text
    task_id = answer.json()["task_id"]
    assert answer.headers["location"] == f"/v1/joblib/tasks/{task_id}"
    task = root.get(answer.headers["location"]).json()
    assert (task["status"], task["payload"], task["job_name"]) == ("pending", {"angle": 90}, JOB)
    after = root.get(f"schedules/{schedule['id']}").json()
    [run] = after["recent"]
    assert (run["task_id"], run["status"], run["reason"], run["is_manual"]) == (
        task_id,
        "pending",
        None,
        True,
    )
    assert after["next_run_at"] == schedule["next_run_at"]


async def test_runs_tell_their_tasks_or_why_there_is_none(queue: Queue, root: Api, job: dict[str, Any]):
    schedule = put(root, every_seconds=1, overlap=False)
    runs: list[dict[str, Any]] = []
    while not {"pending", "skipped"} <= {run["status"] for run in runs}:
        await queue.fire_schedules()
        runs = root.get(f"schedules/{schedule['id']}").json()["recent"]
    skipped, fired = runs[0], runs[-1]
    assert (skipped["task_id"], skipped["reason"]) == (None, "A run before it has not ended")
    assert root.get(f"tasks/{fired['task_id']}").json()["status"] == "pending"
    assert (fired["reason"], fired["is_manual"]) == (None, False)


def test_a_schedule_is_paused_and_resumed(root: Api, job: dict[str, Any]):
    schedule = put(root)
    address = f"schedules/{schedule['id']}"
    assert root.post(f"{address}/pause", json={"reason": "prices are changed"}).status_code == 204
    paused = root.get(address).json()
    assert (paused["state"], paused["next_run_at"]) == ("paused", None)
    assert paused["paused_at"]
    assert root.post(f"{address}/resume", json={"reason": None}).status_code == 204
    assert root.get(address).json() == schedule


def test_a_removed_schedule_leaves_its_tasks(root: Api, job: dict[str, Any]):
    schedule = put(root)
    task_id = root.post(f"schedules/{schedule['id']}/run", json={}).json()["task_id"]
    assert root.delete(f"schedules/{schedule['id']}").status_code == 204
    assert problem_of(root.get(f"schedules/{schedule['id']}")) == "schedule-not-found"
    assert listed(root) == []
    assert root.get(f"tasks/{task_id}").json()["status"] == "pending"


def test_times_are_told_beforehand_in_words_and_by_the_clock(ada: Api):
    asked = {"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "quantity": "3"}
    preview = ada.get("schedules/preview", params=asked).json()
    assert preview["words"] == "At 09:00 on Monday through Friday"
    assert [time(run).utcoffset() for run in preview["upcoming"]] == [timedelta(0)] * 3
    assert {time(run).hour for run in preview["upcoming"]} <= {7, 8}
    often = ada.get("schedules/preview", params={"every_seconds": 5400}).json()
    assert (often["words"], len(often["upcoming"])) == ("Every 90 minutes", 5)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"cron": "tomorrow"},
        {"cron": "@daily", "every_seconds": 60},
        {"cron": "0 0 30 2 *"},
        {"cron": "@daily", "timezone": "Moon/Base"},
        {"cron": "@daily", "quantity": 0},
        {"cron": "@daily", "quantity": 101},
        {"every_seconds": 0.5},
        {"every_seconds": 1e300},
        {"every_seconds": "nan"},
        {"every_seconds": "soon"},
        {"cron": "@daily\0"},
        {"cron": "@daily", "timezone": "UTC\0"},
    ],
)
def test_times_that_cannot_be_are_refused(ada: Api, root: Api, job: dict[str, Any], asked: dict[str, Any]):
    answer = ada.get("schedules/preview", params=asked)
    assert (answer.status_code, problem_of(answer)) == (422, "validation-error")
    if "quantity" not in asked:
        answer = root.put("schedules", json={"name": "nightly", "job": JOB, **asked})
        assert (answer.status_code, problem_of(answer)) == (422, "validation-error")
        assert listed(root) == []


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"name": ""}, 422, "validation-error"),
    ({"name": "n" * 201}, 422, "validation-error"),
    ({"name": "a\0b"}, 422, "validation-error"),
    ({"name": None}, 422, "validation-error"),
    ({"name": "\ud800"}, 422, "validation-error"),
    ({"job": "Rotate"}, 404, "job-not-found"),
    ({"job": "lab:modifiers:Nothing"}, 404, "job-not-found"),
    ({"job": "a\0:b:c"}, 422, "validation-error"),
    ({"room": "attic"}, 404, "job-not-found"),
    ({"room": "a:b"}, 400, "invalid-room-id"),
    ({"room": "a\0b"}, 422, "validation-error"),
    ({"priority": 11}, 422, "validation-error"),
    ({"max_attempts": 0}, 422, "validation-error"),
    ({"max_attempts": 1 << 40}, 422, "validation-error"),
    ({"missed": "never"}, 422, "validation-error"),
    ({"overlap": "perhaps"}, 422, "validation-error"),
    ({"payload": [1]}, 422, "validation-error"),
    ({"payload": {"a": "\0"}}, 422, "payload-invalid"),
    ({"tags": ["a\0b"]}, 422, "validation-error"),
    ({"owner": "a\0b"}, 422, "validation-error"),
]


@pytest.mark.parametrize(("body", "status", "problem"), REFUSED)
def test_a_schedule_that_cannot_be_is_refused(
    root: Api, job: dict[str, Any], body: dict[str, Any], status: int, problem: str
):
    given = json.dumps({"name": "nightly", "job": JOB, "cron": "@daily", **body})
    answer = root.put("schedules", content=given, headers={"Content-Type": "application/json"})
    assert (answer.status_code, problem_of(answer)) == (status, problem)
    assert listed(root) == []


def test_a_payload_that_is_too_large_is_refused(root: Api, job: dict[str, Any]):
    body = {"name": "nightly", "job": JOB, "cron": "@daily", "payload": {"a": "x" * (1 << 20)}}
    assert problem_of(root.put("schedules", json=body)) == "payload-too-large"


def test_payloads_are_checked_against_the_schema_where_submitted_ones_are(serve: Serve):
    schema = {"type": "object", "required": ["angle"], "properties": {"angle": {"type": "number"}}}
    with Api(serve(validate_payloads=True), token_of("root", is_superuser=True)) as root:
        root.register(schema=schema)
        body = {"name": "nightly", "job": JOB, "cron": "@daily"}
        for payload in ({}, {"angle": "wide"}):
            answer = root.put("schedules", json={**body, "payload": payload})
            assert (answer.status_code, problem_of(answer)) == (422, "payload-invalid")
            assert answer.json()["errors"]
        assert listed(root) == []
        assert root.put("schedules", json={**body, "payload": {"angle": 90}}).status_code == 201


async def test_a_job_that_was_put_away_is_not_run(root: Api, queue: Queue, job: dict[str, Any]):
    schedule = put(root)
    await queue.archive_job(JOB)
    assert root.get(f"schedules/{schedule['id']}").json()["state"] == "job archived"
    answer = root.post(f"schedules/{schedule['id']}/run", json={})
    assert (answer.status_code, problem_of(answer)) == (409, "job-unavailable")
    answer = root.put("schedules", json={"name": "other", "job": JOB, "cron": "@daily"})
    assert (answer.status_code, problem_of(answer)) == (409, "job-unavailable")


CHANGES = [
    ("PUT", "schedules"),
    ("POST", "schedules/{id}/run"),
    ("POST", "schedules/{id}/pause"),
    ("POST", "schedules/{id}/resume"),
    ("DELETE", "schedules/{id}"),
]


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_only_superusers_change_schedules(ada: Api, nobody: Api, method: str, path: str):
    body = {"name": "nightly", "job": JOB, "cron": "@daily"} if method == "PUT" else {}
    given: dict[str, Any] = {} if method == "DELETE" else {"json": body}
    path = path.format(id=uuid4())
    assert problem_of(ada.request(method, path, **given)) == "forbidden"
    assert problem_of(nobody.request(method, path, **given)) == "unauthorized"


@pytest.mark.parametrize("path", ["schedules", "schedules/preview?cron=@daily", "schedules/{id}"])
def test_everybody_with_a_token_looks_and_nobody_else(
    ada: Api, root: Api, nobody: Api, job: dict[str, Any], path: str
):
    path = path.format(id=put(root)["id"])
    assert ada.get(path).status_code == 200
    assert problem_of(nobody.get(path)) == "unauthorized"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "schedules/{id}"), *(change for change in CHANGES if "{id}" in change[1])]
)
def test_an_unknown_schedule_is_not_found(root: Api, method: str, path: str):
    given: dict[str, Any] = {"json": {}} if method == "POST" else {}
    answer = root.request(method, path.format(id=uuid4()), **given)
    assert (answer.status_code, problem_of(answer)) == (404, "schedule-not-found")
    answer = root.request(method, path.format(id="nightly"), **given)
    assert (answer.status_code, problem_of(answer)) == (422, "validation-error")


@pytest.mark.parametrize(
    ("filters", "status", "problem"),
    [
        ({"room": "a:b"}, 400, "invalid-room-id"),
        ({"job": "lab:modifiers:Nothing"}, 404, "job-not-found"),
        ({"job": "Rotate"}, 404, "job-not-found"),
        ({"room": "a\0"}, 422, "validation-error"),
        ({"limit": 501}, 422, "validation-error"),
        ({"offset": -1}, 422, "validation-error"),
    ],
)
def test_filters_that_cannot_be_are_refused(ada: Api, filters: dict[str, Any], status: int, problem: str):
    answer = ada.get("schedules", params=filters)
    assert (answer.status_code, problem_of(answer)) == (status, problem)


@pytest.mark.parametrize("verb", ["run", "pause", "resume"])
@pytest.mark.parametrize("body", [{"reason": "x" * 201}, {"reason": "a\0b"}, {"reason": 3}, [], None])
def test_a_reason_that_cannot_be_is_refused(root: Api, job: dict[str, Any], verb: str, body: Any):
    schedule = put(root)
    assert problem_of(root.post(f"schedules/{schedule['id']}/{verb}", json=body)) == "validation-error"


@pytest.fixture
def browser(base: str) -> Iterator[Api]:
    """A superuser who has signed in, and sends nothing but the cookie."""
    with Api(base, None) as browser:
        signed_in = browser.post("session", json={"token": token_of("root", is_superuser=True)})
        assert signed_in.status_code == 201
        yield browser


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_by_cookie_needs_the_token_of_our_own_page(
    browser: Api, root: Api, job: dict[str, Any], method: str, path: str
):
    path = path.format(id=put(root)["id"])
    body = {"name": "other", "job": JOB, "cron": "@daily"} if method == "PUT" else {}
    given: dict[str, Any] = {} if method == "DELETE" else {"json": body}
    assert problem_of(browser.request(method, path, **given)) == "forbidden"
    token = {"X-CSRF-Token": browser.get("session").json()["csrf_token"]}
    elsewhere = {**token, "Sec-Fetch-Site": "cross-site"}
    assert problem_of(browser.request(method, path, **given, headers=elsewhere)) == "forbidden"
    assert [item["state"] for item in root.get("schedules").json()["items"]] == ["active"]
    assert browser.request(method, path, **given, headers=token).status_code in (201, 202, 204)


def test_what_looks_like_a_secret_is_hidden(ada: Api, root: Api, job: dict[str, Any]):
    payload = {"target": SECRET_URL, "nested": [{"password": "hunter2"}], "angle": 90}
    schedule = root.put("schedules", json={"name": "n", "job": JOB, "cron": "@daily", "payload": payload})
    seen = [schedule, ada.get("schedules"), ada.get(f"schedules/{schedule.json()['id']}")]
    assert seen[2].json()["payload"] == {
        "target": "https://files.example.org/drop", "nested": [{"password": "…"}], "angle": 90,
    }  # fmt: skip
    assert not any(word in answer.text for answer in seen for word in ("hunter2", "deadbeef", "#part"))


async def test_what_happens_to_schedules_is_streamed(base: str, queue: Queue, root: Api, job: dict[str, Any]):
    async with streaming(base, room="lab") as stream:
        registered = await queue.register_schedule("nightly", JOB, cron="@daily", actor="root")
        schedule = str((await queue.get_schedule(str(registered.schedule_id))).uuid)
        await queue.pause_schedule(schedule, actor="root", reason=f"see {SECRET_URL}")
        run = await queue.run_schedule(schedule, actor="root")
        await queue.retire_schedule(schedule, actor="root")
        events: list[dict[str, Any]] = []
        while not events or events[-1]["kind"] != "schedule_retired":
            events.append(await stream.event())
    ours = [event for event in events if event["kind"].startswith("schedule_")]
    assert [event["kind"] for event in ours] == [
        "schedule_registered", "schedule_paused", "schedule_run", "schedule_retired",
    ]  # fmt: skip
    assert {(event["job"], event["room"], event["actor"]) for event in ours} == {(JOB, "lab", "root")}
    assert {(event["fields"]["schedule"], event["fields"]["schedule_id"]) for event in ours} == {
        ("lab:nightly", schedule)
    }
    assert ours[1]["message"] == "see https://files.example.org/drop"
    assert ours[2]["task_id"] == str(run.task_uuid)
