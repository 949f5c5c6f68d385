"""Closed rooms over HTTP: every operation of the API, asked by somebody who is no member."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from tests.surfaces.closed_rooms import HIDDEN, OWN, SHARED, Stage, closed_rooms, unknown_ids
from tests.surfaces.rest_server import Api, first_app, problem_of, token_of

V1 = "/v1/joblib"

# How each operation behaves for somebody who is no member. What is new fails until it is put here:
#   room       names a room: 403, in the same words whether the room is used or not
#   id         names one thing by id: 404, in the same words whether it exists or not
#   superuser  for superusers, who see all: 403
#   everything shows the whole queue: 403
#   list       shows what is in the caller's own rooms
#   nothing    has nothing to do with rooms
KINDS = {
    f"GET {V1}/events": "list",
    f"POST {V1}/session": "nothing",
    f"GET {V1}/session": "nothing",
    f"DELETE {V1}/session": "nothing",
    f"GET {V1}/overview": "list",
    f"GET {V1}/throughput": "list",
    f"GET {V1}/findings": "everything",
    f"GET {V1}/errors": "everything",
    f"GET {V1}/database": "everything",
    f"GET {V1}/tasks": "list",
    f"GET {V1}/tasks/count": "list",
    f"POST {V1}/tasks/actions": "superuser",
    f"GET {V1}/tasks/{{task_id}}/details": "id",
    f"GET {V1}/tasks/{{task_id}}/attempts": "id",
    f"GET {V1}/tasks/{{task_id}}/events": "id",
    f"GET {V1}/tasks/{{task_id}}/why": "id",
    f"POST {V1}/tasks/{{task_id}}/retry": "superuser",
    f"POST {V1}/tasks/{{task_id}}/cancel": "superuser",
    f"POST {V1}/tasks/{{task_id}}/ignore": "superuser",
    f"POST {V1}/tasks/{{task_id}}/unignore": "superuser",
    f"POST {V1}/tasks/{{task_id}}/resubmit": "superuser",
    f"POST {V1}/sweep": "superuser",
    f"GET {V1}/jobs": "list",
    f"GET {V1}/jobs/{{job_id}}/details": "id",
    f"POST {V1}/jobs/{{job_id}}/policy": "superuser",
    f"POST {V1}/jobs/{{job_id}}/pause": "superuser",
    f"POST {V1}/jobs/{{job_id}}/resume": "superuser",
    f"POST {V1}/jobs/{{job_id}}/limit": "superuser",
    f"GET {V1}/jobs/{{job_id}}/sharing": "id",
    f"GET {V1}/jobs/{{job_id}}/keys": "id",
    f"POST {V1}/jobs/{{job_id}}/sharing": "superuser",
    f"GET {V1}/workers/status": "list",
    f"GET {V1}/workers/{{worker_id}}/details": "id",
    f"GET {V1}/providers/status": "list",
    f"POST {V1}/providers/{{provider_id}}/invalidate": "superuser",
    f"GET {V1}/schedules": "list",
    f"PUT {V1}/schedules": "superuser",
    f"GET {V1}/schedules/preview": "nothing",
    f"GET {V1}/schedules/{{schedule_id}}": "id",
    f"DELETE {V1}/schedules/{{schedule_id}}": "superuser",
    f"POST {V1}/schedules/{{schedule_id}}/run": "superuser",
    f"POST {V1}/schedules/{{schedule_id}}/pause": "superuser",
    f"POST {V1}/schedules/{{schedule_id}}/resume": "superuser",
    f"POST {V1}/workers": "nothing",
    f"GET {V1}/workers": "list",
    f"GET {V1}/rooms/{{room_id}}/workers": "room",
    f"PATCH {V1}/workers/{{worker_id}}": "id",
    f"DELETE {V1}/workers/{{worker_id}}": "id",
    f"GET {V1}/rooms/{{room_id}}/tasks": "room",
    f"GET {V1}/rooms/{{room_id}}/jobs/{{job_name}}/tasks": "room",
    f"POST {V1}/rooms/{{room_id}}/tasks/{{job_name}}": "room",
    f"POST {V1}/tasks/claim": "id",
    f"GET {V1}/tasks/{{task_id}}/flow": "id",
    f"GET {V1}/tasks/{{task_id}}/steps": "id",
    f"POST {V1}/tasks/{{task_id}}/steps": "id",
    f"POST {V1}/tasks/{{task_id}}/suspend": "id",
    f"POST {V1}/tasks/{{task_id}}/calls": "id",
    f"POST {V1}/tasks/{{task_id}}/signals": "id",
    f"POST {V1}/rooms/{{room_id}}/workflows": "room",
    f"GET {V1}/rooms/{{room_id}}/workflows": "room",
    f"GET {V1}/workflows": "list",
    f"GET {V1}/workflows/{{workflow_id}}": "id",
    f"GET {V1}/workflows/{{workflow_id}}/tasks": "id",
    f"GET {V1}/workflows/{{workflow_id}}/graph": "id",
    f"POST {V1}/workflows/{{workflow_id}}/cancel": "id",
    f"POST {V1}/workflows/{{workflow_id}}/retry": "superuser",
    f"GET {V1}/tasks/{{task_id}}/log": "id",
    f"POST {V1}/tasks/{{task_id}}/log": "id",
    f"GET {V1}/tasks/{{task_id}}": "id",
    f"PATCH {V1}/tasks/{{task_id}}": "id",
    f"PUT {V1}/rooms/{{room_id}}/jobs": "room",
    f"GET {V1}/rooms/{{room_id}}/jobs": "room",
    f"GET {V1}/rooms/{{room_id}}/jobs/{{job_name}}": "room",
    f"PUT {V1}/rooms/{{room_id}}/providers": "room",
    f"GET {V1}/rooms/{{room_id}}/providers": "room",
    f"GET {V1}/rooms/{{room_id}}/providers/{{provider_name}}/info": "room",
    f"DELETE {V1}/providers/{{provider_id}}": "id",
    f"GET {V1}/rooms/{{room_id}}/providers/{{provider_name}}": "room",
    f"POST {V1}/providers/{{provider_id}}/results": "id",
    "GET /v1/me": "nothing",
    "GET /v1/problems": "nothing",
    "GET /v1/problems/{problem_id}": "nothing",
    "GET /api/maintenance/incomplete-cleanup": "everything",
    "GET /api/maintenance/incomplete-cleanup/nodes": "everything",
    "GET /api/maintenance/incomplete-cleanup/{run_id}": "everything",
    "POST /api/maintenance/incomplete-cleanup/actions": "superuser",
    "POST /api/maintenance/incomplete-cleanup/{run_id}/retry-now": "superuser",
    "POST /api/maintenance/incomplete-cleanup/{run_id}/ignore": "superuser",
    "POST /api/maintenance/incomplete-cleanup/{run_id}/unignore": "superuser",
    "POST /api/jobs/{job}/archive": "superuser",
    "POST /api/jobs/{job}/unarchive": "superuser",
    "DELETE /api/jobs/{job}": "superuser",
    "GET /ui/login": "nothing",
}  # fmt: skip

BODIES: dict[str, Any] = {
    f"PUT {V1}/rooms/{{room_id}}/jobs": {"category": "modifiers", "name": "Hidden"},
    f"PUT {V1}/rooms/{{room_id}}/providers": {"category": "files", "name": "hidden"},
    f"PATCH {V1}/tasks/{{task_id}}": {"status": "cancelled"},
    f"POST {V1}/providers/{{provider_id}}/results": {"request_hash": "x", "data": 1},
    f"PUT {V1}/schedules": {"room": "shop", "name": "hidden", "job": HIDDEN, "every_seconds": 60},
    f"POST {V1}/tasks/actions": {"verb": "retry", "ids": [], "reason": "because"},
    f"POST {V1}/jobs/{{job_id}}/limit": {"max_running": 1},
    f"POST {V1}/jobs/{{job_id}}/sharing": {"fair": True},
    f"POST {V1}/tasks/{{task_id}}/resubmit": {"payload": {}},
    f"POST {V1}/tasks/{{task_id}}/log": {"lines": [{"message": "a"}]},
    f"POST {V1}/tasks/{{task_id}}/steps": {"name": "a"},
    f"POST {V1}/tasks/{{task_id}}/suspend": {"name": "a", "signal": "a"},
    f"POST {V1}/tasks/{{task_id}}/calls": {"name": "a", "job": HIDDEN, "payloads": [{}]},
    f"POST {V1}/tasks/{{task_id}}/signals": {"name": "a"},
    f"POST {V1}/rooms/{{room_id}}/workflows": {"name": "a", "tasks": [{"job": HIDDEN}]},
}
NOT_DOCUMENTED = ("/metrics",)


@pytest.fixture
def stage(database_url: str) -> Iterator[Stage]:
    with closed_rooms(database_url) as staged:
        yield staged


def documented() -> set[str]:
    paths = first_app().openapi()["paths"]
    return {f"{method.upper()} {path}" for path, item in paths.items() for method in item}


def of_kind(kind: str) -> list[str]:
    return [operation for operation, known in KINDS.items() if known == kind]


UNDER_LEASE = {f"POST {V1}/tasks/{{task_id}}/{what}" for what in ("calls", "log", "steps", "suspend")}


def ask(api: Api, operation: str, names: dict[str, str]) -> Any:
    method, _, path = operation.partition(" ")
    filled = re.sub(r"{(\w+)}", lambda found: names[found[1]], path)
    body = BODIES.get(operation, {})
    if operation == f"POST {V1}/tasks/claim":
        body = {"worker_id": names["worker_id"]}
    options: dict[str, Any] = {"json": body} if method in ("POST", "PUT", "PATCH") else {}
    if operation in UNDER_LEASE:
        options["headers"] = {"Lease-Token": str(UUID(int=0))}
    return api.request(method, filled, **options)


def named_in(room: str) -> dict[str, str]:
    return {"room_id": room, "job_name": f"{room}:modifiers:Hidden", "provider_name": f"{room}:files:hidden"}


def said(answer: Any, names: dict[str, str]) -> Any:
    """What a problem says, with names in place of what was asked for."""
    text = answer.text
    for name, value in names.items():
        text = text.replace(value, name)
    return answer.status_code, text


def test_every_operation_is_known_to_obey():
    assert documented() - KINDS.keys() == set(), "say above how these treat somebody who is no member"
    assert KINDS.keys() - documented() == set()


def test_a_room_one_is_no_member_of_is_refused_whether_it_is_used_or_not(stage: Stage):
    answers = {}
    for operation in of_kind("room"):
        used, unused = (named_in(room) for room in ("shop", "nowhere"))
        answers[operation] = said(ask(stage.ada, operation, used), {"room_id": "shop"})
        assert answers[operation] == said(ask(stage.ada, operation, unused), {"room_id": "nowhere"}), (
            operation
        )
    assert {operation: status for operation, (status, _) in answers.items() if status != 403} == {}
    assert all("/v1/problems/forbidden" in text for _, text in answers.values())


def test_what_another_rooms_id_stands_for_cannot_be_told_from_what_does_not_exist(stage: Stage):
    for operation in of_kind("id"):
        unknown = unknown_ids(stage)
        foreign = said(ask(stage.ada, operation, stage.hidden), stage.hidden)
        assert foreign == said(ask(stage.ada, operation, unknown), unknown), operation
        assert foreign[0] == 404, (operation, foreign)


def test_what_is_for_those_who_see_every_room_is_refused(stage: Stage):
    names = {"job": HIDDEN, **stage.hidden}
    for operation in of_kind("superuser") + of_kind("everything"):
        answer = ask(stage.ada, operation, names)
        assert (answer.status_code, problem_of(answer)) == (403, "forbidden"), (operation, answer.text)
        assert stage.leaks(answer.text.replace(answer.json()["instance"], "")) == [], operation


def test_no_list_tells_of_another_room(stage: Stage):
    paths = [operation.partition(" ")[2] for operation in of_kind("list")]
    assert len(paths) > 8
    for path in (*paths, *NOT_DOCUMENTED):
        if path.endswith("/events"):
            continue
        for question in ("", "?limit=500", "?offset=1"):
            answer = stage.ada.get(path + question)
            assert answer.status_code == 200, (path, answer.text)
            assert stage.leaks(answer.text) == [], path
        assert stage.root.get(path).status_code == 200


def test_superusers_see_every_room(stage: Stage):
    seen = stage.root.get("tasks").text + stage.root.get("jobs").text + stage.root.get("/metrics").text
    assert {"shop", "lab"} <= {word for word in ("shop", "lab") if word in seen}
    assert stage.root.get(f"tasks/{stage.hidden['task_id']}").status_code == 200
    assert stage.root.get("findings").status_code == stage.root.get("database").status_code == 200


def test_counts_and_totals_are_those_of_the_own_rooms(stage: Stage):
    ada = stage.ada
    assert {path: ada.get(path).json()["total"] for path in ("jobs", "workers", "schedules", "tasks/count")} == {
        "jobs": 1, "workers": 1, "schedules": 0, "tasks/count": 2,
    }  # fmt: skip
    assert ada.get("tasks/count?status=pending").json()["total"] == 2
    assert ada.get("providers/status").json()["total"] == ada.get("workers/status").json()["total"] == 1
    overview = ada.get("overview").json()
    assert {name: overview[name] for name in ("jobs", "workers", "waiting", "claimed", "scheduled")} == {
        "jobs": 1, "workers": 1, "waiting": 1, "claimed": 0, "scheduled": 0,
    }  # fmt: skip
    counted = [
        {worker["id"]: worker["job_count"] for worker in api.get(f"rooms/{room}/workers").json()["items"]}
        for api, room in ((ada, "lab"), (stage.root, "shop"))
    ]
    shared = stage.own["shared_worker_id"]
    assert [workers[shared] for workers in counted] == [1, 2]


def test_filters_do_not_reach_into_another_room(stage: Stage):
    assert problem_of(stage.ada.get("tasks?room=shop")) == "forbidden"
    assert problem_of(stage.ada.get("tasks/count?room=shop&status=pending")) == "forbidden"
    assert problem_of(stage.ada.get("schedules?room=shop")) == "forbidden"
    assert problem_of(stage.ada.get("events?room=shop")) == "forbidden"
    for path in (
        "tasks?job=", "tasks/count?job=", "throughput?job=", "schedules?job=", "events?job=",
        "workers/status?job=",
    ):  # fmt: skip
        foreign, unknown = stage.ada.get(path + HIDDEN), stage.ada.get(path + "shop:modifiers:Nothing")
        assert problem_of(foreign) == problem_of(unknown) == "job-not-found", path
        assert foreign.text.replace("Hidden", "Nothing") == unknown.text
    for word in ("sesame", "Hidden", stage.hidden["task_id"], stage.hidden["task_id"][-12:], "bob"):
        assert stage.ada.get("tasks", params={"text": word}).json()["items"] == []
    assert [t["room"] for t in stage.ada.get("tasks", params={"job": SHARED}).json()["items"]] == ["lab"]
    assert problem_of(stage.ada.get(f"throughput?job={SHARED}")) == "job-not-found"
    assert problem_of(stage.ada.get(f"events?task={stage.hidden['task_id']}")) == "task-not-found"


def test_a_place_in_the_line_of_a_shared_job_is_not_told(stage: Stage):
    shared, own = stage.own["shared_id"], stage.own["task_id"]
    assert stage.root.get(f"tasks/{shared}").json()["queue_position"] == 2
    assert stage.ada.get(f"tasks/{shared}").json()["queue_position"] is None
    assert stage.ada.get(f"tasks/{own}").json()["queue_position"] == 1
    listed = {task["id"]: task["queue_position"] for task in stage.ada.get("rooms/lab/tasks").json()["items"]}
    assert listed == {shared: None, own: 1}
    assert stage.ada.submit(SHARED, "lab")["queue_position"] is None
    assert stage.ada.submit(OWN, "lab")["queue_position"] == 2
    assert stage.ada.get(f"tasks/{shared}/details").json()["queue_position"] is None
    reasons = {row["checked"] for row in stage.ada.get(f"tasks/{shared}/why").json()["items"]}
    assert "due" in reasons
    assert reasons.isdisjoint({"line", "limit"})


def test_a_member_lives_in_their_room_as_ever(stage: Stage):
    ada, worker = stage.ada, stage.own["worker_id"]
    for path in (
        "rooms/lab/jobs",
        "rooms/lab/tasks",
        "rooms/lab/workers",
        "rooms/lab/providers",
        f"rooms/lab/jobs/{OWN}",
    ):
        assert ada.get(path).status_code == 200, path
    assert {job["full_name"] for job in ada.get("rooms/lab/jobs").json()["items"]} == {OWN, SHARED}
    assert {job["full_name"] for job in ada.get("rooms/@global/jobs").json()["items"]} == {SHARED}
    claimed = ada.claim(worker)
    assert claimed["id"] == stage.own["task_id"]
    for status in ("running", "completed"):
        assert ada.patch(f"tasks/{claimed['id']}", json={"status": status}).status_code == 200
    assert ada.get(f"tasks/{claimed['id']}").json()["status"] == "completed"
    assert ada.patch(f"tasks/{stage.own['shared_id']}", json={"status": "cancelled"}).status_code == 200
    assert ada.get("/v1/me").json() == {"id": "ada", "is_superuser": False, "rooms": ["lab"]}


def test_shared_rooms_show_jobs_and_no_tasks(stage: Stage):
    for room in ("@global", "@internal"):
        assert stage.ada.get(f"rooms/{room}/jobs").status_code == 200
        assert stage.ada.get(f"rooms/{room}/providers").status_code == 200
        assert problem_of(stage.ada.get(f"rooms/{room}/tasks")) == "forbidden"
    assert problem_of(stage.ada.post(f"rooms/@global/tasks/{SHARED}", json={})) == "forbidden"


def test_another_rooms_job_cannot_be_told_from_none(stage: Stage):
    foreign = stage.ada.post(f"rooms/lab/tasks/{HIDDEN}", json={})
    unknown = stage.ada.post("rooms/lab/tasks/shop:modifiers:Nothing", json={})
    assert foreign.status_code == 404
    assert foreign.text.replace("Hidden", "Nothing") == unknown.text


def test_a_worker_claims_nothing_of_a_room_its_token_does_not_name(stage: Stage):
    with Api(stage.base, token_of("bob", rooms=["lab"])) as bob:
        asked = bob.post("tasks/claim", json={"worker_id": stage.hidden["worker_id"]})
        assert (asked.status_code, asked.json()) == (200, {"task": None})
    assert stage.bob.claim(stage.hidden["worker_id"])["id"] == stage.hidden["task_id"]


def test_an_idempotency_key_counts_in_its_own_room(stage: Stage):
    key = {"Idempotency-Key": "order-7"}
    theirs = stage.bob.post(f"rooms/shop/tasks/{SHARED}", json={}, headers=key).json()["id"]
    first, again = (
        stage.ada.post(f"rooms/lab/tasks/{SHARED}", json={}, headers=key).json()["id"] for _ in range(2)
    )
    assert first == again != theirs
    # Whoever sees all may have used the very key that a room's would become.
    taken = {"Idempotency-Key": "lab:order-8"}
    stage.root.post(f"rooms/shop/tasks/{SHARED}", json={}, headers=taken)
    refused = stage.ada.post(f"rooms/lab/tasks/{SHARED}", json={}, headers={"Idempotency-Key": "order-8"})
    assert problem_of(refused) == "forbidden"


def test_an_api_token_and_the_session_opened_with_it_carry_rooms(stage: Stage, database_url: str):
    import asyncio

    from pgjobs.queue.server import ServerQueue as Queue

    async def made() -> str:
        async with await Queue.connect(database_url, max_size=1) as queue:
            return (await queue.create_token("eve", rooms=["lab"])).token

    token = asyncio.run(made())
    with Api(stage.base, token) as eve:
        assert eve.get("rooms/lab/tasks").status_code == 200
        assert problem_of(eve.get("rooms/shop/tasks")) == "forbidden"
    with Api(stage.base, None) as browser:
        assert browser.post("session", json={"token": token}).status_code == 201
        assert browser.get("rooms/lab/tasks").status_code == 200
        assert problem_of(browser.get("rooms/shop/tasks")) == "forbidden"
        assert stage.leaks(browser.get("tasks").text) == []
    with Api(stage.base, None) as browser:
        assert browser.post("session", json={"token": token_of("ada", rooms=["lab"])}).status_code == 201
        assert problem_of(browser.get("rooms/shop/tasks")) == "forbidden"
        assert browser.get("rooms/lab/tasks").status_code == 200


@pytest.mark.parametrize("rooms", ["lab", [1], {"lab": True}, ["a\0b"]])
def test_a_token_whose_rooms_are_no_list_of_names_is_refused(stage: Stage, rooms: Any):
    with Api(stage.base, token_of("ada", rooms=rooms)) as ada:
        assert problem_of(ada.get("rooms/lab/tasks")) == "unauthorized"


def test_a_token_without_rooms_is_a_member_of_none(stage: Stage):
    with Api(stage.base, token_of("eve")) as eve:
        assert problem_of(eve.get("rooms/lab/tasks")) == "forbidden"
        assert eve.get("tasks").json()["items"] == []
        assert eve.get("rooms/@global/jobs").json()["total"] == 1
    with Api(stage.base, None) as nobody:
        assert problem_of(nobody.get("rooms/lab/tasks")) == "unauthorized"


def test_open_rooms_stay_open_whatever_a_token_says(database_url: str):
    with closed_rooms(database_url, room_access="open") as stage:
        assert stage.ada.get("rooms/shop/tasks").json()["total"] == 4
        assert stage.ada.get(f"tasks/{stage.own['shared_id']}").json()["queue_position"] == 2
        assert stage.ada.get("/v1/me").json() == {"id": "ada", "is_superuser": False}
        assert stage.ada.get("findings").status_code == 200
