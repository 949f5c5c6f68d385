"""Served elsewhere: below a prefix, in a host application, under strict rules for what may run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from pgjobs.server import console as console_router
from pgjobs.server import router
from pgjobs.server.app import create_app
from tests.console.conftest import Console, Open, quiet
from tests.console.staging import Stage
from tests.console.test_actions import fail_some, with_queue
from tests.surfaces.rest_server import serving


def mounted(url: str) -> FastAPI:
    """The whole application as a part of another."""
    inner = create_app(url=url, settings=quiet())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with inner.router.lifespan_context(inner):
            yield

    app = FastAPI(lifespan=lifespan)
    app.mount("/tools/queue", inner)
    return app


def included(_url: str) -> FastAPI:
    """The routers in another application, below a prefix; it has a database in its environment."""
    app = FastAPI()
    app.state.pgjobs_settings = quiet().model_copy(update={"public_reads": False})
    app.include_router(router, prefix="/tools/queue")
    app.include_router(console_router, prefix="/tools/queue")
    return app


@pytest.fixture(params=[mounted, included])
def elsewhere(
    request: pytest.FixtureRequest, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Console]:
    monkeypatch.setenv("PGJOBS_DATABASE_URL", database_url)
    with serving(request.param(database_url), release=False) as base:
        yield Console(base, database_url, Stage())


def test_it_works_below_a_prefix_in_a_host_application(elsewhere: Console, open_page: Open):
    task = with_queue(elsewhere, fail_some)[0]
    page = open_page(elsewhere, "/tasks", path="/tools/queue/ui/")
    page.get_by_label(f"Select task {task}").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Retry").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_text("1 task returned to the queue")).to_be_visible()
    page.goto(f"{elsewhere.base}/tools/queue/ui")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_files_are_strict_about_what_may_run(console: Console, open_page: Open):
    page = open_page(console)
    ask = page.context.request
    answer = ask.get(f"{console.base}/ui/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    again = ask.get(f"{console.base}/ui/", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status == 304
    for path in ("nothing.js", "../app.py", "..%2f..%2fapp.py", "vendor", "app.py", "%00.js"):
        missing = ask.get(f"{console.base}/ui/{path}")
        assert missing.status == 404, path


def test_the_page_rounds_durations_as_the_sentences_on_it_do(console: Console, open_page: Open):
    page = open_page(console, "/")
    say = "async (seconds) => (await import(new URL('format.js', document.baseURI))).roughly(seconds)"
    told = {
        1: "1 s",
        40: "40 s",
        99.4: "99 s",
        100: "2 min",
        149: "2 min",
        151: "3 min",
        899: "15 min",
        3540: "59 min",
        7200: "2 h",
        40_000: "11 h",
        172_800: "2 d",
        864_000: "10 d",
    }
    assert {seconds: page.evaluate(say, seconds) for seconds in told} == told
