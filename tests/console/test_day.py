"""An operator's day: from the alarm on the overview to the charts that show it is over."""

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


async def an_alarm(queue: Queue) -> list[str]:
    """A paused job with a limit of one, six waiting tasks, and a failed one with a wrong payload and a secret."""
    await queue.register_job(*JOB.split(":"), schema=SCHEMA, max_running=1, events="full")
    worker = await queue.register_worker("mailer", jobs=[JOB])
    wrong = await queue.submit_task(JOB, {"to": "nobody", "api_key": "k-12345"}, owner="ada", tags=["night"])
    await queue.fail_tasks(
        await queue.claim_tasks(worker.id, start=True),
        ["no such mailbox"],
        kinds=["address"],
        retryable=[False],
    )
    waiting = await queue.submit_tasks(JOB, [{"to": f"user-{n}"} for n in range(6)])
    await queue.pause_job(JOB, actor="ops", reason="mailboxes are being moved")
    await queue.sweep("rollups")
    return [await uuid_of(queue, task.task_id) for task in [wrong, *waiting]]


async def work(queue: Queue) -> list[Any]:
    [worker] = await queue.list_workers()
    await queue.heartbeat_worker(worker.id)
    leases = await queue.claim_tasks(worker.id, quantity=10, start=True)
    await queue.complete_tasks(leases, [{"ok": True}] * len(leases))
    await queue.sweep("rollups")
    return [lease.payload for lease in leases]


def test_from_the_alarm_to_the_charts(console: Console, open_page: Open):
    tasks = with_queue(console, an_alarm)
    page = open_page(console, "/")
    finding = page.locator(".findings li", has_text=f"job {JOB}")
    expect(finding).to_contain_text("mailboxes are being moved")
    finding.get_by_role("button", name="Resume job").click()
    page.wait_for_url(re.compile(r"do=resume_job"))
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[data-preview]")).to_contain_text("6 tasks waiting, 0 running of at most 1")
    dialog.get_by_text("Copy as psql, CLI or curl").click()
    expect(dialog).to_contain_text(f"select * from pgjobs.resume_job('{JOB}');")
    expect(dialog).to_contain_text(f"pgjobs jobs resume {JOB}")
    expect(dialog).to_contain_text("curl -X POST")
    dialog.get_by_role("button", name="Back").click()

    page.goto(console.at("/jobs/%40global%3Amail%3AWelcome"))
    expect(page.locator("[data-reason]")).to_have_text("mailboxes are being moved")
    page.get_by_role("button", name="Change limit").click()
    dialog.get_by_label("Concurrency limit").fill("10")
    confirm_only(dialog, "Change limit")
    expect(page.get_by_text("concurrency limit 10")).to_be_visible()
    page.locator(".head").get_by_role("button", name="Resume").click()
    confirm(page, "Resume", "all are moved")
    expect(page.locator(".head .tag")).to_have_text("open")

    page.locator(".brief").get_by_role("link", name=tasks[0][-8:]).click()
    page.get_by_role("button", name="Edit payload").click()
    dialog.get_by_label("to (required)").fill("ada@example.org")
    confirm_only(dialog, "Retry edited")
    expect(page.locator(".head .tag")).to_have_text("ignored")
    [again, *_] = with_queue(console, lambda queue: queue.list_tasks(job=JOB, room="@global"))
    assert (again.owner, again.tags) == ("ada", ["night"])

    payloads = with_queue(console, work)
    assert len(payloads) == 7
    assert {"to": "ada@example.org", "api_key": "k-12345"} in payloads
    page.goto(console.at("/jobs/%40global%3Amail%3AWelcome"))
    expect(page.locator(".stat", has_text="Failed in 1 h")).to_contain_text("7 completed")
    charts = page.locator(".chart canvas")
    expect(charts).to_have_count(3)
    page.goto(console.at("/"))
    expect(page.locator(".findings li", has_text=f"job {JOB}")).to_have_count(0)


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
