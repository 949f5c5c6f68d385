"""One task: what happened to it last, and what really keeps it from running."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, uuid_of, with_queue

INTERNAL = "@internal:tests:Upkeep"


async def a_long_life(queue: Queue) -> str:
    await queue.register_job(*JOB.split(":"))
    task = await queue.submit_task(JOB)
    for number in range(110):
        await queue.ignore_task(task.task_id, actor="ops", reason=f"put aside, number {number}")
        await queue.unignore_task(task.task_id, actor="ops")
    return await uuid_of(queue, task.task_id)


def test_the_last_events_are_shown_and_the_first_can_be(console: Console, open_page: Open):
    task = with_queue(console, a_long_life)
    page = open_page(console, f"/tasks/{task}")
    panel = page.locator("section", has=page.get_by_role("heading", name="Events", exact=True))
    events = panel.get_by_role("listitem")
    expect(events).to_have_count(200)
    expect(events.nth(1)).to_contain_text("put aside, number 109")
    expect(panel).to_contain_text("Showing the last 200.")
    expect(page.locator(".pulse")).to_contain_text("Live")

    async def once_more(queue: Queue) -> None:
        await queue.ignore_task((await queue.get_task(task_uuid=UUID(task))).id, reason="the last time")

    with_queue(console, once_more)
    expect(events.first).to_contain_text("the last time")
    panel.get_by_role("button", name="Show earlier events").click()
    expect(events.last).to_contain_text("put aside, number 0")
    with_queue(console, lambda queue: act_again(queue, task))
    expect(events.first).to_contain_text("unignored")
    expect(events).to_have_count(222)
    expect(panel.get_by_role("button", name="Show earlier events")).to_have_count(0)


async def act_again(queue: Queue, task: str) -> None:
    await queue.unignore_task((await queue.get_task(task_uuid=UUID(task))).id)


def test_ages_that_change_are_not_read_aloud_each_second(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"/tasks/{looked_at.stage.ids['failed']}")
    page.get_by_role("heading", name="Events", exact=True).wait_for()
    page.locator("main time").first.wait_for()
    expect(page.locator("main [aria-live] time, main [role=status] time")).to_have_count(0)


def reasons(page: Any) -> tuple[Any, Any, Any]:
    return page.locator("[data-why]"), page.locator("[data-todo]"), page.locator(".checks .todo")


def test_a_paused_job_is_the_reason_though_the_task_backs_off_too(console: Console, open_page: Open):
    async def stage(queue: Queue) -> str:
        await queue.register_job(*JOB.split(":"), max_attempts=3, backoff_base=timedelta(hours=1))
        worker = await queue.register_worker("mailer", jobs=[JOB])
        task = await queue.submit_task(JOB)
        await queue.fail_tasks(await queue.claim_tasks(worker.id, start=True), ["mailbox busy"])
        await queue.pause_job(JOB)
        return await uuid_of(queue, task.task_id)

    page = open_page(console, f"/tasks/{with_queue(console, stage)}")
    why, todo, beside = reasons(page)
    expect(why).to_contain_text("was paused")
    expect(todo).to_contain_text("Resume the job")
    expect(page.locator(".sql", has_text="resume_job")).to_be_visible()
    expect(beside).to_have_count(1)
    expect(beside).to_have_text("It becomes due without your help. Retry makes it due now.")


def test_a_delayed_task_that_nobody_serves_asks_for_a_worker(console: Console, open_page: Open):
    async def stage(queue: Queue) -> str:
        await queue.register_job(*JOB.split(":"))
        task = await queue.submit_task(JOB, delay=timedelta(hours=1))
        return await uuid_of(queue, task.task_id)

    page = open_page(console, f"/tasks/{with_queue(console, stage)}")
    why, todo, beside = reasons(page)
    expect(why).to_contain_text("No worker is registered")
    expect(todo).to_contain_text("pgjobs worker")
    expect(beside).to_contain_text("It becomes due without your help")


def test_a_job_of_the_server_does_not_ask_for_a_worker(console: Console, open_page: Open):
    async def stage(queue: Queue) -> str:
        await queue.register_job(*INTERNAL.split(":"))
        task = await queue.submit_task(INTERNAL, room="lab")
        return await uuid_of(queue, task.task_id)

    page = open_page(console, f"/tasks/{with_queue(console, stage)}")
    why, todo, _ = reasons(page)
    expect(why).to_contain_text("No worker is registered")
    expect(todo).to_contain_text("inside the server")
    expect(todo).not_to_contain_text("pgjobs worker")


def test_log_lines_appear_as_they_are_written(console: Console, open_page: Open):
    async def begin(queue: Queue) -> tuple[str, Any]:
        await queue.register_job(*JOB.split(":"))
        task = await queue.submit_task(JOB)
        (lease,) = await queue.claim_tasks(
            holder="me", lease=timedelta(hours=1), in_room="@global", start=True
        )
        lines = [{"message": "reading the file"}, {"message": "odd line", "level": "warning", "dropped": 7}]
        await queue.append_log([lease], [lines])
        return await uuid_of(queue, task.task_id), lease

    task, lease = with_queue(console, begin)
    page = open_page(console, f"/tasks/{task}")
    log = page.get_by_role("list", name="Log lines")
    expect(log).to_contain_text("reading the file")
    expect(log.get_by_role("listitem")).to_have_text(
        [
            "Attempt 1",
            re.compile("info.*reading the file"),
            "7 lines not kept",
            re.compile("warning.*odd line"),
        ]
    )
    with_queue(console, lambda queue: queue.append_log([lease], [[{"message": "the end\u202e is near"}]]))
    expect(log).to_contain_text("the end")
    expect(log.get_by_role("listitem")).to_have_count(5)
    expect(log).not_to_contain_text("\u202e")
