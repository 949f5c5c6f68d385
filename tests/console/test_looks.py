"""Every page at every size, in light and dark: nothing sticks out, nothing is hard to read, nothing is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.console.conftest import SIZES, Console, Open

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
PAGES = {
    "overview": ("/", "Throughput"),
    "tasks": ("/tasks", "Transcode"),
    "waiting-task": ("/tasks/{nobody}", "Why is it waiting?"),
    "running-task": ("/tasks/{running}", "frame 312"),
    "failed-task": ("/tasks/{failed}", "checksum of part 3 differs"),
    "workflows": ("/workflows", "summer film"),
    "workflow": ("/workflows/{workflow}", "Waiting for somebody"),
    "suspended-task": ("/tasks/{contract}", "Steps and related tasks"),
    "jobs": ("/jobs?archived=1", "Legacy fit"),
    "job": ("/jobs/lab%3Astorage%3AUpload", "checksum of part 3 differs"),
    "workers": ("/workers", "renderer-1"),
    "worker": ("/workers/{renderer-1}", "Newest errors"),
    "providers": ("/providers", "Archive disk"),
    "schedules": ("/schedules", "refresh-thumbnails"),
    "cleanup": ("/maintenance/cleanup", "abandoned"),
    "database": ("/database", "outcomes"),
    "sign-in": ("/", "creates an operator token"),
}
PICTURED = {
    "desk": tuple(PAGES),
    "phone": ("overview", "tasks", "waiting-task", "schedules", "cleanup"),
    "tablet": (),
}
"""What the documentation shows."""
DIALOGS = {
    "keys": ("/tasks", "Keyboard help"),
    "retry": ("/tasks/{failed}", "Retry"),
    "stop": ("/tasks/{running}", "Request cancellation"),
    "force": ("/tasks/{running2}", "Force end"),
    "edit": ("/tasks/{failed}", "Edit payload"),
    "duplicate": ("/tasks/{failed}", "Duplicate"),
    "submit": ("/jobs/lab%3Aanalysis%3ASpectrum", "Submit a task"),
    "limit": ("/jobs/lab%3Aanalysis%3ASpectrum", "Change limit"),
    "policy": ("/jobs/lab%3Aanalysis%3ASpectrum", "Change policy"),
    "remedy": ("/tasks/{paused}", "Resume job"),
    "signal": ("/workflows/{workflow}", "Send signal signed"),
    "cancel-workflow": ("/workflows/{workflow}", "Cancel"),
    "create": ("/schedules", "Create a schedule"),
    "change": ("/schedules", "Edit refresh-thumbnails"),
    "pause": ("/jobs", "Pause Spectrum"),
    "delete": ("/jobs", "Delete Spectrum"),
    "retire": ("/workers", "Retire renderer-1"),
    "invalidate": ("/providers", "Invalidate Archive disk"),
    "schedule": ("/schedules", "refresh-thumbnails: details"),
    "run": ("/schedules", "Run now refresh-thumbnails"),
    "unschedule": ("/schedules", "Delete month-end"),
    "clean-up": ("/maintenance/cleanup", "Nightly: details of run"),
    "ignore": ("/maintenance/cleanup", "Ignore run"),
    "words": ("/maintenance/cleanup", "Help: statuses and actions"),
}
STICKING_OUT = """
  () => [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .filter((element) => !element.closest("pre, .chart, .graph, .only-read, .clip"))
    .map((element) => element.outerHTML.slice(0, 120))
"""
CUT = """
  () => [
    ...[...document.querySelectorAll("main :is(td:has(.name), .cards > li) .clip")]
      .filter((name) => name.scrollWidth > name.clientWidth),
    ...[...document.querySelectorAll("main .name")].filter((name) => name.getClientRects().length > 1),
    ...[...document.querySelectorAll("main th")].filter((head) => {
      const text = document.createRange();
      text.selectNodeContents(head);
      const { paddingLeft, paddingRight } = getComputedStyle(head);
      const room = head.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      return text.getBoundingClientRect().width > room + 0.5;
    }),
  ].map((element) => `${element.textContent.trim()} in ${element.closest("td, th, li").clientWidth} px`)
"""
"""Names that end in an ellipsis or break, and headings that reach into their neighbour's column."""


def settled(page: Any, text: str) -> None:
    page.get_by_text(text).first.wait_for()
    expect(page.locator("[aria-busy]")).to_have_count(0, timeout=30000)


def serious(page: Any, *rules: str) -> list[str]:
    """What axe finds that keeps somebody out, by all its rules or these."""
    page.evaluate(AXE)
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['html'][:160]} {json.dumps(node['any'][:1])[:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def resize(page: Any, size: str) -> None:
    """Another size, in light, once the page has answered to it."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light", timeout=20000)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_reads_well_at_every_size(
    looked_at: Console, open_page: Open, screenshots: Path | None, name: str
):
    place, text = PAGES[name]
    user = None if name == "sign-in" else "ops"
    first, *others = SIZES
    page = open_page(looked_at, place.format(**looked_at.stage.ids), size=first, user=user)
    assert_fits_and_reads_well(page, name, text, first, screenshots)
    for size in others:
        resize(page, size)
        assert_fits_and_reads_well(page, name, text, size, screenshots)


def assert_fits_and_reads_well(page: Any, name: str, text: str, size: str, screenshots: Path | None) -> None:
    settled(page, text)
    assert page.evaluate(STICKING_OUT) == [], size
    assert page.evaluate(CUT) == [], size
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious(page) == []
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        expect(page.locator("html")).to_have_attribute("data-theme", colours, timeout=20000)
        if screenshots is not None and (name in PICTURED[size] or "PGJOBS_SCREENSHOTS_ALL" in os.environ):
            page.wait_for_timeout(300)
            page.screenshot(path=screenshots / f"{name}-{size}-{colours}.png")
    # Only contrast depends on colours, and it does not depend on the size.
    if size == "desk":
        assert serious(page, "color-contrast") == []


def test_a_phone_shows_how_far_a_task_is(looked_at: Console, open_page: Open):
    rows = open_page(looked_at, "/tasks?status=running", size="phone").locator("[data-row]")
    expect(rows.filter(has_text="65 %").get_by_role("progressbar", name="Progress")).to_be_visible()


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("/workers", ("Thumbnail", "Transcode", "ago")),
        ("/providers", ("3 cached", "0 in flight")),
        ("/maintenance/cleanup", ("webdav on agent-7", "20 attempts", "next attempt")),
    ],
)
def test_a_narrow_table_tells_what_a_wide_one_does(
    looked_at: Console, open_page: Open, place: str, told: tuple[str, ...]
):
    table = open_page(looked_at, place, size="tablet").get_by_role("table")
    for text in told:
        expect(table).to_contain_text(text)


@pytest.mark.parametrize("name", DIALOGS)
def test_a_dialog_fits_and_reads_well_on_a_phone_and_a_desk(
    looked_at: Console, open_page: Open, screenshots: Path | None, name: str
):
    page = open_page(looked_at, DIALOGS[name][0].format(**looked_at.stage.ids), size="phone")
    page.locator("main h1").wait_for()
    assert_dialog_fits_and_reads_well(page, name, "phone", screenshots)
    resize(page, "desk")
    assert_dialog_fits_and_reads_well(page, name, "desk", screenshots)


def assert_dialog_fits_and_reads_well(page: Any, name: str, size: str, screenshots: Path | None) -> None:
    button = DIALOGS[name][1]
    if name == "keys":
        page.keyboard.press("?")
    else:
        page.get_by_role("button", name=button).and_(page.locator(":enabled")).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator("[aria-busy]")).to_have_count(0)
    box = dialog.bounding_box()
    width, height = SIZES[size]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= height
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        expect(page.locator("html")).to_have_attribute("data-theme", colours)
        if screenshots is not None and "PGJOBS_SCREENSHOTS_ALL" in os.environ:
            page.screenshot(path=screenshots / f"dialog-{name}-{size}-{colours}.png")
        assert serious(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


EMPTY = {
    "/": "no tasks waiting",
    "/tasks": "No tasks yet",
    "/workflows": "No workflows yet",
    "/workers": "No workers",
    "/providers": "No providers",
    "/schedules": "No schedules yet",
    "/maintenance/cleanup": "Nothing to clean up",
}


@pytest.mark.parametrize("place", EMPTY)
def test_an_empty_queue_says_what_is_not_there(console: Console, open_page: Open, place: str):
    page = open_page(console, place, size="phone")
    settled(page, EMPTY[place])
    assert page.evaluate(STICKING_OUT) == []
    assert serious(page) == []
