"""Plain requests take a short way to their endpoints; nobody can tell by the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import HTTPException, Path
from pydantic import SecretStr

from pgjobs.queue.queue import Queue
from pgjobs.server import ApiSettings, current_active_user, verify_writable_room
from pgjobs.server.app import create_app
from pgjobs.server.internal import get_internal
from tests.surfaces.rest_server import SECRET, Api, problem_of, serving, token_of

JOB = "lab:modifiers:Rotate"
SUBMIT = f"rooms/lab/tasks/{JOB}"
JSON = {"content-type": "application/json"}

_PASSING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=queue_position\":)\d+", re.ASCII
)

REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", SUBMIT, {"json": {"payload": {"ä": [1.5, None, 2**70]}}}),
    ("POST", SUBMIT, {"json": {}, "headers": {"Idempotency-Key": "again"}}),
    ("POST", SUBMIT, {"json": {}, "headers": {"Idempotency-Key": "k" * 201}}),
    ("POST", SUBMIT, {"json": {"payload": [1]}}),
    ("POST", SUBMIT, {"content": b'{"payload": {"x": NaN}}', "headers": JSON}),
    ("POST", SUBMIT, {"content": b'{"payload": {"x": "\\ud800"}}', "headers": JSON}),
    ("POST", SUBMIT, {"content": b'{"payload": ', "headers": JSON}),
    ("POST", SUBMIT, {"content": b"[" * 100_000, "headers": JSON}),
    ("POST", SUBMIT, {"content": '{"payload": {}}'.encode("utf-16"), "headers": JSON}),
    ("POST", SUBMIT, {"content": b"{}", "headers": {"content-type": "application/json; charset=utf-8"}}),
    ("POST", SUBMIT, {"content": b"{}", "headers": {"content-type": "text/plain"}}),
    ("POST", SUBMIT, {"content": b"{}"}),
    ("POST", SUBMIT, {"content": b"", "headers": JSON}),
    ("POST", SUBMIT, {"content": b" " * 1_100_000, "headers": JSON}),
    ("POST", SUBMIT, {"json": {}, "headers": {"Authorization": "Bearer nonsense"}}),
    ("POST", "rooms/a@b/tasks/x", {"json": {}}),
    ("POST", "rooms/lab/tasks/lab:modifiers:Nobody%0A", {"json": {}}),
    ("POST", "rooms/lab/tasks/", {"json": {}}),
    ("POST", "rooms/lab/tasks/1", {"json": {}}),
    ("POST", "rooms/lab/tasks/1", {"json": {}, "headers": {"Authorization": "Bearer nonsense"}}),
    ("POST", "rooms//tasks/x", {"json": {}}),
    ("POST", "tasks/claim", {"json": {"worker_id": "none"}}),
    ("POST", "tasks/claim", {"json": {"worker_id": str(uuid4())}}),
    ("POST", "tasks/claim", {"json": {}}),
    ("POST", "tasks/claim/", {"json": {}}),
    ("PATCH", "tasks/nonsense", {"json": {"status": "running"}}),
    ("PATCH", "tasks/nonsense", {"json": {"status": "running"}, "headers": {"Authorization": "Basic eA=="}}),
    ("PATCH", f"tasks/{uuid4()}", {"json": {"status": "running"}}),
    ("PATCH", f"tasks/{uuid4()}", {"json": {"status": "asleep"}}),
    ("PATCH", f"tasks/{uuid4()}", {"json": {"status": "running"}, "headers": {"Lease-Token": "mine"}}),
    ("DELETE", f"tasks/{uuid4()}", {}),
]


@pytest.fixture
def long_way(queue_url: str, queue: Queue) -> Iterator[Api]:
    """The same server with an override, which says what is so anyway."""
    app = create_app(url=queue_url, settings=ApiSettings(auth_secret=SecretStr(SECRET)))
    app.dependency_overrides[get_internal] = get_internal
    with serving(app) as base, Api(base, token_of("ada")) as api:
        yield api


def test_both_ways_answer_every_request_alike(ada: Api, long_way: Api):
    ada.register()
    for method, path, given in REQUESTS:
        short, long = (shown(api.request(method, path, **given)) for api in (ada, long_way))
        assert short == long, (method, path, given)


def test_both_ways_take_a_task_through_its_life(ada: Api, long_way: Api):
    worker = {"worker_id": ada.register()["worker_id"]}
    lives = []
    for api in (ada, long_way):
        steps = [api.post(SUBMIT, json={"payload": {"angle": 90}}), api.post("tasks/claim", json=worker)]
        token = {"Lease-Token": steps[1].headers["Lease-Token"]}
        path = f"tasks/{steps[0].json()['id']}"
        steps.extend(
            api.patch(path, json=body, headers=token)
            for body in (
                {"status": "running"},
                {"status": "running"},
                {"status": "completed", "result": {"ok": 1}},
                {"status": "completed"},
                {"status": "failed", "error": "too late"},
            )
        )
        steps.append(api.post("tasks/claim", json=worker, headers={"Prefer": "wait=1"}))
        lives.append([shown(step) for step in steps])
    assert lives[0] == lives[1]
    assert [status for status, _, _ in lives[0]] == [202, 200, 200, 200, 200, 200, 409, 200]


def test_the_short_way_ends_where_a_host_has_a_say(queue_url: str, queue: Queue):
    app = create_app(url=queue_url)
    user = SimpleNamespace(id="eve", is_superuser=False)

    async def locked(room_id: str = Path()) -> str:
        raise HTTPException(status_code=423, detail=f"{room_id} is locked")

    app.dependency_overrides[current_active_user] = lambda: user
    with serving(app) as base, Api(base, None) as eve:
        worker = {"worker_id": eve.register()["worker_id"]}
        task = eve.submit()
        assert eve.post("tasks/claim", json=worker).json()["task"]["id"] == task["id"]
        app.dependency_overrides[verify_writable_room] = locked
        assert problem_of(eve.post(SUBMIT, json={})) == "room-locked"


def shown(answer: httpx.Response) -> tuple[int, set[str], str]:
    """Status, headers and body, without what differs between any two tasks."""
    names = {name for name in answer.headers if name not in ("content-length", "date")}
    return answer.status_code, names, _PASSING.sub("…", answer.text)
