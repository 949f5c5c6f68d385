"""Signing in with a browser: what the cookie may do, and what another site may not do with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from http.cookies import SimpleCookie
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request

from pgjobs.errors import Unauthorized
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import (
    ApiSettings,
    current_active_user,
    get_queue,
    install,
    session_user,
    sign_in_link,
)
from pgjobs.server.dependencies import QueueDep, SettingsDep
from tests.surfaces.conftest import Serve
from tests.surfaces.operations import operations
from tests.surfaces.processes import Server
from tests.surfaces.rest_server import Api, problem_of, serving, token_of

pytestmark = pytest.mark.postgres_only

COOKIE = "pgjobs_session"


def sign_in(browser: Api, token: str) -> dict[str, Any]:
    answer = browser.post("session", json={"token": token})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.fixture
def browser(base: str) -> Iterator[Api]:
    """Somebody who has signed in, and sends nothing but the cookie."""
    with Api(base, None) as browser:
        sign_in(browser, token_of("ada"))
        yield browser


def csrf(browser: Api) -> dict[str, str]:
    return {"X-CSRF-Token": browser.get("session").json()["csrf_token"]}


def test_a_token_becomes_a_cookie_that_no_script_can_read(nobody: Api):
    answer = nobody.post("session", json={"token": token_of("ada")})
    cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "strict", "/")
    assert not cookie["secure"]
    assert 43_100 < int(cookie["max-age"]) <= 43_200
    assert cookie.value not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_over_https_the_cookie_stays_there(nobody: Api):
    secured = {"X-Forwarded-Proto": "https"}
    answer = nobody.post("session", json={"token": token_of("ada")}, headers=secured)
    assert SimpleCookie(answer.headers["set-cookie"])[COOKIE]["secure"] is True


def test_the_cookie_says_who_is_signed_in(nobody: Api):
    assert problem_of(nobody.get("session")) == "unauthorized"
    opened = sign_in(nobody, token_of("root", is_superuser=True))
    shown = nobody.get("session").json()
    assert shown == opened
    assert (shown["id"], shown["is_superuser"]) == ("root", True)
    assert nobody.get("/v1/me").json() == {"id": "root", "is_superuser": True}


def test_a_bearer_may_sign_in_and_needs_no_csrf_token(ada: Api):
    assert ada.get("session").json()["csrf_token"] is None
    assert ada.post("session").status_code == 201
    assert ada.cookies[COOKIE]
    # The cookie is sent along, but the header counts.
    assert ada.post("workers").status_code == 201
    assert ada.get("session").json()["csrf_token"] is None


@pytest.mark.parametrize("token", ["", "nonsense", "pgj_" + "0" * 64, "pgj_\0", token_of("ada", exp=1)])
def test_nobody_signs_in_with_a_token_that_does_not_count(nobody: Api, token: str):
    answer = nobody.post("session", json={"token": token})
    assert answer.status_code in (401, 422)
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("value", ["", "pgc_" + "0" * 64, "nonsense", "pgj_x", "'; --"])
def test_a_forged_cookie_lets_nobody_in(nobody: Api, value: str):
    answer = nobody.get("/v1/me", headers={"Cookie": f"{COOKIE}={value}"})
    assert problem_of(answer) == "unauthorized"


def test_reads_and_event_streams_need_the_cookie_only(browser: Api):
    assert browser.get("workers").status_code == 200
    with browser.stream("GET", "events") as stream:
        assert stream.status_code == 200
        assert next(stream.iter_lines()).startswith("id: ")


FROM_HERE: list[dict[str, str]] = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Origin": "{base}"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "{base}"},
]
FROM_ELSEWHERE: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "https://evil.example"},
    {"Origin": "{secure}"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "{secure}"},
    {"Origin": "null"},
    {"Origin": "{base}.evil.example"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "{base}"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
]
"""What a browser says about where a request comes from."""


@pytest.mark.parametrize(
    "place", [*FROM_HERE, *FROM_ELSEWHERE], ids=lambda place: "+".join(place.values()) or "bare"
)
def test_a_change_by_cookie_needs_our_own_page_and_its_token(base: str, browser: Api, place: dict[str, str]):
    with Api(base, None) as other:
        tokens = {
            "wrong": {"X-CSRF-Token": "0" * 64},
            "other session's": {"X-CSRF-Token": sign_in(other, token_of("ada"))["csrf_token"]},
            "missing": {},
            "right": csrf(browser),
        }
    sent = {
        name: value.format(base=base, secure=base.replace("http:", "https:")) for name, value in place.items()
    }
    for token, header in tokens.items():
        answer = browser.post("workers", headers=sent | header)
        if place in FROM_HERE and token == "right":
            assert answer.status_code == 201
        else:
            assert (answer.status_code, problem_of(answer)) == (403, "forbidden"), token
            assert browser.get("workers").json()["total"] == 0, token


def test_a_proxy_says_how_the_page_was_asked_for(base: str, browser: Api):
    secure = base.replace("http:", "https:")
    for proto, origin, status in (("https", secure, 201), ("https", base, 403), ("http", secure, 403)):
        sent = {"X-Forwarded-Proto": proto, "Origin": origin, **csrf(browser)}
        assert browser.post("workers", headers=sent).status_code == status, (proto, origin)


def test_every_change_of_the_api_is_checked(base: str):
    with Api(base, None) as browser:
        for operation in operations():
            method, path = operation[:2]
            if not operation.is_change or (method, path) == ("POST", "/v1/joblib/session"):
                continue
            sign_in(browser, token_of("root", is_superuser=True))
            assert problem_of(browser.request(method, path)) == "forbidden", operation
            answer = browser.request(method, path, headers=csrf(browser))
            assert answer.status_code not in (401, 403, 500), operation


def test_another_site_cannot_sign_a_browser_in(nobody: Api):
    for place in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = nobody.post("session", json={"token": token_of("mallory")}, headers=place)
        assert problem_of(answer) == "forbidden"
        assert "set-cookie" not in answer.headers


def test_an_origin_may_be_trusted(serve: Serve):
    page = {"Origin": "https://console.example", "Sec-Fetch-Site": "same-site"}
    with Api(serve(trusted_origins=["https://console.example"]), None) as browser:
        sign_in(browser, token_of("ada"))
        assert browser.post("workers", headers=page | csrf(browser)).status_code == 201
        assert problem_of(browser.post("workers", headers=page)) == "forbidden"


def test_signing_out_ends_the_session_everywhere(base: str, browser: Api):
    value = browser.cookies[COOKIE]
    assert browser.delete("session", headers=csrf(browser)).status_code == 204
    assert COOKIE not in browser.cookies
    assert browser.delete("session").status_code == 204
    with Api(base, None) as thief:
        assert problem_of(thief.get("/v1/me", headers={"Cookie": f"{COOKIE}={value}"})) == "unauthorized"


async def test_a_session_does_not_outlive_its_api_token(nobody: Api, queue: Queue):
    made = await queue.create_token("robot", lifetime=timedelta(minutes=5))
    sign_in(nobody, made.token)
    assert made.expires_at is not None
    assert nobody.get("session").json()["expires_at"] == made.expires_at.isoformat().replace("+00:00", "Z")
    await queue.revoke_token(made.id)
    assert problem_of(nobody.get("/v1/me")) == "unauthorized"


def test_a_session_does_not_outlive_its_signed_token(nobody: Api):
    answer = nobody.post("session", json={"token": token_of("ada", exp=int(time.time()) + 90)})
    assert 0 < int(SimpleCookie(answer.headers["set-cookie"])[COOKIE]["max-age"]) <= 90


def test_a_session_expires(serve: Serve):
    with Api(serve(session_seconds=1), None) as browser:
        answer = browser.post("session", json={"token": token_of("ada")})
        value = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
        deadline = time.monotonic() + 10
        while browser.get("/v1/me", headers=value).status_code == 200:
            assert time.monotonic() < deadline
        assert problem_of(browser.get("/v1/me", headers=value)) == "unauthorized"


async def test_a_link_signs_in_once(base: str, queue: Queue, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    link = await sign_in_link(queue, "ada", base=f"{base}/ui", is_superuser=True)
    with Api(base, None) as browser, Api(base, None) as late:
        answer = browser.get(link)
        assert (answer.status_code, answer.headers["location"]) == (303, "./")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert browser.get("/v1/me").json() == {"id": "ada", "is_superuser": True}
        assert browser.post("workers", headers=csrf(browser)).status_code == 201
        assert problem_of(late.get(link)) == "unauthorized"
        assert COOKIE not in late.cookies
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("pgjobs")]
    assert any("/ui/login" in line for line in ours)
    assert not any("sign_in" in line for line in ours)


async def test_a_browser_with_a_link_that_does_not_count_any_more_goes_on_where_it_can(
    base: str, queue: Queue
):
    seen = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    link = await sign_in_link(queue, "ada", base=f"{base}/ui")
    with Api(base, None) as browser, Api(base, None) as late:
        assert browser.get(link, headers=seen).headers["location"] == "./"
        again = browser.get(link, headers=seen)
        assert (again.status_code, again.headers["location"]) == (303, "./"), "it is signed in already"
        assert "set-cookie" not in again.headers
        for answer in (
            late.get(link, headers=seen),
            late.get("/ui/login?sign_in=made-up", headers=seen),
            late.get(link, headers={**seen, "Cookie": f"{COOKIE}=pgc_{'0' * 40}"}),
        ):
            assert (answer.status_code, answer.headers["location"]) == (303, "./#/?link=old")
            assert answer.headers["cache-control"] == "no-store"
        assert COOKIE not in late.cookies


def test_credentials_for_a_proxy_are_not_taken_for_ours(browser: Api):
    proxied = {"Authorization": "Basic YWRhOmh1bnRlcjI="}
    assert browser.get("/v1/me", headers=proxied).json()["id"] == "ada"
    assert problem_of(browser.post("workers", headers=proxied)) == "forbidden"
    assert browser.post("workers", headers={**proxied, **csrf(browser)}).status_code == 201
    borne = {"Authorization": f"bearer {token_of('bob')}"}
    assert browser.get("/v1/me", headers=borne).json()["id"] == "bob"
    assert problem_of(browser.get("/v1/me", headers={"Authorization": "Bearer wrong"})) == "unauthorized"


async def test_a_link_can_be_redeemed_by_a_page(nobody: Api, queue: Queue):
    made = await queue.create_sign_in("ada")
    assert nobody.post("session", json={"sign_in": made.sign_in}).json()["id"] == "ada"
    assert problem_of(nobody.post("session", json={"sign_in": made.sign_in})) == "unauthorized"


@pytest.mark.parametrize("sent", [{"Sec-Purpose": "prefetch;prerender"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_a_link_is_not_used_up_by_looking_ahead(base: str, queue: Queue, sent: dict[str, str]):
    link = await sign_in_link(queue, "ada", base=f"{base}/ui")
    with Api(base, None) as browser:
        assert problem_of(browser.get(link, headers=sent)) == "forbidden"
        assert browser.get(link, headers={"Sec-Fetch-Site": "none"}).status_code == 303


async def test_a_link_expires(nobody: Api, queue: Queue):
    made = await queue.create_sign_in("ada", lifetime=timedelta(microseconds=1))
    assert problem_of(nobody.post("session", json={"sign_in": made.sign_in})) == "unauthorized"


def test_other_servers_of_the_queue_know_the_session(queue_url: str, queue: Queue, browser: Api):
    server = Server(queue_url)
    try:
        with Api(server.start(), None) as elsewhere:
            elsewhere.cookies.set(COOKIE, browser.cookies[COOKIE])
            assert elsewhere.get("/v1/me").json()["id"] == "ada"
            assert elsewhere.post("workers", headers=csrf(browser)).status_code == 201
    finally:
        server.stop()


async def test_expired_sessions_leave_no_rows(queue: Queue):
    for _ in range(3):
        await queue.open_session("ada", lifetime=timedelta(microseconds=1))
        await queue.create_sign_in("ada", lifetime=timedelta(microseconds=1))
    kept = await queue.open_session("ada")
    assert (await queue.verify_session(kept.session)).user_id == "ada"
    assert await queue.close_session(kept.session) is True
    assert await queue.close_session(kept.session) is False


def test_a_host_with_its_own_users_is_not_affected(queue_url: str, queue: Queue):
    app = _host(queue_url)
    app.dependency_overrides[current_active_user] = lambda: SimpleNamespace(id=7, is_superuser=False)
    with serving(app) as base, Api(base, None) as browser:
        assert browser.get("session").json() == {
            "id": "7",
            "is_superuser": False,
            "expires_at": None,
            "csrf_token": None,
        }
        assert browser.post("workers").status_code == 201
        assert browser.get("/ui/login?sign_in=x").status_code == 404


async def test_a_host_may_let_our_sessions_in_beside_its_own_users(queue_url: str, queue: Queue):
    async def host_user(request: Request, queue: QueueDep, settings: SettingsDep) -> Any:
        if request.headers.get("x-host-user"):
            return SimpleNamespace(id=request.headers["x-host-user"], is_superuser=False)
        if (known := await session_user(request, queue, settings)) is None:
            raise Unauthorized("Sign in first")
        return known

    app = _host(queue_url)
    app.dependency_overrides[current_active_user] = host_user
    made = await queue.create_token("ada")
    with serving(app) as base, Api(base, None) as browser:
        assert browser.get("/v1/me", headers={"x-host-user": "eve"}).json()["id"] == "eve"
        assert problem_of(browser.get("/v1/me")) == "unauthorized"
        sign_in(browser, made.token)
        assert browser.get("/v1/me").json()["id"] == "ada"
        assert problem_of(browser.post("workers")) == "forbidden"
        assert browser.post("workers", headers=csrf(browser)).status_code == 201


def _host(url: str) -> FastAPI:
    app = FastAPI()
    install(app, settings=ApiSettings(public_reads=False))
    opened: dict[str, Queue] = {}

    async def connect() -> Queue:
        if "queue" not in opened:
            opened["queue"] = await Queue.connect(url)
        return opened["queue"]

    app.dependency_overrides[get_queue] = connect
    return app


def test_cookies_may_have_another_name(serve: Serve):
    with Api(serve(session_cookie="jobs"), None) as browser:
        sign_in(browser, token_of("ada"))
        assert list(browser.cookies) == ["jobs"]
        assert browser.get("/v1/me").status_code == 200


def test_a_cookie_of_somebody_else_is_not_ours(nobody: Api):
    assert isinstance(nobody, httpx.Client)
    answer = nobody.get("/v1/me", headers={"Cookie": "another=pgc_1"})
    assert problem_of(answer) == "unauthorized"
