"""An operator's day, without psql: from the alarm on the overview to the charts that show that it is over.

With PGJOBS_SCREENSHOTS it takes the pictures of docs/operators-day.md.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.staging import Time, in_a_thread
from tests.console.test_actions import with_queue
from tests.console.test_looks import serious

JOB = "@global:mail:Welcome"
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "minimum": 1}},
    "required": ["to"],
}
WRONG = {"to": "ada@exmaple.org", "copies": 1, "api_key": "k-12345"}
MOVED = "SMTP 451: the mailbox is being moved"
NOWHERE = "SMTP 550: no such host exmaple.org"
HOVERED = """
async chart => {
  const over = chart.querySelector(".u-over"), said = new Set();
  for (let n = 0; n <= 60; n += 1) {
    const box = over.getBoundingClientRect();
    over.dispatchEvent(new MouseEvent("mousemove", { clientX: box.x + (box.width * n) / 60, clientY: box.y + box.height / 2, bubbles: true }));
    await new Promise((drawn) => setTimeout(drawn, 10));
    said.add(chart.closest(".panel").querySelector(".legend").textContent);
  }
  over.dispatchEvent(new MouseEvent("mouseleave"));
  return [...said].join(" / ");
}
"""


async def an_alarm(url: str) -> None:
    """Mail went well until a quarter of an hour ago; then mailboxes were moved, and somebody paused the job."""
    connection = await asyncpg.connect(url)
    time = Time(connection, timedelta(minutes=30))
    async with await Queue.connect(url) as queue:
        await time.set(time.ago)
        await queue.register_job(*JOB.split(":"), schema=SCHEMA, max_running=1, max_attempts=1, events="full")
        worker = await queue.register_worker("mailer-1", jobs=[JOB])
        for minute in range(28, 18, -1):
            await time.set(timedelta(minutes=minute))
            await queue.submit_task(JOB, {"to": f"user-{minute}@example.org"})
            await one_by_one(queue, worker.id)
        for number in range(11):
            await time.set(timedelta(minutes=14, seconds=-20 * number))
            await queue.submit_task(JOB, {"to": f"late-{number}@example.org"}, owner="shop")
            await one_by_one(queue, worker.id, error=MOVED, kind="mailbox")
        await queue.submit_task(JOB, WRONG, owner="ada", tags=["night"])
        await one_by_one(queue, worker.id, error=NOWHERE, kind="address")
        await time.set(timedelta(minutes=8))
        await queue.pause_job(JOB, actor="grace", reason="mailboxes are being moved")
        await queue.submit_tasks(JOB, [{"to": f"new-{number}@example.org"} for number in range(6)])
        await time.set(timedelta())
        await queue.heartbeat_worker(worker.id)
        for step in ("rollups", "errors"):
            await queue.sweep(step)
    await connection.close()


async def one_by_one(queue: Queue, worker: Any, error: str | None = None, kind: str | None = None) -> None:
    for lease in await queue.claim_tasks(worker, start=True):
        if error is None:
            await queue.complete_task(lease, {"ok": True})
        else:
            await queue.fail_task(lease, error, kind=kind, retryable=False)


async def claim(queue: Queue) -> list[Any]:
    [worker] = await queue.list_workers()
    await queue.heartbeat_worker(worker.id)
    return list(await queue.claim_tasks(worker.id, quantity=10, start=True))


async def some_minutes_later(url: str, leases: list[Any]) -> None:
    """Their worker is done with them, and those minutes are counted."""
    connection = await asyncpg.connect(url)
    async with await Queue.connect(url) as queue:
        await queue.complete_tasks(leases, [{"ok": True}] * len(leases))
        await Time(connection, timedelta()).set(timedelta(minutes=-2))
        [worker] = await queue.list_workers()
        await queue.heartbeat_worker(worker.id)
        await queue.sweep("rollups")
    await connection.close()


class Day:
    """A page, and the pictures of the guide, if any are wanted; what is pictured reads well."""

    def __init__(self, console: Console, page: Any, directory: Path | None) -> None:
        self.console, self.page, self.directory = console, page, directory
        self.head, self.dialog = page.locator(".head"), page.get_by_role("dialog")

    def take(self, name: str) -> None:
        assert serious(self.page) == []
        if self.directory is not None:
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=self.directory / f"day-{name}.png")

    def submit(self, name: str) -> None:
        self.dialog.get_by_role("button", name=name, exact=True).click()
        expect(self.dialog).to_have_count(0)

    def value(self, stat: str) -> Any:
        return self.page.locator(".stat", has_text=re.compile(f"^{stat}")).locator(".value")

    def open_the_job(self) -> None:
        self.page.locator(".facts").get_by_role("link", name=JOB).click()


def test_from_the_alarm_to_the_charts(console: Console, open_page: Open, screenshots: Path | None):
    in_a_thread(an_alarm(console.url))
    day = Day(console, open_page(console, "/"), screenshots)
    the_alarm_leads_to_the_job(day)
    its_limit_is_raised_and_it_is_resumed(day)
    edited = one_task_is_retried_with_another_payload(day)
    the_others_are_retried(day)
    they_finish_while_one_looks_on(day, edited)
    the_charts_show_it(day)


def the_alarm_leads_to_the_job(day: Day) -> None:
    expect(day.page.locator(".stat.alarm", has_text="Failed in 1 h").locator(".value")).to_have_text("12")
    findings = day.page.locator(".findings li")
    expect(findings.filter(has_text="mailboxes are being moved")).to_be_visible()
    finding = findings.filter(has_text="12 of 22 tasks that ended in the last hour failed")
    expect(finding).to_be_visible()
    day.take("1-alarm")
    finding.get_by_role("link", name="Open job").click()
    expect(day.page.locator("[data-reason]")).to_have_text("mailboxes are being moved")
    kinds = day.page.locator(".kinds li")
    expect(kinds).to_have_count(2)
    expect(kinds.first).to_contain_text("11 in 1 h")
    day.take("2-job")


def its_limit_is_raised_and_it_is_resumed(day: Day) -> None:
    day.page.get_by_role("button", name="Change limit").click()
    expect(day.dialog.locator("[data-preview]")).to_contain_text("6 tasks waiting, 0 running of at most 1")
    day.dialog.get_by_label("Concurrency limit").fill("10")
    day.dialog.get_by_text("Copy as psql, CLI or curl").click()
    expect(day.dialog).to_contain_text(f"select * from pgjobs.limit_job('{JOB}', 10);")
    expect(day.dialog).to_contain_text(f"pgjobs jobs limit {JOB} 10")
    expect(day.dialog).to_contain_text("curl -X POST")
    day.take("3-limit")
    day.submit("Change limit")
    expect(day.page.get_by_text("concurrency limit 10")).to_be_visible()
    day.head.get_by_role("button", name="Resume").click()
    day.dialog.get_by_role("textbox").fill("all mailboxes are moved")
    day.submit("Resume")
    expect(day.head.locator(".tag")).to_have_text("open")


def one_task_is_retried_with_another_payload(day: Day) -> str:
    """The new task's id."""
    day.page.locator(".brief li", has_text="no such host").get_by_role("link").first.click()
    expect(day.page.locator(".notice.bad")).to_contain_text(NOWHERE)
    day.take("4-task")
    day.page.get_by_role("button", name="Edit payload").click()
    day.dialog.get_by_label("to (required)").fill("ada@example.org")
    day.dialog.get_by_label("Reason").fill("a typo")
    day.take("5-edit")
    day.submit("Retry edited")
    expect(day.head.locator(".tag")).to_have_text("ignored")
    day.page.locator(".toast").get_by_role("link").click()
    expect(day.head.locator(".tag")).to_have_text("waiting")
    return str(day.page.url).rpartition("/")[2]


def the_others_are_retried(day: Day) -> None:
    day.open_the_job()
    day.page.get_by_role("button", name="Retry failed").click()
    expect(day.dialog.locator("[data-preview]")).to_contain_text("11 tasks match")
    day.take("6-retry")
    day.submit("Retry")
    expect(day.value("Waiting")).to_have_text("18")


def they_finish_while_one_looks_on(day: Day, edited: str) -> None:
    first = with_queue(day.console, claim)
    expect(day.value("Running")).to_have_text("10")
    day.take("7-running")
    mine = next(lease for lease in first if lease.payload.get("api_key") == "k-12345")
    assert mine.payload["to"] == "ada@example.org"
    day.page.keyboard.press("Control+k")
    day.dialog.get_by_role("combobox").fill(edited)
    day.dialog.get_by_role("combobox").press("Enter")
    with_queue(day.console, lambda queue: queue.report_progress([mine], [{"done": 2, "total": 5}]))
    progress = day.page.get_by_role("progressbar", name="Progress")
    expect(progress).to_have_attribute("aria-valuenow", "40")
    with_queue(day.console, lambda queue: queue.complete_tasks(first, [{"ok": True}] * len(first)))
    expect(day.head.locator(".tag")).to_have_text("completed")
    in_a_thread(some_minutes_later(day.console.url, with_queue(day.console, claim)))


def the_charts_show_it(day: Day) -> None:
    day.open_the_job()
    expect(day.page.locator(".stat", has_text="Failed in 1 h")).to_contain_text("28 completed")
    chart = day.page.locator(".chart", has=day.page.get_by_label("Tasks completed and failed per minute"))
    expect(chart.locator("canvas")).to_be_visible()
    said = chart.evaluate(HOVERED)
    assert max(int(number) for number in re.findall(r"(\d+) completed", said)) >= 8
    assert re.search(r"[1-9]\d* failed", said)
    day.take("8-charts")
    day.page.get_by_role("link", name="Overview", exact=True).click()
    expect(day.value("Waiting")).to_have_text("0")
    expect(day.page.locator(".findings, .notice").last).to_be_visible()
    expect(day.page.locator(".findings li", has_text=f"job {JOB}")).to_have_count(0)
    day.take("9-over")
