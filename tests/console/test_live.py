"""Live, paused, hidden, without a server: the page shows what is, and asks for no more than it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pgjobs.queue.queue import Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, fail_some, with_queue


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
    page.get_by_label(f"Select task {tasks[0]}").check()
    with_queue(console, submit_one)
    expect(page.get_by_text("5 in all")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.get_by_role("row")).to_have_count(5)
    expect(page.get_by_label(f"Select task {tasks[0]}")).to_be_checked()
    page.get_by_role("button", name="Clear selection").click()
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
        expect(page.locator(".pulse")).to_contain_text("Paused")
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
    expect(page.locator(".pulse")).to_contain_text("Polling every 5 s")
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
