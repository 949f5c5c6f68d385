"""Dialogs: one follows another, and each gives the focus back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.conftest import Console, Open
from tests.console.test_actions import with_queue
from tests.console.test_schedules import row_of, schedule_one

# The browser tells of a closing in a task of its own; a key can be pressed before.
CLOSE_AND_PRESS = """
key => {
  document.querySelector("dialog").close();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}
"""
TWO_TASKS = "() => new Promise(done => setTimeout(() => setTimeout(done)))"


@pytest.mark.parametrize("opened_by", ["Enter", "r"])
def test_a_dialog_opened_as_another_closes_stays(console: Console, open_page: Open, opened_by: str):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    row_of(page).wait_for()
    page.keyboard.press("j")
    page.keyboard.press(opened_by)
    page.get_by_role("dialog").wait_for()
    page.evaluate(CLOSE_AND_PRESS, "r")
    page.evaluate(TWO_TASKS)
    expect(page.get_by_role("dialog")).to_contain_text("at once")


@pytest.mark.parametrize("way_out", ["Close", "Back"])
def test_a_closed_dialog_gives_the_focus_back(console: Console, open_page: Open, way_out: str):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    button = page.get_by_role("button", name="Pause nightly")
    button.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name=way_out).press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
