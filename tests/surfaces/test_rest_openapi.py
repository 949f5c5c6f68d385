"""The OpenAPI document says what the server does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pgjobs.app import create_app
from pgjobs.rest import ApiSettings
from pgjobs.rest.problems import KNOWN
from tests.surfaces.rest_server import SECRET, Api, serving, token_of

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


def operations(document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [(method, path, op) for path, item in document["paths"].items() for method, op in item.items()]


def test_every_endpoint_is_documented(document: dict[str, Any]):
    documented = {(method, path) for method, path, _ in operations(document)}
    expected = {(method, f"/v1/joblib{path}") for method, path in ENDPOINTS}
    about = {("get", "/v1/me"), ("get", "/v1/problems"), ("get", "/v1/problems/{problem_id}")}
    assert expected | about <= documented


def test_every_error_is_documented_as_a_problem(document: dict[str, Any]):
    for method, path, operation in operations(document):
        errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        assert {"422", "500"} <= errors.keys(), (method, path)
        assert {tuple(answer["content"]) for answer in errors.values()} == {("application/problem+json",)}
        if path.startswith("/v1/joblib"):
            assert errors["401"]["headers"].keys() == {"WWW-Authenticate"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


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


def open_and_close(case: Any, headers: dict[str, str]) -> None:
    """A stream does not end, so its beginning is looked at."""
    asked = case.as_transport_kwargs(headers=headers)
    with requests.request(**asked, stream=True, timeout=20) as answer:
        documented = case.operation.definition.raw["responses"][str(answer.status_code)]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in documented["content"], (answer.status_code, kind)
        if answer.ok:
            assert next(answer.iter_lines()).startswith(b"id: ")
        else:
            assert answer.json()["status"] == answer.status_code


@pytest.mark.filterwarnings("ignore")
def test_generated_requests_get_documented_answers_only(database_url: str):
    limits = ApiSettings(auth_secret=SECRET, long_poll_max_wait_seconds=0, provider_max_wait_seconds=0)
    app = create_app(url=database_url, settings=limits)
    headers = {"Authorization": f"Bearer {token_of('ada', is_superuser=True)}"}
    checks = (
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    )
    with serving(app) as base, Api(base, token_of("ada", is_superuser=True)) as ada:
        job = ada.register("Rotate", room="lab")
        ada.submit()
        ada.claim(job["worker_id"])
        ada.put("rooms/lab/providers", json={"category": "fs", "name": "disk"})
        ada.put("schedules", json={"name": "nightly", "job": "lab:modifiers:Rotate", "cron": "30 2 * * *"})
        schema = schemathesis.openapi.from_url(f"{base}/openapi.json")
        tested = 0
        for result in schema.get_all_operations():
            operation: Any = result.ok()  # type: ignore[union-attr]

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
                if case.path.endswith("/events"):
                    open_and_close(case, headers)
                else:
                    case.call_and_validate(headers=headers, checks=checks, timeout=20)

            ask()
            tested += 1
    assert tested == len(operations(app.openapi())) >= len(ENDPOINTS) + 3
