"""When the server is away or somebody else answers: it is said where one looks, and what was there stays."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from pgjobs.queue.queue import Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, fail_some, status_of, with_queue
from tests.console.test_live import pretend, requests_of
from tests.surfaces.rest_server import token_of

AWAY = "cannot be reached"


def leave(page: Any) -> None:
    """The server goes; what it has sent stays."""
    page.route("**/v1/**", lambda route: route.abort())
    page.route("**/api/**", lambda route: route.abort())


async def one_job(queue: Queue) -> None:
    await queue.register_job(*JOB.split(":"))


def test_signing_in_says_that_the_server_is_away(console: Console, open_page: Open):
    page = open_page(console, user=None)
    page.get_by_label("Token").fill("any")
    leave(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text(AWAY)
    expect(page.get_by_role("button", name="Sign in")).to_be_enabled()


def test_signing_out_says_that_the_server_is_away(console: Console, open_page: Open):
    page = open_page(console, "/jobs", size="phone")
    page.get_by_role("button", name="Menu").click()
    leave(page)
    page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
    toast = page.locator("dialog .toast", has_text="You are still signed in")
    expect(toast).to_be_visible()
    box = toast.bounding_box()
    assert page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('.toast') !== null",
        [box["x"] + 20, box["y"] + 10],
    ), "nothing lies over it"


def test_deleting_a_job_says_that_the_server_is_away_and_can_be_tried_again(
    console: Console, open_page: Open
):
    with_queue(console, one_job)
    page = open_page(console, "/jobs")
    page.get_by_role("button", name="Delete Welcome").click()
    dialog = page.get_by_role("dialog")
    leave(page)
    dialog.get_by_role("button", name="Archive", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(AWAY)
    page.unroute_all()
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/archive", hold)
    dialog.get_by_role("button", name="Archive", exact=True).click()
    expect(dialog.get_by_role("button", name="Archive", exact=True)).to_be_disabled()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    held[0].continue_()
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize(
    ("place", "button", "text"),
    [
        ("/maintenance/cleanup?status=blocked", "Nightly: details of run", "https://dav.example.org/backups"),
        ("/schedules", "refresh-thumbnails: details", "Missed runs are run once, together"),
    ],
)
def test_details_stay_when_the_server_goes(
    looked_at: Console, open_page: Open, place: str, button: str, text: str
):
    page = open_page(looked_at, place)
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(text)
    leave(page)
    page.context.set_offline(True)
    # Whoever comes back to a tab finds it looking.
    pretend(page, "hidden")
    pretend(page, "visible")
    expect(dialog.get_by_role("alert")).to_contain_text(AWAY)
    # Once the server is back the page might find it before anybody is told to try.
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog.get_by_role("alert")).to_contain_text(AWAY)
    expect(dialog).to_contain_text(text)
    page.context.set_offline(False)
    page.unroute_all()
    expect(dialog.get_by_role("alert")).to_have_count(0, timeout=30_000)
    expect(dialog).to_contain_text(text)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"content_type": "text/html", "body": "<h1>Sign in to the proxy</h1>"}, "only part of one"),
        ({"content_type": "application/json", "body": '{"items": [{"id": '}, "only part of one"),
        ({"status": 502, "content_type": "text/html", "body": "<h1>Bad gateway</h1>"}, "Bad Gateway"),
    ],
)
def test_an_answer_of_somebody_else_is_a_problem_that_is_shown(
    console: Console, open_page: Open, answer: dict[str, Any], said: str
):
    page = open_page(console, "/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    # Live, the page might look again by itself before it is told to.
    page.keyboard.press("p")
    page.route("**/v1/joblib/workers/status*", lambda route: route.fulfill(**answer))
    page.get_by_role("link", name="Workers").click()
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="No workers")).to_be_visible()


@pytest.mark.parametrize("user", ["ops", "somebody else"])
def test_signing_in_again_in_another_tab_breaks_nothing_in_the_first(
    console: Console, open_page: Open, user: str
):
    task = with_queue(console, fail_some)[0]
    page = open_page(console, f"/tasks/{task}")
    page.get_by_role("button", name="Retry").click()
    again = page.context.request.post(
        f"{console.base}/v1/joblib/session", data={"token": token_of(user, is_superuser=True)}
    )
    assert again.status == 201
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Retry", exact=True).click()
    if user != "ops":
        expect(dialog.get_by_role("alert")).to_contain_text("You are signed in as somebody else now")
        assert status_of(console, task) == "failed"
        dialog.get_by_role("button", name="Retry", exact=True).click()
    expect(dialog).to_have_count(0)
    assert status_of(console, task) == "pending"


def test_a_tab_that_was_opened_behind_others_asks_nothing_until_it_is_seen(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    page.add_init_script(
        'Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true})'
    )
    asked = requests_of(page)
    page.reload()
    page.wait_for_timeout(1500)
    assert [url for url in asked if "/v1/" in url] == []
    pretend(page, "visible")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()


def test_a_page_that_is_turned_to_while_hidden_waits_to_be_seen(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    pretend(page, "hidden")
    asked = requests_of(page)
    page.evaluate("location.hash = '#/workers'")
    expect(page.get_by_role("heading", name="Workers", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    assert [url for url in asked if "/v1/" in url] == []
    pretend(page, "visible")
    expect(page.get_by_role("heading", name="No workers")).to_be_visible()


def test_a_stream_that_was_refused_is_opened_again(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    expect(page.locator(".pulse")).to_contain_text("Live")
    page.route("**/v1/joblib/events", lambda route: route.fulfill(status=502, body="Bad gateway"))
    page.locator(".pulse").click()
    page.locator(".pulse").click()
    expect(page.locator(".pulse")).to_contain_text("Polling every 5 s")
    page.unroute_all()
    expect(page.locator(".pulse")).to_contain_text("Live", timeout=15_000)
    with_queue(console, one_job)
    expect(page.get_by_role("link", name="Welcome")).to_be_visible()


def test_charts_that_cannot_be_had_are_said(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    page.route("**/v1/joblib/throughput*", lambda route: route.fulfill(status=503, body=""))
    page.goto(console.at("/"))
    expect(page.get_by_role("alert")).to_contain_text("Service Unavailable")
    expect(page.locator("[aria-busy]")).to_have_count(0)
