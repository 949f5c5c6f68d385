"""What operators do, done by clicking: each action of each page, and what happens when it is refused."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import parse_qs
from uuid import UUID

import psycopg
import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.staging import in_a_thread

Answer = TypeVar("Answer")
JOB = "@global:mail:Welcome"


def with_queue(console: Console, act: Callable[[Queue], Awaitable[Answer]]) -> Answer:
    """Does something to the queue behind the page's back."""

    async def run() -> Answer:
        async with await Queue.connect(console.url) as queue:
            return await act(queue)

    return in_a_thread(run())


async def uuid_of(queue: Queue, task_id: int) -> str:
    return str((await queue.get_task(task_id)).uuid)


async def fail_some(queue: Queue) -> list[str]:
    """Three failed tasks, and one that waits."""
    await queue.register_job(*JOB.split(":"), events="full")
    worker = await queue.register_worker("mailer", jobs=[JOB])
    tasks = await queue.submit_tasks(JOB, [{"to": n} for n in range(3)])
    leases = await queue.claim_tasks(worker.id, quantity=3, start=True)
    await queue.fail_tasks(leases, ["no such mailbox"] * 3, retryable=[False] * 3)
    last = await queue.submit_task(JOB, {"to": 4})
    return [await uuid_of(queue, task.task_id) for task in [*tasks, last]]


def confirm(page: Any, name: str, reason: str | None = None) -> None:
    dialog = page.get_by_role("dialog")
    if reason is not None:
        dialog.get_by_role("textbox").fill(reason)
    dialog.get_by_role("button", name=name, exact=True).click()
    expect(dialog).to_have_count(0)


def status_of(console: Console, task: str) -> str:
    return with_queue(console, lambda queue: queue.get_task(task_uuid=UUID(task))).status


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_a_task_is_retried_ignored_taken_up_and_cancelled(console: Console, open_page: Open, size: str):
    task = with_queue(console, fail_some)[0]
    page = open_page(console, f"/tasks/{task}", size=size)
    head = page.locator(".head")
    head.get_by_role("button", name="Ignore").click()
    confirm(page, "Ignore", "the customer left")
    expect(head).to_contain_text("ignored")
    expect(page.get_by_text("the customer left").first).to_be_visible()
    head.get_by_role("button", name="Unignore").click()
    confirm(page, "Unignore")
    expect(head).to_contain_text("waiting")
    head.get_by_role("button", name="Cancel").click()
    confirm(page, "Cancel task", "sent by hand")
    expect(head).to_contain_text("cancelled")
    head.get_by_role("button", name="Retry").click()
    confirm(page, "Retry")
    expect(head).to_contain_text("waiting")
    assert status_of(console, task) == "pending"


def test_a_refused_step_stays_on_the_page_and_shows_how_it_stands(console: Console, open_page: Open):
    task = with_queue(console, fail_some)[0]
    page = open_page(console, f"/tasks/{task}")
    page.get_by_role("button", name="Retry").wait_for()
    page.locator(".pulse").click()
    expect(page.locator(".pulse")).to_contain_text("Paused")
    page.get_by_role("button", name="Retry").click()

    async def retry_first(queue: Queue) -> None:
        await queue.retry_task((await queue.get_task(task_uuid=UUID(task))).id)

    with_queue(console, retry_first)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Retry", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("pending")
    dialog.get_by_role("button", name="Back").click()
    expect(page.locator(".head")).to_contain_text("waiting")


REFUSED = [
    # Where, the button, what the button of the dialog says, and what the page says then.
    ("/jobs", "Pause Welcome", "Pause", "No jobs yet"),
    ("/jobs", "Delete Welcome", "Archive", "No jobs yet"),
    ("/workers", "Retire mailer", "Retire", "No workers"),
    ("/providers", "Invalidate disk", "Invalidate", "No providers"),
]


@pytest.mark.parametrize(("place", "button", "verb", "then"), REFUSED)
def test_a_refusal_shows_how_things_stand_even_on_a_page_that_is_paused(
    console: Console, open_page: Open, place: str, button: str, verb: str, then: str
):
    async def stage(queue: Queue) -> None:
        await fail_some(queue)
        [worker] = await queue.list_workers()
        await queue.register_provider("lab", "files", "disk", worker_id=worker.id)

    async def take_all_away(queue: Queue) -> None:
        [worker] = await queue.list_workers()
        await queue.retire_worker(worker.id)
        await queue.delete_job(JOB)

    with_queue(console, stage)
    page = open_page(console, place)
    page.get_by_role("button", name=button).wait_for()
    page.locator(".pulse").click()
    page.get_by_role("button", name=button).click()
    with_queue(console, take_all_away)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=verb, exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name=then)).to_be_visible()


def test_chosen_tasks_are_previewed_and_retried_together(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    page.get_by_label("Select all shown").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Retry").click()
    preview = page.locator("[data-preview]")
    expect(preview).to_have_text(
        "Of 4 selected tasks, 3 will return to the queue; 1 will be skipped: their status does not allow it."
    )
    confirm(page, "Retry", "mailboxes were made")
    expect(page.get_by_text("3 tasks returned to the queue, 1 skipped")).to_be_visible()
    assert {status_of(console, task) for task in tasks} == {"pending"}


def test_all_that_match_are_ignored_or_cancelled_together(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=failed")
    page.get_by_label(f"Select task {tasks[0]}").check()
    page.get_by_role("button", name="Ignore all").click()
    expect(page.locator("[data-preview]")).to_contain_text("3 tasks match")
    confirm(page, "Ignore")
    expect(page.get_by_text("No task matches")).to_be_visible()
    assert [status_of(console, task) for task in tasks] == ["ignored"] * 3 + ["pending"]
    page.get_by_role("button", name="Waiting", exact=True).click()
    page.get_by_label(f"Select task {tasks[3]}").check()
    page.get_by_role("region", name="Actions").get_by_role("button", name="Cancel", exact=True).click()
    confirm(page, "Cancel tasks")
    expect(page.get_by_text("No task matches")).to_be_visible()
    assert status_of(console, tasks[3]) == "cancelled"


def test_filters_are_in_the_address(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks")
    page.get_by_role("button", name="Failed", exact=True).click()
    page.get_by_label("Search").fill("mailbox")
    expect(page.get_by_role("row")).to_have_count(4)
    page.get_by_label("Job", exact=True).fill(JOB)
    page.get_by_label("Submitted").select_option("24")
    asked = {"status": ["failed"], "text": ["mailbox"], "job": [JOB], "hours": ["24"]}
    page.wait_for_url(lambda url: parse_qs(url.partition("?")[2]) == asked)
    page.reload()
    expect(page.get_by_role("row")).to_have_count(4)
    expect(page.get_by_label("Search")).to_have_value("mailbox")
    page.get_by_label("Search").fill(tasks[1])
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_label("Search").fill("nothing like it")
    expect(page.get_by_text("No task matches")).to_be_visible()
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_role("row")).to_have_count(5)


def test_room_and_owner_are_filters_too(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/tasks")
    page.get_by_label("Room").fill("lab")
    page.get_by_label("Owner").fill("bob")
    page.wait_for_url(lambda url: parse_qs(url.partition("?")[2]) == {"room": ["lab"], "owner": ["bob"]})
    expect(page.get_by_text("4 match")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(5)
    for row in page.get_by_role("row").all()[1:]:
        expect(row).to_contain_text("Upload")


NUMBERS = {"Waiting": "Waiting", "Running": "Running", "Failed in 1 h": "Failed", "Oldest waiting": "Waiting"}


def test_a_number_of_the_overview_opens_the_list_behind_it(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/")
    for number, button in NUMBERS.items():
        tile = page.locator("a.stat", has_text=re.compile(f"^{number}"))
        expect(tile.locator(".value")).to_have_text(re.compile(r"\d"))
        said = tile.locator(".value").inner_text()
        tile.click()
        expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
        expect(page.get_by_role("button", name=button, exact=True)).to_have_attribute("aria-pressed", "true")
        page.locator("[data-row]").first.wait_for()
        if number == "Running":
            expect(page.locator("[data-row]")).to_have_count(int(said))
        page.goto(looked_at.at("/"))


async def plenty(queue: Queue) -> None:
    await queue.register_job(*JOB.split(":"))
    await queue.submit_tasks(JOB, [{"to": n} for n in range(130)])


def test_no_row_is_lost_between_pages_while_new_ones_come(console: Console, open_page: Open):
    with_queue(console, plenty)
    page = open_page(console, "/tasks")
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(100)
    before = ids_of(page)

    async def three_more(queue: Queue) -> None:
        await queue.submit_tasks(JOB, [{"to": "late"}] * 3)

    with_queue(console, three_more)
    expect(rows.nth(3)).to_have_attribute("data-row", before[0])
    assert ids_of(page)[3:] == before[:97]
    page.get_by_label(f"Select task {before[10]}").check()
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(133)
    assert ids_of(page)[3:103] == before
    assert len(set(ids_of(page))) == 133
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def ids_of(page: Any) -> list[str]:
    return list(page.locator("[data-row]").evaluate_all("rows => rows.map((row) => row.dataset.row)"))


def test_slash_leads_to_the_search_from_every_page(console: Console, open_page: Open):
    page = open_page(console, "/workers")
    page.get_by_role("heading", name="No workers").wait_for()
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("mailbox")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/tasks?text=mailbox")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_keyboard_is_enough(console: Console, open_page: Open):
    tasks = with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=failed")
    expect(page.get_by_role("row")).to_have_count(4)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next and previous row")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.press("Escape")
    for key in "jjkj":
        page.keyboard.press(key)
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_have_count(0)
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_contain_text("returns to the queue")
    page.get_by_role("dialog").get_by_role("button", name="Retry", exact=True).press("Enter")
    expect(page.get_by_role("row")).to_have_count(4 - 1)
    assert status_of(console, tasks[1]) == "pending"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()


def test_a_job_is_paused_resumed_and_looked_at(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/jobs")
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("open")
    row.get_by_role("button", name="Pause Welcome").click()
    confirm(page, "Pause", "prices change")
    expect(row).to_contain_text("paused")
    expect(row.locator("[data-reason]")).to_have_text("prices change")
    row.get_by_role("button", name="Resume Welcome").click()
    confirm(page, "Resume")
    expect(row).to_contain_text("open")
    row.get_by_role("link", name="Welcome").click()
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    expect(page.get_by_text("Any JSON object.")).to_be_visible()


def test_a_worker_is_retired_and_its_tasks_go_back(console: Console, open_page: Open):
    async def hold(queue: Queue) -> None:
        await queue.register_job(*JOB.split(":"), max_attempts=2)
        worker = await queue.register_worker("mailer", jobs=[JOB])
        await queue.submit_task(JOB)
        await queue.claim_tasks(worker.id, start=True)

    with_queue(console, hold)
    page = open_page(console, "/workers")
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text("alive")
    expect(row.get_by_role("listitem")).to_have_count(1)
    row.get_by_role("button", name="Retire mailer").click()
    confirm(page, "Retire")
    expect(page.get_by_role("heading", name="No workers")).to_be_visible()
    assert with_queue(console, lambda queue: queue.list_workers()) == []


def test_a_provider_is_made_to_forget(console: Console, open_page: Open):
    async def answer(queue: Queue) -> None:
        registered = await queue.register_provider("lab", "files", "disk")
        key = f"provider-result:{registered.provider_id}:abc"
        await queue.store_read(key, b"{}", timedelta(hours=1))

    with_queue(console, answer)
    page = open_page(console, "/providers")
    page.get_by_role("button", name="Invalidate disk").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 cached answer of")
    confirm(page, "Invalidate")
    expect(page.get_by_text("1 answer removed")).to_be_visible()


def test_advice_can_be_copied(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"/tasks/{looked_at.stage.ids['paused']}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy SQL").first.click()
    expect(page.get_by_text("SQL copied")).to_be_visible()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == "select * from pgjobs.resume_job('@global:billing:Invoice')"
    )


def test_the_database_names_who_is_in_the_way_with_the_sql_for_it(console: Console, open_page: Open):
    with holding(console) as pid:
        page = open_page(console, "/database")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        expect(page.get_by_text("No session holds back vacuum")).to_be_visible()
        page.route("**/v1/joblib/database", an_hour_older)
        page.reload()
        blocker = page.get_by_role("listitem").filter(has_text="idle in transaction")
        expect(blocker).to_contain_text("Dead rows cannot be removed for 1 h")
        blocker.get_by_role("button", name="Copy SQL").click()
        expect(page.get_by_text("SQL copied")).to_be_visible()
        assert str(pid) in page.evaluate("navigator.clipboard.readText()")
        page.unroute_all(behavior="wait")
    expect(page.get_by_text("Notify queue")).to_be_visible()
    expect(page.locator(".stat", has_text="Schema").locator(".value")).to_have_text(re.compile(r"^\d+$"))


@contextmanager
def holding(console: Console) -> Iterator[int]:
    """A transaction that is open and has a snapshot."""
    with psycopg.connect(console.url) as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select txid_current()")
        yield connection.info.backend_pid


def an_hour_older(route: Any) -> None:
    """Nobody waits in a test: what began now is told as begun an hour ago."""
    answer = route.fetch()
    told = answer.json()
    for blocker in told["blockers"]:
        since = datetime.fromisoformat(blocker["since"]) - timedelta(hours=1)
        blocker["since"] = since.isoformat()
    route.fulfill(response=answer, json=told)
