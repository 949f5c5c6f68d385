"""Schedules, by clicking: run now, paused, resumed, deleted and looked at, and what happens when it is refused."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import expect

from pgjobs.queue.queue import Queue
from pgjobs.queue.records import Schedule
from tests.console.conftest import Console, Open
from tests.console.test_actions import JOB, confirm, with_queue
from tests.console.test_looks import STICKING_OUT, serious

NIGHTLY = "@global:nightly"


async def schedule_one(queue: Queue) -> None:
    await queue.register_job(*JOB.split(":"))
    await queue.register_schedule(
        "nightly",
        JOB,
        cron="30 2 * * *",
        timezone="Asia/Tokyo",
        payload={"to": "ada", "api_key": "k-12345"},
        missed="skip",
        overlap=False,
    )


def schedules_of(console: Console) -> list[Schedule]:
    return with_queue(console, lambda queue: queue.list_schedules())


def row_of(page: Any) -> Any:
    return page.locator("[data-row]").first


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_a_schedule_is_run_now_and_leads_to_its_task_and_back(console: Console, open_page: Open, size: str):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules", size=size)
    expect(row_of(page)).to_contain_text("no runs yet")
    page.get_by_role("button", name="Run now nightly").click()
    confirm(page, "Run now", "the disk was full last night")
    toast = page.locator(".toast", has_text="nightly started")
    expect(row_of(page).get_by_role("link", name=re.compile("^waiting, manual"))).to_be_visible()
    [run] = schedules_of(console)[0].recent
    toast.get_by_role("link").click()
    page.wait_for_url(f"**#/tasks/{run.task_uuid}")
    expect(page.get_by_role("link", name=f"schedule {NIGHTLY}")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("link", name=f"schedule {NIGHTLY}").click()
    expect(page.get_by_role("heading", name="Schedules")).to_be_visible()
    expect(row_of(page)).to_contain_text("nightly")
    assert with_queue(console, lambda queue: queue.get_task(task_uuid=run.task_uuid)).status == "pending"


def test_a_schedule_is_paused_and_resumed(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    row = row_of(page)
    expect(row).to_contain_text("active")
    page.get_by_role("button", name="Pause nightly").click()
    confirm(page, "Pause", "the disk is full")
    expect(row.locator(".tag")).to_have_text("paused")
    assert schedules_of(console)[0].paused_at is not None
    page.get_by_role("button", name="Resume nightly").click()
    confirm(page, "Resume")
    expect(row.locator(".tag")).to_have_text("active")
    assert schedules_of(console)[0].next_run_at is not None


def test_a_schedule_is_deleted_and_its_tasks_stay(console: Console, open_page: Open):
    async def run_once(queue: Queue) -> UUID:
        await schedule_one(queue)
        return (await queue.run_schedule(NIGHTLY)).task_uuid

    task = with_queue(console, run_once)
    page = open_page(console, "/schedules")
    page.get_by_role("button", name="Delete nightly").click()
    expect(page.get_by_role("dialog")).to_contain_text("Tasks it has submitted are kept")
    confirm(page, "Delete")
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible()
    assert schedules_of(console) == []
    assert with_queue(console, lambda queue: queue.get_task(task_uuid=task)).status == "pending"


def test_details_say_the_rules_the_next_times_and_how_it_went(console: Console, open_page: Open):
    async def run_once(queue: Queue) -> None:
        await schedule_one(queue)
        await queue.run_schedule(NIGHTLY)

    with_queue(console, run_once)
    page = open_page(console, "/schedules")
    page.get_by_role("button", name="nightly: details").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("At 02:30 every day")
    expect(dialog).to_contain_text("A run not started within a minute is skipped.")
    expect(dialog).to_contain_text("A run is skipped while the previous one is still running.")
    expect(dialog.get_by_label("Payload", exact=True)).to_contain_text('"to": "ada"')
    expect(dialog).not_to_contain_text("k-12345")
    # By the clocks of the schedule's place, wherever the browser is.
    expect(dialog.get_by_text("Next runs, in Asia/Tokyo")).to_be_visible()
    expect(dialog.locator(".times > li", has_text=", 02:30")).to_have_count(5)
    expect(dialog.locator(".steps > li")).to_have_count(1)
    expect(dialog.locator(".steps > li")).to_contain_text("manual")
    dialog.get_by_role("link", name=JOB).click()
    expect(dialog).to_have_count(0)
    page.wait_for_url("**#/jobs/*")


async def archive(queue: Queue) -> None:
    await queue.archive_job(JOB)


async def retire(queue: Queue) -> None:
    await queue.retire_schedule(NIGHTLY)


REFUSED = [
    # The button, what that of the dialog says, what happens meanwhile, why it is refused, what the page says then.
    ("Run now nightly", "Run now", archive, "archived", "job archived"),
    ("Run now nightly", "Run now", retire, "does not exist", "No schedules yet"),
    ("Pause nightly", "Pause", retire, "does not exist", "No schedules yet"),
    ("Delete nightly", "Delete", retire, "does not exist", "No schedules yet"),
]


@pytest.mark.parametrize(("button", "verb", "meanwhile", "why", "then"), REFUSED)
def test_a_refusal_stays_and_shows_how_things_stand_even_on_a_paused_page(
    console: Console,
    open_page: Open,
    button: str,
    verb: str,
    meanwhile: Callable[[Queue], Awaitable[None]],
    why: str,
    then: str,
):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    page.get_by_role("button", name=button).wait_for()
    page.locator(".pulse").click()
    page.get_by_role("button", name=button).click()
    with_queue(console, meanwhile)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=verb, exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text(why)
    dialog.get_by_role("button", name="Back").click()
    expect(page.get_by_text(then).first).to_be_visible()
    expect(page.get_by_role("button", name="Run now nightly")).to_have_count(0)


def test_who_may_look_may_not_operate(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules", user="ada", is_superuser=False)
    page.get_by_role("button", name="nightly: details").click()
    expect(page.get_by_role("dialog")).to_contain_text("At 02:30 every day")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    for verb in ("Run now", "Pause", "Delete"):
        expect(page.get_by_role("button", name=f"{verb} nightly")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_changes_show_without_a_reload(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    expect(page.locator(".pulse")).to_contain_text("Live")
    expect(row_of(page)).to_contain_text("no runs yet")

    async def run(queue: Queue) -> None:
        await queue.run_schedule(NIGHTLY)

    with_queue(console, run)
    expect(row_of(page).get_by_role("link", name=re.compile("^waiting"))).to_be_visible(timeout=10000)

    async def work(queue: Queue) -> None:
        worker = await queue.register_worker("mailer", jobs=[JOB])
        await queue.fail_tasks(await queue.claim_tasks(worker.id, start=True), ["full"], retryable=[False])
        await queue.pause_schedule(NIGHTLY)

    with_queue(console, work)
    expect(row_of(page).get_by_role("link", name=re.compile("^failed"))).to_be_visible(timeout=10000)
    expect(row_of(page).locator(".tag")).to_have_text("paused")
    with_queue(console, retire)
    expect(page.get_by_role("heading", name="No schedules yet")).to_be_visible(timeout=10000)


def test_the_keyboard_is_enough(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules")
    row_of(page).wait_for()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="nightly: details")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("At 02:30 every day")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="nightly: details")).to_be_focused()
    page.keyboard.press("r")
    expect(page.get_by_role("dialog")).to_contain_text("submits a task of @global:mail:Welcome now")
    page.get_by_role("dialog").get_by_role("button", name="Run now").press("Enter")
    expect(row_of(page).get_by_role("link", name=re.compile("^waiting"))).to_be_visible()


def test_marks_are_told_by_word_and_lead_to_their_tasks(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/schedules")
    row = page.locator("[data-row]", has_text="refresh-thumbnails")
    marks = row.get_by_role("list", name="Last runs").get_by_role("listitem")
    expect(marks).to_have_count(8)
    skipped = marks.filter(has_text="skipped")
    expect(skipped).to_contain_text("A run before it has not ended")
    expect(skipped.get_by_role("link")).to_have_count(0)
    expect(marks.filter(has_text="manual")).to_have_count(1)
    marks.filter(has_text="failed").get_by_role("link").click()
    expect(page.get_by_text("no space left on device").first).to_be_visible()


def test_the_schedules_of_a_job_or_a_room_are_shown_alone(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/schedules?job=studio:render:Thumbnail")
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Only job studio:render:Thumbnail").click()
    expect(rows).to_have_count(4)
    expect(page.get_by_role("button", name="show all")).to_have_count(0)
    page.goto(looked_at.at("/schedules?room=lab"))
    expect(rows).to_have_count(1)
    page.goto(looked_at.at("/schedules?job=lab:rough:Gone"))
    page.get_by_text("No schedule matches").wait_for()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(looked_at.at(f"/schedules?room={'far' * 40}"))
    page.get_by_text("No schedule matches").wait_for()
    assert page.evaluate(STICKING_OUT) == []
    page.get_by_role("link", name="Show all schedules").click()
    expect(rows).to_have_count(4)


def test_a_dialog_is_left_with_its_page(console: Console, open_page: Open):
    with_queue(console, schedule_one)
    page = open_page(console, "/schedules", size="phone")
    page.goto(console.at("/jobs"))
    page.get_by_role("heading", name="Jobs").wait_for()
    page.goto(console.at("/schedules"))
    page.get_by_role("button", name="Run now nightly").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
