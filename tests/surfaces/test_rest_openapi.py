"""The OpenAPI document says what the server does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings

from pgjobs.queue.queue import Queue
from pgjobs.server import ApiSettings, install
from pgjobs.server.app import create_app
from pgjobs.server.problems import KNOWN
from tests.surfaces.rest_server import SECRET, Api, serving, token_of

LARGEST = 250_000
"""Bytes of the document as it is served."""
LARGEST_EACH = 3_200
"""Bytes of an operation as `pgjobs openapi` prints it, with its share of what they have in common."""
NOBODYS_ID = "00000000-0000-4000-8000-000000000000"
ROOT = token_of("ada", is_superuser=True)
ENDPOINTS = {
    ("post", "/workers"), ("get", "/workers"), ("patch", "/workers/{worker_id}"),
    ("delete", "/workers/{worker_id}"), ("put", "/rooms/{room_id}/jobs"), ("get", "/rooms/{room_id}/jobs"),
    ("get", "/rooms/{room_id}/jobs/{job_name}"), ("get", "/rooms/{room_id}/jobs/{job_name}/tasks"),
    ("get", "/rooms/{room_id}/workers"), ("get", "/rooms/{room_id}/tasks"),
    ("post", "/rooms/{room_id}/tasks/{job_name}"), ("post", "/tasks/claim"), ("get", "/tasks/{task_id}"),
    ("patch", "/tasks/{task_id}"), ("put", "/rooms/{room_id}/providers"), ("get", "/rooms/{room_id}/providers"),
    ("get", "/rooms/{room_id}/providers/{provider_name}/info"),
    ("get", "/rooms/{room_id}/providers/{provider_name}"), ("post", "/providers/{provider_id}/results"),
    ("delete", "/providers/{provider_id}"), ("post", "/session"), ("get", "/session"), ("delete", "/session"),
    ("get", "/overview"), ("get", "/throughput"), ("get", "/findings"), ("get", "/database"), ("get", "/tasks"),
    ("get", "/tasks/count"), ("post", "/tasks/actions"), ("get", "/tasks/{task_id}/details"),
    ("get", "/tasks/{task_id}/attempts"), ("get", "/tasks/{task_id}/events"), ("get", "/tasks/{task_id}/why"),
    ("post", "/tasks/{task_id}/retry"), ("post", "/tasks/{task_id}/cancel"), ("post", "/tasks/{task_id}/ignore"),
    ("post", "/tasks/{task_id}/unignore"), ("get", "/jobs"), ("post", "/jobs/{job_id}/pause"),
    ("post", "/jobs/{job_id}/resume"), ("get", "/workers/status"), ("get", "/providers/status"),
    ("post", "/providers/{provider_id}/invalidate"), ("get", "/schedules"), ("put", "/schedules"),
    ("get", "/schedules/preview"), ("get", "/schedules/{schedule_id}"), ("delete", "/schedules/{schedule_id}"),
    ("post", "/schedules/{schedule_id}/run"), ("post", "/schedules/{schedule_id}/pause"),
    ("post", "/schedules/{schedule_id}/resume"),
}  # fmt: skip


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app().openapi()


def referred(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """What a part of the document says, there or elsewhere."""
    found: Any = part
    if "$ref" in part:
        found = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
    return dict(found)


def operations(document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [(method, path, op) for path, item in document["paths"].items() for method, op in item.items()]


def test_every_endpoint_is_documented(document: dict[str, Any]):
    documented = {(method, path) for method, path, _ in operations(document)}
    expected = {(method, f"/v1/joblib{path}") for method, path in ENDPOINTS}
    about = {("get", "/v1/me"), ("get", "/v1/problems"), ("get", "/v1/problems/{problem_id}")}
    assert expected | about <= documented


def test_every_error_is_documented_as_a_problem(document: dict[str, Any]):
    for method, path, operation in operations(document):
        errors = {
            status: referred(document, answer)
            for status, answer in operation["responses"].items()
            if status >= "400"
        }
        assert {"422", "500"} <= errors.keys(), (method, path)
        assert {tuple(answer["content"]) for answer in errors.values()} == {("application/problem+json",)}
        if path.startswith("/v1/joblib"):
            assert errors["401"]["headers"].keys() == {"WWW-Authenticate"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_the_document_says_once_what_operations_have_in_common(document: dict[str, Any]):
    """It was a megabyte, because each operation repeated each problem."""
    assert len(json.dumps(document)) < LARGEST
    assert len(json.dumps(document, indent=2)) < LARGEST_EACH * len(list(operations(document)))
    for _, _, operation in operations(document):
        for status, answer in operation["responses"].items():
            assert status < "400" or answer.keys() == {"$ref"}
    for answer in document["components"]["responses"].values():
        schema = answer["content"]["application/problem+json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Problem"}
    assert document["components"]["schemas"]["Problem"]["required"] == ["type", "title", "status"]


def test_every_reference_of_the_document_leads_somewhere(document: dict[str, Any]):
    def walk(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(reference := part.get("$ref"), str):
                assert referred(document, part), reference
            for each in part.values():
                walk(each)
        elif isinstance(part, list):
            for each in part:
                walk(each)

    walk(document)


def test_the_served_document_is_the_one_that_is_printed(base: str, document: dict[str, Any]):
    with Api(base, None) as anybody:
        answer = anybody.get("/openapi.json")
    assert len(answer.content) < LARGEST
    assert answer.json() == document


def test_the_document_of_a_host_says_our_part_as_briefly(queue: Queue):
    app = FastAPI()

    @app.get("/own/{name}")
    async def own(name: str, wanted: str | None = None) -> str:
        return name + (wanted or "")

    alone = json.loads(json.dumps(app.openapi()))
    app.openapi_schema = None
    install(app, queue)
    document = app.openapi()
    assert len(json.dumps(document)) < LARGEST
    assert document["paths"]["/own/{name}"] == alone["paths"]["/own/{name}"]
    assert app.openapi() is document


@pytest.mark.parametrize(("allowed", "documented"), [(["one", "two"], ["one", "two"]), (["*"], None)])
def test_allowed_categories_are_documented(allowed: list[str], documented: list[str] | None):
    document = create_app(settings=ApiSettings(allowed_categories=allowed)).openapi()
    category = document["components"]["schemas"]["JobIn"]["properties"]["category"]
    assert category.get("enum") == documented


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("workers", "DELETE", "GET, POST"),
        ("workers/status", "PATCH", "GET"),
        ("tasks/claim", "PATCH", "POST"),
        ("tasks/claim", "GET", "POST"),
        ("tasks/count", "PATCH", "GET"),
        ("tasks/actions", "GET", "POST"),
        ("schedules/preview", "DELETE", "GET"),
        ("providers/status", "DELETE", "GET"),
        ("session", "PUT", "DELETE, GET, POST"),
        ("rooms/lab/jobs", "OPTIONS", "GET, PUT"),
        ("tasks/00000000-0000-4000-8000-000000000000", "PUT", "GET, PATCH"),
    ],
)
def test_a_method_that_is_not_answered_is_told_which_are(ada: Api, path: str, method: str, allowed: str):
    answer = ada.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["type"] == "/v1/problems/method-not-allowed"


@pytest.mark.postgres_only
@pytest.mark.parametrize("moment", ["0.5", "1700000000", "-1", "1e9", "20240101", "", "soon"])
def test_times_are_given_in_iso_8601(ada: Api, moment: str):
    refused = ada.get("tasks", params={"until": moment})
    assert (refused.status_code, refused.json()["type"]) == (422, "/v1/problems/validation-error")
    for known in ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00+02:00", "2024-05-01 12:00"):
        assert ada.get("tasks", params={"until": known}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("tasks/actions", {"verb": "retry", "ids": [NOBODYS_ID], "dry_run": 0}),
        ("tasks/actions", {"verb": "retry", "ids": [NOBODYS_ID], "dry_run": "yes"}),
        (f"tasks/{NOBODYS_ID}/cancel", {"force": 1}),
        (f"jobs/{NOBODYS_ID}/limit", {"max_running": "5"}),
        (f"jobs/{NOBODYS_ID}/limit", {"max_running": True}),
    ],
)
def test_a_body_says_what_it_means_in_the_types_of_json(root: Api, path: str, body: dict[str, Any]):
    assert root.post(path, json=body).status_code == 422


def test_headers_are_documented(document: dict[str, Any]):
    paths = document["paths"]
    submitted = paths["/v1/joblib/rooms/{room_id}/tasks/{job_name}"]["post"]["responses"]["202"]
    assert submitted["headers"].keys() == {"Location", "Retry-After"}
    started = paths["/v1/joblib/schedules/{schedule_id}/run"]["post"]["responses"]["202"]
    assert started["headers"].keys() == {"Location"}
    waited = paths["/v1/joblib/tasks/{task_id}"]["get"]["responses"]["200"]
    assert waited["headers"].keys() == {"Preference-Applied"}


def test_the_command_prints_the_same_document(document: dict[str, Any]):
    command = [str(Path(sys.executable).with_name("pgjobs")), "openapi"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(printed.stdout) == document


def test_problems_document_themselves(ada: Api):
    listed = ada.get("/v1/problems").json()
    assert {kind["id"] for kind in listed} == set(KNOWN)
    one = ada.get("/v1/problems/lease-lost").json()
    assert (one["status"], one["type"]) == (409, "/v1/problems/lease-lost")
    assert one["description"]
    unknown = ada.get("/v1/problems/unknown")
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/v1/problems/not-found")


def open_and_close(case: Any, document: dict[str, Any], headers: dict[str, str]) -> None:
    """A stream does not end, so its beginning is looked at."""
    asked = case.as_transport_kwargs(headers=headers)
    with requests.request(**asked, stream=True, timeout=20) as answer:
        documented = document["paths"][case.path]["get"]["responses"][str(answer.status_code)]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in referred(document, documented)["content"], (answer.status_code, kind)
        if answer.ok:
            assert next(answer.iter_lines()).startswith(b"id: ")
        else:
            assert answer.json()["status"] == answer.status_code


@pytest.fixture
def fuzzed(database_url: str) -> Iterator[str]:
    """A server with something of everything, which answers at once."""
    limits = ApiSettings(auth_secret=SECRET, long_poll_max_wait_seconds=0, provider_max_wait_seconds=0)
    with serving(create_app(url=database_url, settings=limits)) as base:
        with Api(base, ROOT) as root:
            job = root.register("Rotate", room="lab")
            root.submit()
            root.claim(job["worker_id"])
            root.put("rooms/lab/providers", json={"category": "fs", "name": "disk"})
            root.put(
                "schedules", json={"name": "nightly", "job": "lab:modifiers:Rotate", "cron": "30 2 * * *"}
            )
        yield base


@pytest.mark.filterwarnings("ignore")
def test_the_stream_answers_generated_requests_as_documented(fuzzed: str, document: dict[str, Any]):
    path = "/v1/joblib/events"
    operation = schemathesis.openapi.from_url(f"{fuzzed}/openapi.json")[path]["GET"]

    @settings(
        max_examples=8,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        open_and_close(case, document, {"Authorization": f"Bearer {ROOT}"})

    ask()


@pytest.mark.long
def test_generated_requests_find_no_difference_between_server_and_document(fuzzed: str):
    """Every check of schemathesis; PGJOBS_FUZZ_EXAMPLES=200 for a long round, PGJOBS_FUZZ_SEED for another one."""
    command = [
        sys.executable,
        *(
            "-m",
            "schemathesis.cli",
            "--config-file",
            str(Path(__file__).with_name("schemathesis.toml")),
            "run",
        ),
        *(f"{fuzzed}/openapi.json", "--no-color", "--header", f"Authorization: Bearer {ROOT}"),
        *("--max-examples", os.environ.get("PGJOBS_FUZZ_EXAMPLES", "5")),
        *("--seed", os.environ.get("PGJOBS_FUZZ_SEED", "1")),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    top = Path(__file__).parents[2]
    found = subprocess.run(command, capture_output=True, text=True, cwd=top, env=environment, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    # What is not asked for is not found.
    tested = len(operations(requests.get(f"{fuzzed}/openapi.json", timeout=20).json())) - 1
    assert f"Tested: {tested}" in found.stdout
    assert tested >= len(ENDPOINTS) + 2
