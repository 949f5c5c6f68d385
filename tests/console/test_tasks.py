"""The list of tasks: what is asked for, what is kept while it changes, and what is never asked for."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.holding import holding_back
from tests.console.test_actions import JOB, fail_some, ids_of, plenty, with_queue
from tests.console.test_live import pretend, requests_of, submit_one, wait_until

LATER = """
minutes => {
  const now = Date.now;
  Date.now = () => now() + minutes * 60000;
}
"""


def lists_of(urls: list[str]) -> list[str]:
    return [url for url in urls if "/v1/joblib/tasks?" in url]


def test_the_last_hour_stays_the_same_list_while_the_hour_moves_on(console: Console, open_page: Open):
    async def told(queue: Queue) -> None:
        await plenty(queue)
        await queue.register_job(*JOB.split(":"), events="full")

    with_queue(console, told)
    page = open_page(console, "/tasks?hours=1")
    rows = page.locator("[data-row]")
    expect(page.locator(".pulse")).to_contain_text("Live")
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(100)
    before = ids_of(page)
    page.get_by_label(f"Select task {before[70]}").check()
    page.evaluate(LATER, 2)
    with_queue(console, submit_one)
    expect(page.get_by_text("131 match", exact=True)).to_be_visible()
    asked = requests_of(page)
    with_queue(console, submit_one)
    wait_until(page, lambda: len(lists_of(asked)) > 0)
    expect(page.get_by_text("132 match", exact=True)).to_be_visible()
    assert ids_of(page) == before
    expect(page.get_by_label(f"Select task {before[70]}")).to_be_checked()


NOWHERE = ["job=nothing", "job=a:b:missing", "room=a:b", "status=odd"]


def test_a_filter_that_nothing_can_fit_matches_no_task(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    for query in NOWHERE:
        expect(page.locator("[data-row]")).to_have_count(4)
        page.goto(console.at(f"/tasks?{query}"))
        expect(page.get_by_role("heading", name="No task matches")).to_be_visible()
        expect(page.get_by_text("0 match")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.locator("main [aria-busy]")).to_have_count(0)
        expect(page.locator("[data-row]")).to_have_count(0)
        page.get_by_role("link", name="clear them all").click()
    expect(page.locator("[data-row]")).to_have_count(4)


def test_a_list_that_cannot_be_had_says_so_instead_of_another(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    expect(page.locator("[data-row]")).to_have_count(4)
    # Live, the page might look again by itself before it is told to.
    page.keyboard.press("p")
    page.route("**/v1/joblib/tasks?*", lambda route: route.fulfill(status=503, body=""))
    page.get_by_role("button", name="Failed", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("[data-row]")).to_have_count(0)
    expect(page.locator("main [aria-busy]")).to_have_count(0)
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-row]")).to_have_count(3)


def test_what_is_typed_stays_while_the_search_follows(console: Console, open_page: Open):
    page = open_page(console, "/tasks")
    page.get_by_label("Search").press_sequentially("connection ")
    page.wait_for_url("**#/tasks?text=connection")
    expect(page.get_by_label("Search")).to_have_value("connection ")
    page.get_by_label("Search").press_sequentially("refused ")
    page.wait_for_url(lambda url: parse_qs(url.partition("?")[2]) == {"text": ["connection refused"]})
    page.get_by_label("Search").blur()
    expect(page.get_by_label("Search")).to_have_value("connection refused")


def test_clearing_the_last_folded_filter_leaves_it_open(console: Console, open_page: Open):
    page = open_page(console, "/tasks?room=lab", size="phone")
    room = page.get_by_label("Room")
    room.fill("")
    page.wait_for_url("**#/tasks")
    expect(page.get_by_role("heading", name="No tasks yet")).to_be_visible()
    expect(room).to_be_visible()
    expect(room).to_be_focused()


def test_whoever_comes_back_finds_as_many_rows_as_before(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks?status=pending")
    rows = page.locator("[data-row]")
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(100)
    rows.nth(80).locator("[data-open]").click()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    page.go_back()
    expect(rows).to_have_count(100)
    page.get_by_role("button", name="All", exact=True).click()
    expect(rows).to_have_count(50)


def test_the_button_for_more_keeps_the_focus(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks")
    more = page.get_by_role("button", name="Show more")
    more.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(100)
    expect(more).to_be_focused()


def test_a_refresh_takes_no_click_from_the_button_for_more(console: Console, open_page: Open):
    async def many(queue: Queue) -> None:
        for number in range(53):
            await queue.register_job("lab", "plenty", f"Job{number}")

    with_queue(console, many)
    page = open_page(console, "/jobs")
    expect(page.locator("[data-row]")).to_have_count(50)
    expect(page.locator(".pulse")).to_contain_text("Live")
    more = page.get_by_role("button", name="Show more")
    more.focus()
    with holding_back(page, "**/v1/joblib/jobs?*") as held:
        with_queue(console, lambda queue: queue.pause_job("lab:plenty:Job1"))
        wait_until(page, lambda: len(held) > 0)
        expect(more).to_be_enabled()
        expect(more).to_be_focused()
    more.click()
    expect(page.locator("[data-row]")).to_have_count(53)


def test_a_tab_that_is_opened_out_of_sight_asks_nothing_until_it_is_seen(console: Console, open_page: Open):
    page = open_page(console, "/tasks")
    expect(page.get_by_role("heading", name="No tasks yet")).to_be_visible()
    page.add_init_script(
        "Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true});"
    )
    asked = requests_of(page)
    page.reload()
    page.locator("#app > *").wait_for(state="attached")
    page.wait_for_timeout(500)
    assert [url for url in asked if "/v1/" in url] == []
    pretend(page, "visible")
    expect(page.get_by_role("heading", name="No tasks yet")).to_be_visible()


@pytest.mark.parametrize("how", ["paused", "hidden"])
def test_a_look_in_several_steps_rests_with_the_page(console: Console, open_page: Open, how: str):
    """A search that found nothing yet goes on from where it ended, step by step."""
    page = open_page(console, "/jobs")
    page.route("**/v1/joblib/tasks?*", lambda route: route.fulfill(json=SOME_MORE))
    page.goto(console.at("/tasks?text=rare"))
    further = page.get_by_role("button", name="Search further back")
    for _ in range(2):
        with page.expect_response(lambda answer: "before=" in answer.url):
            further.click()
        expect(further).not_to_have_attribute("aria-disabled", "true")
    expect(page.locator(".pulse")).to_contain_text("Live")
    page.wait_for_timeout(1000)
    page.unroute_all()
    with holding_back(page, "**/v1/joblib/tasks?*") as held:
        with_queue(console, fail_some)
        wait_until(page, lambda: len(held) == 1)
        rest(page, how)
        held.pop().fulfill(json=SOME_MORE)
        page.wait_for_timeout(500)
        assert held == []
        wake(page, how)
        wait_until(page, lambda: len(held) == 1)
        assert "before=" in held[0].request.url


def rest(page: Any, how: str) -> None:
    page.locator(".pulse").click() if how == "paused" else pretend(page, "hidden")


def wake(page: Any, how: str) -> None:
    page.locator(".pulse").click() if how == "paused" else pretend(page, "visible")


SOME_MORE = {"items": [], "next": "01890000-0000-7000-8000-000000000000"}
