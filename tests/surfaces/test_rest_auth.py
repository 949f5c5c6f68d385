"""Who may call, and what strangers are told."""

from __future__ import annotations

import time
from datetime import timedelta

import jwt
import pytest

from pgjobs.queue import Queue
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import SECRET, Api, problem_of, token_of

READS = (
    "workers",
    "rooms/lab/jobs",
    "rooms/lab/jobs/a:b:c",
    "rooms/lab/jobs/a:b:c/tasks",
    "rooms/lab/workers",
    "rooms/lab/tasks",
    "tasks/00000000-0000-8000-8000-000000000000",
    "rooms/lab/providers",
    "rooms/lab/providers/a:b:c/info",
    "schedules",
    "schedules/preview?cron=@daily",
    "schedules/00000000-0000-4000-8000-000000000000",
)
WRITES = (
    ("POST", "workers"),
    ("PATCH", "workers/00000000-0000-4000-8000-000000000000"),
    ("DELETE", "workers/00000000-0000-4000-8000-000000000000"),
    ("PUT", "rooms/lab/jobs"),
    ("POST", "rooms/lab/tasks/a:b:c"),
    ("POST", "tasks/claim"),
    ("PATCH", "tasks/00000000-0000-8000-8000-000000000000"),
    ("PUT", "rooms/lab/providers"),
    ("GET", "rooms/lab/providers/a:b:c"),
    ("POST", "providers/00000000-0000-4000-8000-000000000000/results"),
    ("DELETE", "providers/00000000-0000-4000-8000-000000000000"),
    ("PUT", "schedules"),
    ("POST", "schedules/00000000-0000-4000-8000-000000000000/run"),
    ("POST", "schedules/00000000-0000-4000-8000-000000000000/pause"),
    ("POST", "schedules/00000000-0000-4000-8000-000000000000/resume"),
    ("DELETE", "schedules/00000000-0000-4000-8000-000000000000"),
    ("GET", "/v1/me"),
)


def test_strangers_are_refused_everywhere(nobody: Api):
    answers = [nobody.get(path) for path in READS] + [nobody.request(*write) for write in WRITES]
    assert {(answer.status_code, problem_of(answer)) for answer in answers} == {(401, "unauthorized")}
    assert {answer.headers["www-authenticate"] for answer in answers} == {"Bearer"}


def test_reads_may_be_public_and_writes_never(serve: Serve):
    with Api(serve(public_reads=True), None) as nobody:
        assert {nobody.get(path).status_code for path in READS} <= {200, 404}
        assert {nobody.request(*write).status_code for write in WRITES} == {401}


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


async def test_api_tokens_let_in_until_they_expire_or_are_revoked(base: str, queue: Queue):
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


async def test_without_a_secret_only_api_tokens_count(serve: Serve, queue: Queue):
    made = await queue.create_token("robot")
    base = serve(auth_secret=None)
    with Api(base, made.token) as robot, Api(base, token_of("ada")) as ada:
        assert robot.get("/v1/me").status_code == 200
        assert problem_of(ada.get("/v1/me")) == "unauthorized"
