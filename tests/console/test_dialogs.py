"""Dialogs: one follows another, each gives the focus back, and what is said in one can be read."""

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
UPPERMOST = "([x, y]) => document.elementFromPoint(x, y).closest('.toast') !== null"
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
    expect(page.get_by_role("dialog")).to_contain_text("now")


@pytest.mark.parametrize("way_out", ["Close", "Back"])
def test_a_closed_dialog_gives_the_focus_back(console: Console, open_page: Open, way_out: str):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    button = page.get_by_role("button", name="Pause nightly")
    button.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name=way_out).press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()


def test_a_selection_that_ends_on_the_veil_closes_nothing_and_a_click_there_does(
    console: Console, open_page: Open
):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    page.get_by_role("button", name="Pause nightly").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("the disk is being replaced")
    box = dialog.get_by_role("textbox").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 15)
    page.mouse.down()
    page.mouse.move(20, 20)
    page.mouse.up()
    page.evaluate(TWO_TASKS)
    expect(dialog.get_by_role("textbox")).to_have_value("the disk is being replaced")
    page.mouse.click(20, 20)
    expect(dialog).to_have_count(0)


WITHOUT_CLIPBOARD = "Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})"
REFUSED = "document.execCommand = () => false"


@pytest.mark.parametrize("place", ["page", "dialog"])
def test_a_page_without_the_clipboard_copies_what_it_selects(console: Console, open_page: Open, place: str):
    with_queue(console, schedule_one)
    run = with_queue(console, lambda queue: queue.run_schedule("@global:nightly"))
    page = open_page(console, "/schedules" if place == "dialog" else f"/tasks/{run.task_uuid}")
    page.evaluate(WITHOUT_CLIPBOARD)
    if place == "dialog":
        page.get_by_role("button", name="nightly: details").click()
    button = page.get_by_role("button", name="Copy Payload")
    button.click()
    expect(page.locator(".toast", has_text="Payload copied")).to_be_visible()
    expect(button).to_be_focused()
    page.goto(console.at("/tasks"))
    page.get_by_label("Search").press("Control+v")
    expect(page.get_by_label("Search")).to_have_value('{"to":"ada","api_key":"…"}')


def test_what_cannot_be_copied_is_said_in_the_dialog(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules", size="phone")
    row_of(page).wait_for()
    page.evaluate(f"{WITHOUT_CLIPBOARD}; {REFUSED}")
    page.get_by_role("button", name="nightly: details").click()
    page.get_by_role("dialog").get_by_role("button", name="Copy Payload").click()
    toast = page.get_by_role("dialog").locator(".toast")
    expect(toast).to_contain_text("could not be copied")
    box = toast.bounding_box()
    assert page.evaluate(UPPERMOST, [box["x"] + 20, box["y"] + 10]), "nothing lies over it"
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text("could not be copied")
