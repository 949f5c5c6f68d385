"""What was once seen wrong: clocks, numbers, ways back, charts, filters; and the ways to get anywhere."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, confirm, fail_some, plenty, uuid_of, with_queue
from tests.console.test_cleanup import PLACE, runs
from tests.console.waiting import wait_in

__all__ = ["runs"]


def test_one_slow_answer_does_not_shift_the_clock_of_the_page(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/workers")
    age = page.locator("tbody time").first
    age.wait_for()
    # It comes late: what it says of the time is as old as the question.
    page.evaluate(
        """() => {
          const real = window.fetch, now = Date.now;
          window.fetch = async (...asked) => {
            const answer = await real(...asked);
            if (String(asked[0]).includes("workers/status")) {
              window.fetch = real;
              const late = now() + 30000;
              Date.now = () => late;
              queueMicrotask(() => setTimeout(() => (Date.now = now), 50));
              window.wasLate = true;
            }
            return answer;
          };
        }"""
    )
    page.locator(".pulse").click()
    page.locator(".pulse").click()
    wait_in(page, "window.wasLate")
    page.wait_for_timeout(1500)
    assert page.locator("tbody time").first.inner_text().endswith(("ago", "now"))


def test_a_clock_that_is_wrong_is_corrected(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    page.locator("[data-row]").first.wait_for()

    def an_hour_on(route: Any) -> None:
        answer = route.fetch()
        stamp = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
        route.fulfill(response=answer, headers={**answer.headers, "date": stamp})

    # All answers: which of them the page goes by depends on how long each takes.
    page.route(re.compile("/v1/joblib/(?!events)"), an_hour_on)
    page.reload()
    expect(page.locator("[data-row] time").first).to_have_text(re.compile(r"^(60|59|1 h).* ago$"))
    page.unroute_all(behavior="wait")


def test_the_way_back_leads_to_where_one_was_reading(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks")
    page.locator("[data-row]").nth(40).scroll_into_view_if_needed()
    wait_in(page, "() => (history.state?.scroll ?? 0) > 100")
    before = page.evaluate("scrollY")
    page.locator("[data-open]").nth(40).click()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    wait_in(page, "wanted => Math.abs(scrollY - wanted) < 3", before)


@pytest.mark.parametrize("way", ["search", "address"])
def test_a_task_is_found_by_its_number(console: Console, open_page: Open, way: str):
    task = with_queue(console, fail_some)[1]
    number = with_queue(console, lambda queue: queue.list_tasks(job=JOB, room="@global"))[2].id
    page = open_page(console, "/tasks" if way == "search" else f"/tasks/{number}")
    if way == "search":
        page.get_by_label("Search").fill(str(number))
        expect(page.locator("[data-row]")).to_have_count(1)
        page.locator("[data-open]").click()
    page.wait_for_url(f"**#/tasks/{task}")
    expect(page.locator(".facts").first).to_contain_text(str(number))


def test_any_part_of_a_jobs_name_filters(console: Console, open_page: Open):
    async def two_jobs(queue: Queue) -> None:
        await fail_some(queue)
        await queue.register_job("lab", "tests", "Other")
        await queue.submit_task("lab:tests:Other", room="lab")

    with_queue(console, two_jobs)
    page = open_page(console, "/tasks")
    expect(page.locator("[data-row]")).to_have_count(5)
    page.get_by_label("Job", exact=True).fill("elco")
    expect(page.locator("[data-row]")).to_have_count(4)


def test_a_payload_is_searched_on_request_and_never_what_is_hidden_in_it(console: Console, open_page: Open):
    async def with_payloads(queue: Queue) -> None:
        await queue.register_job(*JOB.split(":"))
        await queue.submit_task(JOB, {"to": "needle@example.org", "api_key": "haystack-1"})
        await queue.submit_task(JOB, {"to": "bob@example.org"})

    with_queue(console, with_payloads)
    page = open_page(console, "/tasks?text=needle")
    expect(page.get_by_role("heading", name="No task matches")).to_be_visible()
    page.get_by_label("Include payloads").check()
    expect(page.locator("[data-row]")).to_have_count(1)
    page.get_by_label("Search").fill("haystack")
    expect(page.get_by_role("heading", name="No task matches")).to_be_visible()


def test_a_search_says_how_far_it_looked(console: Console, open_page: Open):
    async def many(queue: Queue) -> None:
        await queue.register_job(*JOB.split(":"))
        await queue.submit_tasks(JOB, [{"to": n} for n in range(600)])

    with_queue(console, many)
    page = open_page(console, "/tasks?text=nothing&payloads=1")
    expect(page.locator("[data-searched]")).to_contain_text("Searched the newest 500 tasks, back to")
    page.get_by_role("button", name="Search further back").click()
    expect(page.get_by_role("heading", name="No task matches")).to_be_visible()


def test_checkboxes_are_large_enough_for_fingers(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/tasks", size="phone")
    box = page.locator("[data-row] input").first.bounding_box()
    assert min(box["width"], box["height"]) >= 24


def test_a_dialog_has_an_address_that_opens_it_and_the_way_back_does_not(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/jobs")
    page.get_by_role("button", name="Pause Welcome").click()
    page.wait_for_url(re.compile(r"do=pause_job&of=%40global%3Amail%3AWelcome"))
    page.reload()
    expect(page.get_by_role("dialog")).to_contain_text("Pause this job?")
    confirm(page, "Pause")
    page.wait_for_url(re.compile(r"#/jobs$"))
    page.get_by_role("link", name="Workers").click()
    page.go_back()
    page.get_by_role("row").nth(1).wait_for()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_palette_leads_to_pages_jobs_tasks_and_saved_filters(console: Console, open_page: Open):
    with_queue(console, fail_some)
    task = with_queue(console, lambda queue: uuid_of(queue, 1))
    page = open_page(console, "/tasks?status=failed&text=mailbox")
    page.get_by_role("button", name="Save filter").click()
    page.get_by_role("dialog").get_by_label("Name").fill("full mailboxes")
    confirm(page, "Save filter")
    for typed, address in (
        ("full mail", "#/tasks?status=failed&text=mailbox"),
        ("welc", "#/jobs/%40global%3Amail%3AWelcome"),
        ("datab", "#/database"),
        (task, f"#/tasks/{task}"),
    ):
        page.keyboard.press("Control+k")
        field = page.get_by_role("combobox", name="Search")
        expect(field).to_be_focused()
        field.fill(typed)
        expect(page.locator("#palette-0")).to_be_visible()
        page.wait_for_timeout(200)
        field.press("Enter")
        page.wait_for_url(f"**/{address}")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_blocked_and_abandoned_cleanups_are_issues_that_lead_to_them(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/")
    for status in ("blocked", "abandoned"):
        page.goto(looked_at.at("/"))
        finding = page.locator(".findings li", has_text=f"1 cleanup is {status}")
        finding.get_by_role("link", name="Open cleanups").click()
        page.wait_for_url(f"**#{PLACE}?status={status}")
        expect(page.locator("[data-row] .tag")).to_have_text(status)


def test_cleanups_are_selected_by_the_kind_of_their_error_and_ignored_together(
    runs: tuple[Console, dict[str, UUID]], open_page: Open
):
    console, _ = runs
    page = open_page(console, f"{PLACE}?error_kind=auth")
    rows = page.locator("[data-row]")
    rows.first.wait_for()
    known = rows.count()
    page.get_by_label("Select all shown").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Ignore").click()
    expect(page.locator("[data-preview]")).to_contain_text(f"{known} will be ignored")
    confirm(page, "Ignore", "the share is gone")
    expect(page.locator("[data-row] .tag")).to_have_text(["ignored"] * known)
