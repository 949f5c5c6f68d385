"""Many tasks at once: as many as were chosen, and an honest count when it ends early."""

from __future__ import annotations

from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.holding import holding_back
from tests.console.test_actions import JOB, confirm, fail_some, with_queue
from tests.console.test_live import wait_until


async def a_crowd(queue: Queue) -> None:
    await queue.register_job(*JOB.split(":"))
    await queue.submit_tasks(JOB, [{"to": n} for n in range(520)])


def put_aside(console: Console) -> int:
    return with_queue(console, lambda queue: queue.count_found_tasks(status="ignored")).total


def test_more_than_five_hundred_chosen_tasks_are_put_aside_together(console: Console, open_page: Open):
    with_queue(console, a_crowd)
    page = open_page(console, "/tasks?status=pending")
    rows = page.locator("[data-row]")
    for shown in range(50, 520, 50):
        expect(rows).to_have_count(shown)
        page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(520)
    page.get_by_label("Select all shown").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Ignore", exact=True).click()
    expect(page.locator("[data-preview]")).to_have_text("Of 520 selected tasks, 520 will be ignored.")
    confirm(page, "Ignore")
    expect(page.get_by_text("520 tasks ignored")).to_be_visible()
    assert put_aside(console) == 520


def test_a_run_that_is_stopped_says_how_far_it_came(console: Console, open_page: Open):
    with_queue(console, a_crowd)
    page = open_page(console, "/tasks?status=pending")
    page.get_by_role("checkbox", name="Select task").first.check()
    page.get_by_role("button", name="Ignore all").click()
    expect(page.locator("[data-preview]")).to_contain_text("520 tasks match")
    dialog = page.get_by_role("dialog")
    with holding_back(page, "**/v1/joblib/tasks/actions") as held:
        dialog.get_by_role("button", name="Ignore", exact=True).click()
        wait_until(page, lambda: len(held) == 1)
        dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped: 100 of 520 tasks ignored")).to_be_visible()
    expect(dialog).to_have_count(0)
    assert put_aside(console) == 100


def test_the_number_that_match_is_never_that_of_another_filter(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=failed")
    expect(page.get_by_text("3 match")).to_be_visible()
    with holding_back(page, "**/v1/joblib/tasks/count*"):
        page.get_by_role("button", name="Waiting", exact=True).click()
        page.get_by_label(f"Select task {tasks[3]}").check()
        expect(page.get_by_text("— match")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel all")).to_have_count(0)
    expect(page.get_by_text("1 match")).to_be_visible()
