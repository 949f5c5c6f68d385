"""Who may call, and what strangers are told."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI, HTTPException
from starlette.testclient import TestClient

from pgjobs.errors import Unauthorized
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import current_active_user, get_queue, install
from pgjobs.server.auth import token_cache
from pgjobs.server.problems import BODY_LIMIT
from tests.surfaces.conftest import Serve
from tests.surfaces.operations import Operation, operations
from tests.surfaces.rest_server import SECRET, Api, problem_of, token_of

NOBODYS_ID = "00000000-0000-4000-8000-000000000000"
OPEN = {
    ("DELETE", "/v1/joblib/session"),  # who is not signed in is signed out
    ("GET", "/v1/problems"),
    ("GET", "/v1/problems/00000000-0000-4000-8000-000000000000"),
    ("GET", "/ui/login"),
}
"""What anybody may ask, whoever they are."""
OF_USERS = {
    "/v1/me",
    "/v1/joblib/session",
    "/v1/joblib/rooms/lab/providers/a:b:c",
    "/v1/joblib/errors",
    "/v1/joblib/findings",
    "/v1/joblib/database",
    "/api/maintenance/incomplete-cleanup",
    "/api/maintenance/incomplete-cleanup/nodes",
    "/api/maintenance/incomplete-cleanup/00000000-0000-4000-8000-000000000000",
}
"""Reads that are never public: about the user or the server itself, or they have somebody work."""


def asked(api: Api, operation: Operation, **body: Any) -> httpx.Response:
    """The answer, or the beginning of one that has no end."""
    with api.stream(operation.method, operation.path, **body) as answer:
        if answer.headers["content-type"] != "text/event-stream; charset=utf-8":
            answer.read()
    return answer


def test_strangers_are_refused_everywhere(nobody: Api):
    for operation in operations():
        if operation[:2] in OPEN:
            continue
        answer = asked(nobody, operation)
        assert (answer.status_code, problem_of(answer)) == (401, "unauthorized"), operation
        assert answer.headers["www-authenticate"] == "Bearer"


# They are refused before any database is asked.
@pytest.mark.parametrize("queue_url", ["sqlite_url"], ids=["sqlite"], indirect=True)
def test_strangers_learn_nothing_but_that_they_are_strangers(nobody: Api):
    """Not whether a name is well formed, an id exists, or a body can be read."""
    bodies: list[dict[str, Any]] = [
        {},
        {"json": {}},
        {"content": b"{", "headers": {"Content-Type": "application/json"}},
        {"content": b"\xff", "headers": {"Content-Type": "application/json"}},
        {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
        {"content": b" " * (BODY_LIMIT + 1), "headers": {"Content-Type": "application/json"}},
    ]
    for operation in operations():
        if operation[:2] in OPEN or operation[:2] == ("POST", "/v1/joblib/session"):
            continue
        paths = {
            operation.path,
            operation.path.replace("a:b:c", "nonsense").replace(NOBODYS_ID, "nonsense"),
            operation.path.replace("rooms/lab", "rooms/a@b"),
        }
        for path in paths:
            for body in bodies if operation.is_change else bodies[:1]:
                answer = asked(nobody, operation._replace(path=path), **body)
                assert (answer.status_code, problem_of(answer)) == (401, "unauthorized"), (
                    operation,
                    path,
                    body,
                )
    for method in ("GET", "PUT", "POST"):
        assert problem_of(nobody.request(method, "rooms//jobs")) == "unauthorized"


def test_what_a_host_refuses_comes_before_what_is_wrong_with_the_body(queue_url: str, queue: Queue):
    async def somebody_else() -> None:
        raise HTTPException(403, "Not you")

    app = FastAPI()
    app.dependency_overrides[get_queue] = lambda: queue
    app.dependency_overrides[current_active_user] = somebody_else
    install(app)
    with TestClient(app) as client:
        answer = client.put(
            "/v1/joblib/rooms/lab/jobs", content=b"{", headers={"Content-Type": "application/json"}
        )
    assert (answer.status_code, answer.json()["detail"]) == (403, "Not you")


def test_reads_may_be_public_and_writes_never(serve: Serve, queue_url: str):
    is_answered = {200, 404, 422} | ({501} if queue_url.startswith("sqlite") else set())
    with Api(serve(public_reads=True), None) as nobody:
        for operation in operations():
            if operation[:2] in OPEN:
                continue
            status = asked(nobody, operation).status_code
            if operation.is_change or operation.path in OF_USERS:
                assert status == 401, operation
            else:
                assert status in is_answered, operation


def test_me_says_who_the_token_stands_for(ada: Api, root: Api):
    assert ada.get("/v1/me").json() == {"id": "ada", "is_superuser": False}
    assert root.get("/v1/me").json() == {"id": "root", "is_superuser": True}


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        "a.b.c",
        token_of("ada", secret="another secret, just as long as the real one"),
        token_of("ada", exp=int(time.time()) - 10),
        token_of("ada", nbf=int(time.time()) + 86_400),
        token_of(""),
        jwt.encode({"is_superuser": True}, SECRET, algorithm="HS256"),
        jwt.encode({"sub": "ada"}, SECRET, algorithm="HS512"),
        jwt.encode({"sub": "ada"}, None, algorithm="none"),
        "pgj_" + "0" * 64,
    ],
)
def test_forged_and_expired_tokens_are_refused(base: str, token: str):
    with Api(base, token) as api:
        assert problem_of(api.get("/v1/me")) == "unauthorized"
        assert problem_of(api.post("workers")) == "unauthorized"
    with Api(base, token_of("ada")) as ada:
        assert ada.get("workers").json()["total"] == 0


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YWRhOmFkYQ==", token_of("ada")])
def test_other_ways_to_identify_are_refused(nobody: Api, header: str):
    assert problem_of(nobody.get("/v1/me", headers={"Authorization": header})) == "unauthorized"


def test_only_a_true_claim_makes_a_superuser(base: str):
    for claim in ("true", 1, [True], None):
        token = jwt.encode({"sub": "ada", "is_superuser": claim}, SECRET, algorithm="HS256")
        with Api(base, token) as api:
            assert api.get("/v1/me").json()["is_superuser"] is False


async def test_api_tokens_let_in_until_they_expire_or_are_revoked(serve: Serve, queue: Queue):
    base = serve(token_cache_seconds=0)
    made = await queue.create_token("robot", name="builds", is_superuser=True)
    short = await queue.create_token("robot", lifetime=timedelta(microseconds=1))
    with Api(base, made.token) as api, Api(base, short.token) as late:
        assert api.get("/v1/me").json() == {"id": "robot", "is_superuser": True}
        assert problem_of(late.get("/v1/me")) == "unauthorized"
        await queue.revoke_token(made.id)
        assert problem_of(api.get("/v1/me")) == "unauthorized"
    listed = await queue.list_tokens()
    assert {token.id for token in listed} == {made.id, short.id}
    assert made.token not in repr(listed)


async def test_a_token_verified_a_moment_ago_is_not_asked_for_again(serve: Serve, queue: Queue):
    made, other = await queue.create_token("robot"), await queue.create_token("other")
    with Api(serve(token_cache_seconds=60), made.token) as api:
        assert api.get("/v1/me").json()["id"] == "robot"
        await queue.revoke_token(made.id)
        assert api.get("/v1/me").json()["id"] == "robot"
        unknown = {"Authorization": f"Bearer {other.token}x"}
        assert problem_of(api.get("/v1/me", headers=unknown)) == "unauthorized"
        await queue.revoke_token(other.id)
        assert (
            problem_of(api.get("/v1/me", headers={"Authorization": f"Bearer {other.token}"}))
            == "unauthorized"
        )


async def test_no_more_tokens_are_remembered_than_fit(queue: Queue, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(token_cache, "MOST", 2)
    made = [await queue.create_token(f"robot {number}") for number in range(3)]
    for token in made:
        await token_cache.verified(token.token, queue, 60)
    for token in made:
        await queue.revoke_token(token.id)
    assert (await token_cache.verified(made[1].token, queue, 60)).user_id == "robot 1"
    with pytest.raises(Unauthorized):
        await token_cache.verified(made[0].token, queue, 60)


async def test_without_a_secret_only_api_tokens_count(serve: Serve, queue: Queue):
    made = await queue.create_token("robot")
    base = serve(auth_secret=None)
    with Api(base, made.token) as robot, Api(base, token_of("ada")) as ada:
        assert robot.get("/v1/me").status_code == 200
        assert problem_of(ada.get("/v1/me")) == "unauthorized"


@pytest.mark.postgres_only
@pytest.mark.parametrize(
    ("claims", "is_let_in"),
    [
        ({"aud": "pgjobs", "iss": "https://id.example"}, True),
        ({"aud": ["other", "pgjobs"], "iss": "https://id.example"}, True),
        ({"aud": "other", "iss": "https://id.example"}, False),
        ({"aud": "pgjobs", "iss": "https://other.example"}, False),
        ({"aud": "pgjobs"}, False),
        ({"iss": "https://id.example"}, False),
        ({}, False),
    ],
)
def test_audience_and_issuer_are_checked_where_they_are_set(
    serve: Serve, claims: dict[str, Any], is_let_in: bool
):
    base = serve(auth_audience="pgjobs", auth_issuer="https://id.example")
    with Api(base, token_of("ada", **claims)) as ada, Api(base, None) as browser:
        assert (ada.get("/v1/me").status_code == 200) is is_let_in
        signed_in = browser.post("session", json={"token": token_of("ada", **claims)})
        assert signed_in.is_success is is_let_in


def test_audience_and_issuer_do_not_matter_where_they_are_not_set(base: str):
    with Api(base, token_of("ada", aud="other", iss="https://other.example")) as ada:
        assert ada.get("/v1/me").status_code == 200
