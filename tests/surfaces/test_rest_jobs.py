"""Jobs over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, problem_of, token_of

ANGLE = {"properties": {"angle": {"type": "number"}}}


def put(api: Api, room: str = "lab", **body: Any) -> Any:
    return api.put(f"rooms/{room}/jobs", json={"category": "modifiers", "name": "Rotate", **body})


def test_a_new_job_is_created_with_a_worker_of_its_own(ada: Api):
    answer = put(ada, schema=ANGLE)
    assert answer.status_code == 201
    job = answer.json()
    assert job["workers"] == [job["worker_id"]]
    del job["id"], job["workers"], job["worker_id"]
    assert job == {
        "room_id": "lab",
        "category": "modifiers",
        "name": "Rotate",
        "full_name": "lab:modifiers:Rotate",
        "schema": ANGLE,
    }


def test_registering_again_needs_the_same_schema_and_brings_another_worker(ada: Api):
    first = put(ada, schema=ANGLE).json()
    again = put(ada, schema=ANGLE)
    assert again.status_code == 200
    assert again.json()["id"] == first["id"]
    assert sorted(again.json()["workers"]) == sorted([first["worker_id"], again.json()["worker_id"]])
    assert problem_of(put(ada, schema={})) == "schema-conflict"
    assert put(ada, schema={"properties": {"angle": {"type": "number"}}}).status_code == 200


def test_a_worker_of_ones_own_is_linked_once(ada: Api, bob: Api):
    worker = ada.post("workers").json()["id"]
    for status in (201, 200):
        answer = put(ada, worker_id=worker)
        assert (answer.status_code, answer.json()["workers"]) == (status, [worker])
    assert problem_of(put(bob, worker_id=worker)) == "worker-not-found"
    assert problem_of(put(ada, worker_id=str(uuid4()))) == "worker-not-found"


@pytest.mark.parametrize("room", ["@global", "@internal"])
def test_shared_rooms_need_a_superuser(ada: Api, root: Api, room: str):
    assert problem_of(put(ada, room)) == "forbidden"
    assert put(root, room).status_code == 201


def test_a_category_must_be_allowed(ada: Api):
    refused = put(ada, category="cooking")
    assert problem_of(refused) == "invalid-category"
    # Whoever may change that learns how.
    assert "PGJOBS_ALLOWED_CATEGORIES=modifiers,selections,analysis" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("*", True),
        ('["*"]', True),
        ("cooking, sewing", True),
        ('["cooking"]', True),
        ("sewing", False),
        ("[]", False),
    ],
)
def test_a_shell_says_which_categories_are_allowed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, given: str, *, allowed: bool
):
    monkeypatch.setenv("PGJOBS_ALLOWED_CATEGORIES", given)
    with Api(serve(), token_of("ada")) as ada:
        assert put(ada, category="cooking").status_code == (201 if allowed else 400)


@pytest.mark.parametrize("room", ["", "a@b", "a:b", "@other", "x" * 201])
def test_malformed_rooms_are_refused_for_writing_and_reading(ada: Api, room: str):
    answers = [put(ada, room)]
    answers += [ada.get(f"rooms/{room}/{what}") for what in ("jobs", "tasks", "workers", "providers")]
    answers += [ada.get(f"rooms/{room}/jobs/a:b:c"), ada.get(f"rooms/{room}/providers/a:b:c/info")]
    assert {(answer.status_code, problem_of(answer)) for answer in answers} == {(400, "invalid-room-id")}


def test_a_retired_job_comes_back_with_a_new_schema(ada: Api):
    first = put(ada, schema=ANGLE).json()
    ada.delete(f"workers/{first['worker_id']}")
    back = put(ada, schema={"type": "object"})
    assert back.status_code == 201
    assert (back.json()["id"], back.json()["schema"]) == (first["id"], {"type": "object"})


def test_a_room_sees_its_own_and_the_shared_jobs(ada: Api, root: Api):
    put(ada, "lab")
    put(ada, "elsewhere")
    put(root, "@global")
    put(root, "@internal")
    page = ada.get("rooms/lab/jobs").json()
    names = [job["full_name"] for job in page["items"]]
    assert names == ["@internal:modifiers:Rotate", "@global:modifiers:Rotate", "lab:modifiers:Rotate"]
    assert page["total"] == 3
    assert set(page["items"][0]) == {"full_name", "category", "name", "workers"}
    globals_ = ada.get("rooms/@global/jobs").json()
    assert [job["full_name"] for job in globals_["items"]] == ["@global:modifiers:Rotate"]


def test_lists_come_in_stable_pages(ada: Api):
    worker = ada.post("workers").json()["id"]
    for number in range(5):
        put(ada, name=f"Job{number}", worker_id=worker)
    pages = [ada.get("rooms/lab/jobs", params={"limit": 2, "offset": at}).json() for at in (0, 2, 4)]
    names = [job["name"] for page in pages for job in page["items"]]
    assert names == [f"Job{number}" for number in (4, 3, 2, 1, 0)]
    assert {(page["total"], page["limit"]) for page in pages} == {(5, 2)}
    empty = ada.get("rooms/lab/jobs", params={"limit": 0}).json()
    assert (empty["items"], empty["total"]) == ([], 5)


@pytest.mark.parametrize("page", [{"limit": -1}, {"limit": 501}, {"offset": -1}, {"limit": "many"}])
def test_pages_out_of_range_are_refused(ada: Api, page: dict[str, Any]):
    for path in ("workers", "rooms/lab/jobs", "rooms/lab/tasks", "rooms/lab/workers", "rooms/lab/providers"):
        answer = ada.get(path, params=page)
        assert (answer.status_code, problem_of(answer)) == (422, "validation-error")
        assert [error["pointer"] for error in answer.json()["errors"]] == [f"/query/{next(iter(page))}"]


def test_a_job_is_found_from_the_rooms_that_see_it(ada: Api, root: Api):
    put(ada, "elsewhere")
    put(root, "@global")
    found = ada.get("rooms/lab/jobs/@global:modifiers:Rotate")
    assert found.json()["full_name"] == "@global:modifiers:Rotate"
    assert found.json()["worker_id"] is None
    assert problem_of(ada.get("rooms/lab/jobs/elsewhere:modifiers:Rotate")) == "job-not-found"
    assert problem_of(ada.get("rooms/lab/jobs/lab:modifiers:Missing")) == "job-not-found"


@pytest.mark.parametrize("name", ["nonsense", "two:parts"])
def test_a_name_of_fewer_than_three_parts_is_no_job(ada: Api, name: str):
    for answer in (ada.get(f"rooms/lab/jobs/{name}"), ada.post(f"rooms/lab/tasks/{name}", json={})):
        assert problem_of(answer) == "job-not-found"
        assert answer.json()["detail"] == f"Invalid job name format: {name}"


async def test_a_job_goes_neither_by_its_number_nor_by_its_id(ada: Api, queue: Queue):
    ada.register()
    job = await queue.get_job("lab:modifiers:Rotate")
    for name in (job.id, job.uuid):
        for answer in (
            ada.get(f"rooms/lab/jobs/{name}"),
            ada.get(f"rooms/lab/jobs/{name}/tasks"),
            ada.post(f"rooms/lab/tasks/{name}", json={}),
        ):
            assert problem_of(answer) == "job-not-found"
            assert answer.json()["detail"] == f"Invalid job name format: {name}"


@pytest.mark.parametrize(
    "name", ["a/b", "a:b:c", "a%2Fb", "ünï cödé ☃", "'; drop table tasks; --", "..", "a?b#c"]
)
def test_a_name_may_contain_anything_printable(ada: Api, name: str):
    from urllib.parse import quote

    full_name = put(ada, name=name).json()["full_name"]
    assert full_name == f"lab:modifiers:{name}"
    path = quote(full_name, safe="/:" if "%" not in name else ":")
    assert ada.get(f"rooms/lab/jobs/{path}").json()["name"] == name
    task = ada.post(f"rooms/lab/tasks/{path}", json={})
    assert (task.status_code, task.json()["job_name"]) == (202, full_name)
    assert ada.get(f"rooms/lab/jobs/{path}/tasks").json()["total"] == 1


def test_concurrent_first_registrations_make_one_job(ada: Api, serve: Serve):
    base = str(ada.base_url)

    def register(number: int) -> Any:
        with Api(base, token_of(f"user{number}")) as api:
            return put(api, schema=ANGLE)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(register, range(10)))
    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(ada.get("rooms/lab/jobs/lab:modifiers:Rotate").json()["workers"]) == 10
