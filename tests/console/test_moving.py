"""Moving about: by rows, from page to page, and where the focus is then."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.conftest import Console, Open
from tests.console.test_actions import plenty, with_queue
from tests.console.test_looks import resize

LISTS = ["/tasks", "/jobs", "/workers", "/providers", "/schedules", "/maintenance/cleanup", "/database"]
FOCUSED = "() => document.activeElement.closest('[data-row]')?.dataset.row ?? null"


@pytest.mark.parametrize("place", LISTS)
def test_the_keyboard_goes_from_row_to_row(looked_at: Console, open_page: Open, place: str):
    page = open_page(looked_at, place, size="phone")
    rows = page.locator("main [data-row]")
    rows.nth(1).wait_for()
    page.locator(".pulse").click()
    for size in ("phone", "desk"):
        resize(page, size)
        page.evaluate("document.activeElement.blur()")
        ids = [rows.nth(number).get_attribute("data-row") for number in range(2)]
        for key, row in (("j", 0), ("j", 1), ("k", 0)):
            page.keyboard.press(key)
            assert page.evaluate(FOCUSED) == ids[row], size


def test_another_page_begins_at_its_top_and_has_the_focus(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks")
    page.locator("[data-row]").nth(49).scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 0
    page.locator("[data-open]").nth(49).press("Enter")
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    expect(page.locator("#content")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.locator("#content")).to_be_focused()


def test_a_link_of_a_dialog_leads_into_the_page_it_opens(console: Console, open_page: Open):
    page = open_page(console, "/", size="phone")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("dialog").get_by_role("link", name="Workers").press("Enter")
    expect(page.get_by_role("heading", name="No workers")).to_be_visible()
    expect(page.locator("#content")).to_be_focused()


def test_a_filter_leaves_the_focus_where_it_is(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks")
    page.locator("[data-row]").nth(49).wait_for()
    waiting = page.get_by_role("button", name="Waiting", exact=True)
    waiting.press("Enter")
    page.wait_for_url("**#/tasks?status=pending")
    page.locator("[data-row]").nth(49).wait_for()
    expect(waiting).to_be_focused()
