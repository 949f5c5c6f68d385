"""Bad input gets the documented problem and leaves nothing behind."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of

JOB = "lab:modifiers:Rotate"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def job(ada: Api) -> dict[str, Any]:
    return ada.register()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"payload": [1]}',
        b'{"payload": "text"}',
        b'{"payload": {"a": NaN}}',
        b'{"payload": {"a": Infinity}}',
        b'{"payload": {"a": 1e5000}}',
        b'{"payload": {"a": -1e400}}',
        b'{"payload": {"a": ' + b"1" * 5000 + b"}}",
        b'{"payload": {"a": "\\u0000"}}',
        b'{"payload": {"\\u0000": 1}}',
        b'{"payload": {"a": "\\ud800"}}',
        b'{"payload": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}",
        b'{"payload": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    ],
)
def test_broken_payloads_are_refused(ada: Api, job: dict[str, Any], body: bytes):
    answer = ada.post(f"rooms/lab/tasks/{JOB}", content=body, headers=JSON)
    assert answer.status_code == 422
    assert problem_of(answer) in ("validation-error", "payload-invalid")
    assert ada.get("rooms/lab/tasks").json()["total"] == 0


def test_bodies_of_more_than_a_mebibyte_are_refused(ada: Api, job: dict[str, Any]):
    def parts() -> Any:
        for _ in range(40):
            yield b" " * 65536

    big = json.dumps({"payload": {"a": "x" * (1 << 20)}}).encode()
    for content in (big, parts()):
        answer = ada.post(f"rooms/lab/tasks/{JOB}", content=content, headers=JSON)
        assert (answer.status_code, problem_of(answer)) == (413, "payload-too-large")
    assert ada.get("rooms/lab/tasks").json()["total"] == 0
    fits = {"payload": {"a": "x" * ((1 << 20) - 100)}}
    assert ada.post(f"rooms/lab/tasks/{JOB}", json=fits).status_code == 202


def test_results_are_limited_too(ada: Api, job: dict[str, Any]):
    ada.submit()
    task = ada.claim(job["worker_id"])
    ada.update(task, "running")
    assert problem_of(ada.update(task, "completed", result="x" * (1 << 20))) == "payload-too-large"
    deep: Any = 1
    for _ in range(80):
        deep = [deep]
    assert problem_of(ada.update(task, "completed", result=deep)) == "payload-invalid"
    for number in (b"1e5000", b"1" * 5000):
        body = b'{"status": "completed", "result": {"a": ' + number + b"}}"
        answer = ada.patch(f"tasks/{task['id']}", content=body, headers=JSON)
        assert answer.status_code == 422
        assert problem_of(answer) in ("validation-error", "payload-invalid")
    assert problem_of(ada.update(task, "failed", error="a\0b")) in ("validation-error", "payload-invalid")
    assert ada.get(f"tasks/{task['id']}").json()["status"] == "running"


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x" * 201},
        {"name": "a\0b"},
        {"name": None},
        {"schema": []},
        {"schema": {"a": "x" * 70_000}},
        {"schema": {"a": "\0"}},
        {"worker_id": "me"},
    ],
)
def test_broken_registrations_are_refused(ada: Api, body: dict[str, Any]):
    given = {"category": "modifiers", "name": "Rotate", **body}
    answer = ada.put("rooms/lab/jobs", json=given)
    assert answer.status_code == 422
    assert problem_of(answer) in ("validation-error", "payload-invalid")
    assert ada.put("rooms/lab/providers", json={**given, "category": "fs"}).status_code == 422
    assert ada.get("rooms/lab/jobs").json()["total"] == 0
    assert ada.get("workers").json()["total"] == 0


def test_schemas_are_not_nested_too_deep(ada: Api):
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"not": schema}
    body = {"category": "modifiers", "name": "Rotate", "schema": schema}
    assert problem_of(ada.put("rooms/lab/jobs", json=body)) == "validation-error"


@pytest.mark.parametrize("path", ["rooms/lab%00/jobs", "rooms/lab/jobs/a:b:c%00", "rooms/%ff/tasks"])
def test_control_characters_in_paths_are_refused(ada: Api, path: str):
    answer = ada.get(path)
    assert answer.status_code in (200, 400, 404, 422)
    if answer.status_code != 200:
        problem_of(answer)


@pytest.mark.parametrize(
    "path",
    ["", "rooms", "rooms/lab", "rooms/lab/unknown", "../../etc/passwd", "tasks/claim/x"],
)
def test_unknown_addresses_are_problems_too(ada: Api, path: str):
    assert problem_of(ada.get(path)) == "not-found"


def test_a_room_without_a_name_is_no_room(ada: Api):
    assert problem_of(ada.get("rooms//jobs")) == "invalid-room-id"


def test_other_methods_are_problems_too(ada: Api):
    assert problem_of(ada.put("workers")) == "method-not-allowed"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": "http://127.0.0.1:1/meta"},
        {"type": "nonsense"},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_schema_that_cannot_be_used_offline_accepts_nothing(serve: Serve, schema: dict[str, Any]):
    with Api(serve(validate_payloads=True), token_of("ada")) as ada:
        ada.register(schema=schema)
        answer = ada.post(f"rooms/lab/tasks/{JOB}", json={"payload": {"a": "x"}})
        assert problem_of(answer) == "payload-invalid"
        assert ada.get("rooms/lab/tasks").json()["total"] == 0


def test_payloads_are_checked_against_the_schema_and_hostile_patterns_are_harmless(serve: Serve):
    schema = {
        "type": "object",
        "required": ["angle"],
        "properties": {"angle": {"type": "number"}, "name": {"pattern": "^(a+)+$"}},
    }
    with Api(serve(validate_payloads=True), token_of("ada")) as ada:
        ada.register(schema=schema)
        assert ada.submit(angle=90)["status"] == "pending"
        began = time.monotonic()
        answer = ada.post(
            f"rooms/lab/tasks/{JOB}", json={"payload": {"angle": "wide", "name": "a" * 50_000 + "!"}}
        )
        assert time.monotonic() - began < 20
        assert (answer.status_code, problem_of(answer)) == (422, "payload-invalid")
        assert {error["pointer"] for error in answer.json()["errors"]} == {"/angle", "/name"}
        assert problem_of(ada.post(f"rooms/lab/tasks/{JOB}", json={})) == "payload-invalid"
        assert problem_of(ada.post("rooms/lab/tasks/lab:modifiers:No", json={})) == "job-not-found"
        assert ada.get("rooms/lab/tasks").json()["total"] == 1


def test_a_schema_bomb_is_refused(serve: Serve):
    doubling = {f"a{depth}": {"allOf": [{"$ref": f"#/$defs/a{depth + 1}"}] * 2} for depth in range(60)}
    schema = {"$defs": {**doubling, "a60": {"type": "object"}}, "$ref": "#/$defs/a0"}
    with Api(serve(validate_payloads=True), token_of("ada")) as ada:
        ada.register(schema=schema)
        began = time.monotonic()
        assert problem_of(ada.post(f"rooms/lab/tasks/{JOB}", json={})) == "payload-invalid"
        assert time.monotonic() - began < 20
