"""What operators do now and then: end by force, submit, create and change schedules, look at a worker."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import confirm, uuid_of, with_queue

JOB = "@global:mail:Welcome"
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
    "required": ["to"],
}


def confirm_only(dialog: Any, name: str) -> None:
    dialog.get_by_role("button", name=name, exact=True).click()
    expect(dialog).to_have_count(0)


async def one_held(queue: Queue) -> str:
    await queue.register_job(*JOB.split(":"), max_attempts=3, backoff_base=timedelta(0))
    worker = await queue.register_worker("mailer", jobs=[JOB])
    task = await queue.submit_task(JOB, {"to": "ada"})
    for _ in range(2):
        [lease] = await queue.claim_tasks(worker.id, start=True)
        await queue.fail_task(lease, "mailbox busy", kind="network", retryable=False)
        await queue.retry_task(task.task_id)
    await queue.claim_tasks(worker.id, start=True)
    return await uuid_of(queue, task.task_id)


def test_a_task_whose_worker_does_not_stop_is_ended_by_force(console: Console, open_page: Open):
    page = open_page(console, f"/tasks/{with_queue(console, one_held)}")
    head = page.locator(".head")
    head.get_by_role("button", name="Request cancellation").click()
    confirm(page, "Request cancellation", "wrong address")
    head.get_by_role("button", name="Force end").click()
    confirm(page, "Force end")
    expect(head.locator(".tag")).to_have_text("cancelled")


def test_attempts_are_numbered_through_though_a_retry_begins_to_count_anew(console: Console, open_page: Open):
    page = open_page(console, f"/tasks/{with_queue(console, one_held)}")
    expect(page.locator(".attempt h3")).to_have_text(["Attempt 3", "Attempt 2", "Attempt 1"])


def test_a_task_is_submitted_from_a_form_made_of_its_jobs_schema(console: Console, open_page: Open):
    with_queue(console, lambda queue: queue.register_job(*JOB.split(":"), schema=SCHEMA))
    page = open_page(console, "/jobs/%40global%3Amail%3AWelcome?do=submit&of=%40global%3Amail%3AWelcome")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("to (required)").fill("ada@example.org")
    dialog.get_by_label("copies").fill("2")
    dialog.get_by_text("Copy as psql, CLI or curl").click()
    expect(dialog).to_contain_text("pgjobs enqueue @global:mail:Welcome")
    confirm_only(dialog, "Submit")
    page.locator(".toast").get_by_role("link").click()
    expect(page.get_by_label("Payload", exact=True)).to_contain_text('"copies": 2')


def test_a_schedule_is_created_after_a_look_at_its_next_runs_and_changed_without_losing_secrets(
    console: Console, open_page: Open
):
    with_queue(console, lambda queue: queue.register_job(*JOB.split(":")))
    page = open_page(console, "/schedules")
    page.get_by_role("button", name="Create a schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("nightly")
    dialog.get_by_label("Job", exact=True).fill(JOB)
    dialog.get_by_label("Cron").fill("30 2 * *")
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Cron").fill("30 2 * * *")
    expect(dialog.locator("[data-words]")).to_have_text("At 02:30 every day")
    expect(dialog.get_by_label("Next runs").get_by_role("listitem")).to_have_count(10)
    dialog.get_by_label("Payload as JSON").fill('{"to": "ada", "api_key": "k-12345"}')
    confirm_only(dialog, "Create schedule")
    page.get_by_role("button", name="Edit nightly").click()
    expect(dialog.get_by_label("Payload as JSON")).to_have_value(re.compile("…"))
    dialog.get_by_label("Cron").fill("30 4 * * *")
    confirm_only(dialog, "Save changes")
    expect(page.get_by_text("At 04:30 every day")).to_be_visible()
    run = with_queue(console, lambda queue: queue.run_schedule("@global:nightly"))

    async def payload(queue: Queue) -> Any:
        worker = await queue.register_worker("mailer", jobs=[JOB])
        [lease] = await queue.claim_tasks(worker.id)
        assert lease.task_id == run.task_id
        return lease.payload

    assert with_queue(console, payload) == {"to": "ada", "api_key": "k-12345"}


def test_a_worker_has_a_page_with_what_it_holds_and_what_it_failed_with(console: Console, open_page: Open):
    with_queue(console, one_held)
    page = open_page(console, "/workers")
    page.get_by_role("link", name="mailer").click()
    expect(page.get_by_role("heading", name="mailer")).to_be_visible()
    expect(page.locator(".panel", has_text="Running now")).to_contain_text("attempt 1")
    errors = page.locator(".panel", has_text="Newest errors").last
    expect(errors.get_by_text("mailbox busy")).to_have_count(2)
    expect(errors).to_contain_text("network")
