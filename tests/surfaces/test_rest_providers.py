"""Providers and reads over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings
from tests.surfaces.conftest import Serve
from tests.surfaces.ears import eventually
from tests.surfaces.rest_server import Api, problem_of, token_of
from tests.surfaces.test_rest_waiting import in_background, timed

NAME = "lab:filesystem:disk"


def put(api: Api, room: str = "lab", **body: Any) -> Any:
    return api.put(f"rooms/{room}/providers", json={"category": "filesystem", "name": "disk", **body})


@pytest.fixture
def provider(ada: Api) -> dict[str, Any]:
    return dict(put(ada).json())


def upload(api: Api, provider: dict[str, Any], request_hash: str, data: bytes, **headers: str) -> Any:
    headers = {"X-Request-Hash": request_hash, **{k.replace("_", "-"): v for k, v in headers.items()}}
    return api.post(f"providers/{provider['id']}/results", content=data, headers=headers)


async def requests_seen(queue: Queue) -> list[Any]:
    events = await queue.list_events(page_size=500)
    return [event.fields for event in events if event.kind == "provider_request"]


def test_a_provider_is_registered_and_changed_by_its_owner(ada: Api, bob: Api, root: Api):
    answer = put(ada, schema={"path": {"type": "string"}})
    provider = answer.json()
    assert answer.status_code == 201
    assert set(provider) == {
        "id", "room_id", "category", "name", "full_name", "schema", "content_type", "worker_id", "created_at",
    }  # fmt: skip
    assert (provider["full_name"], provider["content_type"]) == (NAME, "application/json")
    changed = put(ada, content_type="text/plain", worker_id=provider["worker_id"])
    assert (changed.status_code, changed.json()["id"]) == (200, provider["id"])
    assert changed.json()["content_type"] == "text/plain"
    assert problem_of(put(bob)) == "forbidden"
    assert problem_of(put(ada, worker_id=str(uuid4()))) == "worker-not-found"


def test_shared_providers_need_a_superuser_and_internal_ones_do_not_exist(ada: Api, root: Api):
    assert problem_of(put(ada, "@global")) == "forbidden"
    assert put(root, "@global").status_code == 201
    for api in (ada, root):
        assert problem_of(put(api, "@internal")) == "forbidden"


@pytest.mark.parametrize(
    "content_type", ["", "nonsense", "text/html\r\nX-Evil: 1", "a/b; c", "a/b; c=日", 'a/b; c="\x9f"']
)
def test_a_content_type_must_be_a_media_type(ada: Api, content_type: str):
    assert problem_of(put(ada, content_type=content_type)) == "validation-error"
    assert ada.get("rooms/lab/providers").json()["total"] == 0


@pytest.mark.parametrize("content_type", ["text/plain; charset=utf-8", 'a/b ; c="d e;f" ;g=h', "a+b/c.d-e"])
def test_whatever_media_type_is_taken_is_told_with_the_answer(ada: Api, content_type: str):
    provider = put(ada, content_type=content_type).json()
    upload(ada, provider, ada.get(f"rooms/lab/providers/{NAME}").json()["request_hash"], b"x")
    answer = ada.get(f"rooms/lab/providers/{NAME}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, content_type)


def test_a_room_sees_its_own_and_the_shared_providers(ada: Api, root: Api, provider: dict[str, Any]):
    shared = put(root, "@global").json()
    put(ada, "elsewhere")
    page = ada.get("rooms/lab/providers").json()
    assert [item["id"] for item in page["items"]] == [shared["id"], provider["id"]]
    assert page["total"] == 2
    assert ada.get(f"rooms/lab/providers/{NAME}/info").json() == provider
    assert ada.get("rooms/lab/providers/@global:filesystem:disk/info").json() == shared
    for name in ("elsewhere:filesystem:disk", "lab:filesystem:other"):
        assert problem_of(ada.get(f"rooms/lab/providers/{name}/info")) == "provider-not-found"
    for name in ("nonsense", provider["id"]):
        for malformed in (
            ada.get(f"rooms/lab/providers/{name}"),
            ada.get(f"rooms/lab/providers/{name}/info"),
        ):
            assert problem_of(malformed) == "provider-not-found"
            assert malformed.json()["detail"] == f"Invalid provider name format: {name}"


async def test_a_read_is_passed_on_once_and_answered_from_then_on(
    ada: Api, bob: Api, queue: Queue, provider: dict[str, Any]
):
    path = f"rooms/lab/providers/{NAME}?path=/data&glob=*&path=/last"
    first, second = ada.get(path), bob.get(path)
    params = json.dumps({"glob": "*", "path": "/last"}, sort_keys=True, separators=(",", ":"))
    request_hash = hashlib.sha256(params.encode()).hexdigest()
    for answer in (first, second):
        assert answer.status_code == 202
        assert answer.json() == {"status": "pending", "request_hash": request_hash}
        assert answer.headers["retry-after"] == "2"
        assert answer.headers["location"] == f"/v1/joblib/{path}"
    assert [(seen["request_id"], seen["params"]) for seen in await requests_seen(queue)] == [
        (request_hash, params)
    ]
    data = bytes(range(256)) * 10
    assert upload(ada, provider, request_hash, data).status_code == 204
    hit = bob.get(path)
    assert (hit.status_code, hit.content) == (200, data)
    assert hit.headers["content-type"] == "application/json"
    assert len(await requests_seen(queue)) == 1


def test_an_answer_in_json_is_stored_as_json(ada: Api, provider: dict[str, Any]):
    request_hash = ada.get(f"rooms/lab/providers/{NAME}").json()["request_hash"]
    body = {"request_hash": request_hash, "data": [1, {"a": None}]}
    assert ada.post(f"providers/{provider['id']}/results", json=body).status_code == 204
    assert ada.get(f"rooms/lab/providers/{NAME}").json() == [1, {"a": None}]
    broken = ada.post(f"providers/{provider['id']}/results", content=b"{")
    assert problem_of(broken) == "validation-error"


def test_only_the_owner_or_a_superuser_answers_and_retires(
    ada: Api, bob: Api, root: Api, provider: dict[str, Any]
):
    assert problem_of(upload(bob, provider, "hash", b"x")) == "forbidden"
    assert upload(root, provider, "hash", b"x").status_code == 204
    unknown = {"id": str(uuid4())}
    # Unknown before the body is looked at.
    assert problem_of(ada.post(f"providers/{unknown['id']}/results", content=b"{")) == "provider-not-found"
    assert problem_of(bob.delete(f"providers/{provider['id']}")) == "forbidden"
    assert ada.delete(f"providers/{provider['id']}").status_code == 204
    assert problem_of(root.delete(f"providers/{provider['id']}")) == "provider-not-found"
    assert problem_of(ada.get(f"rooms/lab/providers/{NAME}")) == "provider-not-found"


async def test_those_who_wait_are_woken_by_the_answer(ada: Api, queue: Queue, provider: dict[str, Any]):
    path = f"rooms/lab/providers/{NAME}?path=/slow"
    waiting = [in_background(lambda: ada.get(path, headers={"Prefer": "wait=20"})) for _ in range(5)]
    await asyncio.sleep(0.8)
    assert not any(wait.done() for wait in waiting)
    (seen,) = await requests_seen(queue)
    upload(ada, provider, seen["request_id"], b"[]")
    for wait in waiting:
        took, answer = wait.result(20)
        assert (answer.status_code, answer.content) == (200, b"[]")
        assert took < 15


def test_a_read_that_is_not_answered_in_time_is_a_timeout(ada: Api, provider: dict[str, Any]):
    took, answer = timed(lambda: ada.get(f"rooms/lab/providers/{NAME}", headers={"Prefer": "wait=1"}))
    assert (answer.status_code, problem_of(answer)) == (504, "provider-timeout")
    assert answer.headers["retry-after"] == "2"
    assert 0.9 < took < 20


def test_a_read_that_says_how_long_it_waits_is_never_left_pending(ada: Api, provider: dict[str, Any]):
    """Also when that is no time at all."""
    took, answer = timed(lambda: ada.get(f"rooms/lab/providers/{NAME}", headers={"Prefer": "wait=0"}))
    assert (answer.status_code, problem_of(answer)) == (504, "provider-timeout")
    assert took < 1
    assert "preference-applied" not in answer.headers
    nonsense = ada.get(f"rooms/lab/providers/{NAME}", headers={"Prefer": "wait=soon"})
    assert nonsense.status_code == 202


@pytest.mark.parametrize(("prefer", "applied"), [("wait=20", "wait=20"), ("wait=99999", "wait=30")])
async def test_an_answer_that_was_waited_for_says_so(
    ada: Api, queue: Queue, provider: dict[str, Any], prefer: str, applied: str
):
    path = f"rooms/lab/providers/{NAME}?path=/slow"
    waiting = in_background(lambda: ada.get(path, headers={"Prefer": prefer}))
    (seen,) = await eventually(lambda: requests_seen(queue))
    upload(ada, provider, seen["request_id"], b"[]")
    _, answer = waiting.result(20)
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, applied)
    kept = ada.get(path, headers={"Prefer": prefer})
    assert (kept.status_code, "preference-applied" in kept.headers) == (200, False)


async def test_a_server_may_wait_by_default(serve: Serve, queue: Queue):
    """Then whatever is not an error is the answer, as front ends expect that take any 2xx for data."""
    with Api(serve(provider_default_wait_seconds=1), token_of("ada")) as ada:
        provider = put(ada).json()
        path = f"rooms/lab/providers/{NAME}?path=/slow"
        took, answer = timed(lambda: ada.get(path))
        assert (answer.status_code, problem_of(answer)) == (504, "provider-timeout")
        assert 0.9 < took < 4
        waiting = in_background(lambda: ada.get(path))
        (seen,) = await eventually(lambda: requests_seen(queue))
        upload(ada, provider, seen["request_id"], b"[]")
        _, answer = waiting.result(20)
        assert (answer.status_code, answer.content) == (200, b"[]")
        # Nobody asked for it.
        assert "preference-applied" not in answer.headers


def test_waiting_by_default_is_a_setting(monkeypatch: pytest.MonkeyPatch):
    assert ApiSettings().provider_default_wait_seconds == 0
    monkeypatch.setenv("PGJOBS_PROVIDER_DEFAULT_WAIT_SECONDS", "5")
    assert ApiSettings().provider_default_wait_seconds == 5


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (
            {"status": 404, "type": "/v1/problems/file-not-found", "title": "No such file", "detail": "/x"},
            (404, "/v1/problems/file-not-found", "No such file", "/x"),
        ),
        ({"status": 599, "type": "about:blank", "title": "Odd"}, (599, "about:blank", "Odd", None)),
        ({"status": 418}, (418, "/v1/problems/provider-failed", "I'm a Teapot", None)),
        ({"status": 200, "title": "Fine"}, (502, "/v1/problems/provider-failed", "Fine", None)),
        ({"status": 600}, (502, "/v1/problems/provider-failed", "Bad Gateway", None)),
        ({"status": "404"}, (502, "/v1/problems/provider-failed", "Bad Gateway", None)),
        ({"status": True}, (502, "/v1/problems/provider-failed", "Bad Gateway", None)),
    ],
)
def test_a_failed_read_answers_with_its_own_problem(
    ada: Api, provider: dict[str, Any], problem: dict[str, Any], told: tuple[Any, ...]
):
    path = f"rooms/lab/providers/{NAME}?path=/x"
    request_hash = ada.get(path).json()["request_hash"]
    upload(ada, provider, request_hash, json.dumps(problem).encode(), X_Result_Status="error")
    for headers in ({}, {"Prefer": "wait=0"}, {"Prefer": "wait=5"}):
        answer = ada.get(path, headers=headers)
        body = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        shown = (answer.status_code, body["type"], body["title"])
        assert (*shown, body["status"]) == (*told[:3], told[0])
        assert told[3] is None or body["detail"] == told[3]
    upload(ada, provider, request_hash, b"found")
    assert ada.get(path).content == b"found"


async def test_a_superuser_takes_a_provider_over(
    ada: Api, bob: Api, root: Api, queue: Queue, provider: dict[str, Any]
):
    path = f"rooms/lab/providers/{NAME}"
    upload(ada, provider, ada.get(path).json()["request_hash"], b"ada's")
    assert problem_of(put(bob)) == "forbidden"
    taken = put(root, content_type="text/plain")
    assert (taken.status_code, taken.json()["id"]) == (200, provider["id"])
    # It lives by a worker of its new owner, and goes with that one only.
    assert taken.json()["worker_id"] != provider["worker_id"]
    assert root.patch(f"workers/{taken.json()['worker_id']}").status_code == 200
    ada.delete(f"workers/{provider['worker_id']}")
    # What the owner before has said does not count any more, and it can say nothing else.
    pending = bob.get(path)
    assert pending.status_code == 202
    assert len(await requests_seen(queue)) == 2
    assert problem_of(upload(ada, provider, pending.json()["request_hash"], b"ada's")) == "forbidden"
    assert upload(root, provider, pending.json()["request_hash"], b"root's").status_code == 204
    assert bob.get(path).content == b"root's"
    assert problem_of(put(ada)) == "forbidden"
    assert problem_of(ada.delete(f"providers/{provider['id']}")) == "forbidden"


async def test_a_provider_is_taken_over_with_a_worker_that_is_named(
    ada: Api, root: Api, provider: dict[str, Any]
):
    worker = root.post("workers").json()["id"]
    assert put(root, worker_id=worker).json()["worker_id"] == worker
    assert problem_of(put(root, worker_id=provider["worker_id"])) == "worker-not-found"
    # Changing what is one's own keeps answers and worker.
    request_hash = ada.get(f"rooms/lab/providers/{NAME}").json()["request_hash"]
    upload(root, provider, request_hash, b"kept")
    assert put(root).json()["worker_id"] == worker
    assert ada.get(f"rooms/lab/providers/{NAME}").content == b"kept"


def test_a_failed_read_is_told_until_a_later_one_succeeds(ada: Api, provider: dict[str, Any]):
    path = f"rooms/lab/providers/{NAME}?path=/missing"
    waiting = in_background(lambda: ada.get(path, headers={"Prefer": "wait=20"}))
    time.sleep(0.5)
    request_hash = ada.get(path).json()["request_hash"]
    upload(ada, provider, request_hash, b'{"detail": "no such file"}', X_Result_Status="error")
    took, answer = waiting.result(20)
    assert took < 15
    for failed in (answer, ada.get(path)):
        assert (failed.status_code, problem_of(failed)) == (502, "provider-failed")
        assert failed.json()["detail"] == "no such file"
    upload(ada, provider, request_hash, b"found")
    assert ada.get(path).content == b"found"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"detail": "half \\ud800"}', "half ?"),
        (b"\xff", "\ufffd"),
        (b'{"error": [1]}', "[1]"),
        (b"[]", "[]"),
    ],
)
def test_whatever_a_provider_says_of_its_failure_is_told(
    ada: Api, provider: dict[str, Any], body: bytes, detail: str
):
    request_hash = ada.get(f"rooms/lab/providers/{NAME}").json()["request_hash"]
    assert upload(ada, provider, request_hash, body, X_Result_Status="error").status_code == 204
    answer = ada.get(f"rooms/lab/providers/{NAME}")
    assert (problem_of(answer), answer.json()["detail"]) == ("provider-failed", detail)


async def test_concurrent_reads_are_passed_on_once(ada: Api, queue: Queue, provider: dict[str, Any]):
    base = str(ada.base_url)

    def ask(number: int) -> int:
        with Api(base, token_of(f"user{number}")) as api:
            return int(api.get(f"rooms/lab/providers/{NAME}?path=/many").status_code)

    with ThreadPoolExecutor(10) as pool:
        assert set(pool.map(ask, range(20))) == {202}
    assert len(await requests_seen(queue)) == 1


async def test_a_provider_that_comes_back_does_not_serve_old_answers(ada: Api, provider: dict[str, Any]):
    request_hash = ada.get(f"rooms/lab/providers/{NAME}").json()["request_hash"]
    upload(ada, provider, request_hash, b"old")
    ada.delete(f"providers/{provider['id']}")
    put(ada)
    assert ada.get(f"rooms/lab/providers/{NAME}").status_code == 202


async def test_expired_answers_are_swept(ada: Api, queue: Queue):
    from datetime import timedelta

    await queue.store_read("soon gone", b"x", timedelta(microseconds=1))
    await queue.store_read("stays", b"x", timedelta(minutes=5))
    assert await queue.lock_read("asked", timedelta(microseconds=1))
    assert await queue.lock_read("asked", timedelta(minutes=5))
    assert not await queue.lock_read("asked", timedelta(minutes=5))
    (swept,) = await queue.sweep("reads")
    assert swept.changed == 1
    assert set(await queue.get_reads(["soon gone", "stays"])) == {"stays"}
