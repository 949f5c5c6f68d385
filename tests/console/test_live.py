"""Live, paused, hidden, signed in and out, mounted elsewhere: what keeps the console honest."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from pgjobs.app import create_app
from pgjobs.drivers.sqlite_functions import short_duration
from pgjobs.queue import Queue
from pgjobs.rest import console as console_router
from pgjobs.rest import router, sign_in_link
from tests.console.conftest import Console, Open, quiet
from tests.console.staging import Stage
from tests.console.test_actions import JOB, fail_some, status_of, with_queue
from tests.console.test_looks import PAGES, serious, settled
from tests.surfaces.rest_server import serving, token_of


async def submit_one(queue: Queue) -> None:
    await queue.submit_task(JOB, {"to": "somebody new"})


def requests_of(page: Any) -> list[str]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_changes_show_without_a_reload(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=pending")
    expect(page.locator(".pulse")).to_contain_text("Live")
    expect(page.get_by_role("row")).to_have_count(2)
    with_queue(console, submit_one)
    expect(page.get_by_role("row")).to_have_count(3, timeout=10000)
    expect(page.get_by_text("2 match")).to_be_visible()


def test_a_task_shows_its_progress_and_end_live(console: Console, open_page: Open):
    task = with_queue(console, fail_some)[3]
    page = open_page(console, f"/tasks/{task}")
    expect(page.get_by_text("Why is it waiting?")).to_be_visible()

    async def work(queue: Queue) -> None:
        [worker] = await queue.list_workers()
        [lease] = await queue.claim_tasks(worker.id, start=True)
        await queue.report_progress([lease], [{"done": 1, "total": 4}])

    with_queue(console, work)
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "25")

    async def end(queue: Queue) -> None:
        [worker] = await queue.list_workers()
        await queue.retire_worker(worker.id)

    with_queue(console, end)
    expect(page.locator(".head")).to_contain_text("failed")
    expect(page.get_by_text("Worker disconnected").first).to_be_visible()


def test_rows_under_a_selection_do_not_jump(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    page.get_by_label(f"Choose task {tasks[0]}").check()
    with_queue(console, submit_one)
    expect(page.get_by_text("5 in all")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.get_by_role("row")).to_have_count(5)
    expect(page.get_by_label(f"Choose task {tasks[0]}")).to_be_checked()
    page.get_by_role("button", name="Choose none").click()
    with_queue(console, submit_one)
    expect(page.get_by_role("row")).to_have_count(7)


def test_a_tab_has_one_stream_and_closes_it_when_nobody_looks(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/database")
    expect(page.locator(".pulse")).to_contain_text("Live")
    asked = requests_of(page)
    closed: list[str] = []
    page.on("requestfailed", lambda request: closed.append(request.url))
    page.reload()
    for name in ("Tasks", "Jobs", "Workers", "Providers", "Schedules", "Overview"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(page.locator(".pulse")).to_contain_text("Live")
    assert len(streams(asked)) == 1
    closed.clear()
    page.locator(".pulse").click()
    expect(page.locator(".pulse")).to_contain_text("Paused")
    wait_until(page, lambda: len(streams(closed)) == 1)


def streams(urls: list[str]) -> list[str]:
    return [url for url in urls if url.endswith("/v1/joblib/events")]


def test_what_is_on_its_way_asks_for_nothing_more_once_paused(console: Console, open_page: Open):
    """A hint that comes while an answer is on its way is heeded after the answer, but not on a still page."""
    with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=pending")
    expect(page.locator(".pulse")).to_contain_text("Live")
    expect(page.get_by_role("row")).to_have_count(2)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/v1/joblib/tasks?*", hold)
    with_queue(console, submit_one)
    wait_until(page, lambda: len(held) == 1)
    with page.expect_response("**/v1/joblib/tasks/count*"):
        with_queue(console, submit_one)
    page.locator(".pulse").click()
    expect(page.locator(".pulse")).to_contain_text("Paused")
    asked = requests_of(page)
    held[0].continue_()
    expect(page.get_by_role("row")).to_have_count(4)
    assert asked == []


def wait_until(page: Any, happened: Callable[[], bool]) -> None:
    for _ in range(200):
        if happened():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen within 10 seconds")


def test_a_hidden_page_does_not_look_for_a_server_that_is_away(console: Console, open_page: Open):
    page = open_page(console)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.route("**/v1/joblib/**", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    pretend(page, "hidden")
    asked = requests_of(page)
    page.wait_for_timeout(5500)
    assert asked == []
    page.unroute("**/v1/joblib/**")
    pretend(page, "visible")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


@pytest.mark.parametrize("how", ["paused", "hidden"])
def test_nothing_is_asked_while_paused_or_hidden(console: Console, open_page: Open, how: str):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=pending")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.locator(".pulse")).to_contain_text("Live")
    if how == "paused":
        page.locator(".pulse").click()
        expect(page.locator(".pulse")).to_contain_text("Paused")
    else:
        pretend(page, "hidden")
        expect(page.locator(".pulse")).to_contain_text("Resting")
    page.wait_for_timeout(300)
    asked = requests_of(page)
    with_queue(console, submit_one)
    # Longer than it takes a hint to be heeded, and than the time between two looks without a stream.
    page.wait_for_timeout(5500)
    assert asked == []
    if how == "paused":
        page.locator(".pulse").click()
    else:
        pretend(page, "visible")
    expect(page.get_by_role("row")).to_have_count(3)
    assert any("/events" in url for url in asked)


def pretend(page: Any, state: str) -> None:
    """Headless pages are never hidden; the page asks the document, so the document is asked to say so."""
    page.evaluate(
        """state => {
          Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_without_a_stream_it_looks_now_and_then(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/database")
    page.route("**/v1/joblib/events", lambda route: route.abort())
    page.goto(console.at("/tasks?status=pending"))
    page.reload()
    expect(page.locator(".pulse")).to_contain_text("Looking every 5 s")
    with_queue(console, submit_one)
    expect(page.get_by_role("row")).to_have_count(3, timeout=15000)


def test_a_server_that_is_away_is_said_and_come_back_from(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    expect(page.get_by_role("row")).to_have_count(5)
    # Live, the page would look again by itself, perhaps just before it is told to.
    page.keyboard.press("p")
    page.route("**/v1/joblib/**", lambda route: route.abort())
    page.get_by_role("button", name="Failed", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_role("row")).to_have_count(5)
    page.unroute("**/v1/joblib/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("row")).to_have_count(4)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_counts_that_cannot_be_had_degrade_to_a_dash(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/database")
    page.route("**/v1/joblib/tasks/count*", lambda route: route.fulfill(status=503, body=""))
    page.goto(console.at("/tasks"))
    expect(page.get_by_role("row")).to_have_count(5)
    expect(page.get_by_text("— in all")).to_be_visible()


def test_signing_in_with_a_token_and_out_again(console: Console, open_page: Open):
    page = open_page(console, "/jobs", user=None)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Token").fill(token_of("ada", is_superuser=True))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)") == "{}{}"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.context.cookies() == []


def test_a_one_time_link_signs_in_once(console: Console, open_page: Open):
    link = with_queue(
        console, lambda queue: sign_in_link(queue, "ada", base=f"{console.base}/ui/", is_superuser=True)
    )
    page = open_page(console, user=None)
    page.goto(link)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert "sign_in" not in page.url
    page.goto(link)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_text("The link was used already")).to_be_visible()
    assert serious(page) == []
    page.get_by_label("Token").fill(token_of("ada"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.url.endswith("/ui/#/")


def test_a_session_that_ends_asks_to_sign_in_again(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    page.context.clear_cookies()
    page.get_by_role("link", name="Workers").click()
    expect(page.get_by_label("Token")).to_be_visible()


VERBS = re.compile(
    r"^(Retry|Busy|Ignore|Unignore|Cancel|Ask to stop|Pause|Resume|Run now|Archive|Unarchive|Delete|Retire|Invalidate)\b"
)
OPERATED = {
    "waiting-task",
    "running-task",
    "failed-task",
    "jobs",
    "workers",
    "providers",
    "schedules",
    "cleanup",
}


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_a_reader_sees_everything_and_is_offered_nothing(looked_at: Console, open_page: Open, size: str):
    reader = open_page(looked_at, user="ada", is_superuser=False, size=size)
    operator = open_page(looked_at, size=size)
    methods: set[str] = set()
    reader.on("request", lambda asked: methods.add(asked.method))
    for name, (place, text) in PAGES.items():
        if name == "sign-in":
            continue
        for page in (reader, operator):
            page.goto(looked_at.at(place.format(**looked_at.stage.ids)))
            settled(page, text)
        rows = operator.locator("main [data-row]").count()
        expect(reader.locator("main [data-row]")).to_have_count(rows)
        offered = operator.locator("main").get_by_role("button", name=VERBS).count()
        assert (offered > 0) is (name in OPERATED), name
        expect(reader.locator("main").get_by_role("button", name=VERBS)).to_have_count(0)
        expect(reader.locator("main").get_by_role("checkbox", name="Choose")).to_have_count(0)
        reader.keyboard.press("j")
        reader.keyboard.press("r")
        expect(reader.get_by_role("dialog")).to_have_count(0)
    assert methods == {"GET"}


ASK_ALL = """
async task => {
  const session = await (await fetch("../v1/joblib/session")).json();
  const headers = {"X-CSRF-Token": session.csrf_token, "Content-Type": "application/json"};
  const ask = (path, method = "POST") => fetch(`../v1/joblib/${path}`, {method, headers, body: "{}"});
  const read = async (path) => (await (await fetch(`../v1/joblib/${path}`)).json()).items[0];
  const { id: job } = await read("jobs"), { id: worker } = await read("workers/status");
  const { id: provider } = await read("providers/status"), { id: schedule } = await read("schedules");
  const { run_id: run } = await read("../../api/maintenance/incomplete-cleanup?status=blocked");
  const steps = [
    ...["retry", "ignore", "unignore", "cancel"].map((verb) => [`tasks/${task}/${verb}`]),
    ["tasks/actions"], ...["pause", "resume", "limit"].map((verb) => [`jobs/${job}/${verb}`]),
    [`workers/${worker}`, "DELETE"], [`providers/${provider}/invalidate`],
    ["schedules", "PUT"], [`schedules/${schedule}`, "DELETE"],
    ...["run", "pause", "resume"].map((verb) => [`schedules/${schedule}/${verb}`]),
    [`../../api/jobs/${job}/archive`], [`../../api/jobs/${job}/unarchive`], [`../../api/jobs/${job}`, "DELETE"],
    ...["retry-now", "ignore", "unignore"].map((verb) => [`../../api/maintenance/incomplete-cleanup/${run}/${verb}`]),
  ];
  const answers = [];
  for (const [path, method] of steps) answers.push([path, (await ask(path, method)).status]);
  return answers;
}
"""


def test_a_reader_who_asks_all_the_same_is_refused_by_the_server(looked_at: Console, open_page: Open):
    task = looked_at.stage.ids["failed"]
    page = open_page(looked_at, user="ada", is_superuser=False)
    answers = page.evaluate(ASK_ALL, task)
    assert [path for path, status in answers if status != 403] == []
    assert status_of(looked_at, task) == "failed"


def test_a_change_without_the_csrf_token_is_refused(console: Console, open_page: Open):
    task = with_queue(console, fail_some)[0]
    page = open_page(console, f"/tasks/{task}")
    status = page.evaluate(
        """async task => (await fetch(`../v1/joblib/tasks/${task}/retry`, {
          method: "POST", headers: {"Content-Type": "application/json"}, body: "{}",
        })).status""",
        task,
    )
    assert status == 403
    assert status_of(console, task) == "failed"


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
    page.get_by_label(f"Choose task {task}").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Retry").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_text("1 task started over")).to_be_visible()
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
    for seconds in (1, 40, 99.4, 100, 149, 151, 899, 3540, 7200, 40_000, 172_800, 864_000):
        assert page.evaluate(say, seconds) == short_duration(seconds)
