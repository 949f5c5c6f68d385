"""The page of incomplete clean-ups, on a phone and at a desk, and deleting jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server.app import create_app
from tests.console.conftest import Console, Open, quiet
from tests.console.staging import BACKUP, MINUTE, Stage, in_a_thread
from tests.console.test_actions import with_queue
from tests.console.test_looks import resize
from tests.surfaces.rest_server import serving

PLACE = "/maintenance/cleanup"
SIZES = pytest.mark.parametrize("size", ["phone", "desk"])
STATUSES = ("queued", "running", "retrying", "blocked", "done", "ignored", "abandoned")
SECRETS = ("hunter2", "deadbeef", "#part", "ada:")


@pytest.fixture
def runs(database_url: str) -> Iterator[tuple[Console, dict[str, UUID]]]:
    """A blocked clean-up and a running one."""

    async def stage() -> dict[str, UUID]:
        connection = await asyncpg.connect(database_url)
        await connection.execute("update pgjobs.settings set cleanup_after = '1 microsecond'")
        await connection.close()
        async with await Queue.connect(database_url) as queue:
            await queue.register_job(*BACKUP.split(":"))
            target = {"type": "webdav", "base_url": "https://dav.example.org/backups", "secret_name": "dav"}
            await queue.set_job_target(BACKUP, target, node_id="agent-7")
            blocked = await incomplete_run(queue)
            [lease] = await queue.claim_cleanups("cleaner")
            error = "403 Forbidden: https://ada:hunter2@dav.example.org/backups?sig=deadbeef#part"
            await queue.fail_task(lease.held, error, kind="auth")
            running = await incomplete_run(queue)
            await queue.claim_cleanups("cleaner")
            return {"blocked": blocked, "running": running}

    made = in_a_thread(stage())
    with serving(create_app(url=database_url, settings=quiet())) as base:
        yield Console(base, database_url, Stage()), made


async def incomplete_run(queue: Queue) -> UUID:
    submitted = await queue.submit_task(BACKUP)
    job_id = (await queue.get_job(BACKUP)).id
    leases = await queue.claim_tasks(holder="agent", lease=MINUTE, job_ids=[job_id], start=True)
    await queue.fail_tasks(leases, ["the agent went away"])
    await queue.reconcile_cleanups()
    return (await queue.get_task(submitted.task_id)).uuid


def row_of(page: Any, run: UUID) -> Any:
    return page.locator(f"[data-row='{run}']")


@SIZES
def test_a_blocked_one_is_ignored_taken_up_and_retried(
    runs: tuple[Console, dict[str, UUID]], open_page: Open, size: str
):
    console, made = runs
    page = open_page(console, PLACE, size=size)
    row = row_of(page, made["blocked"])
    expect(row.locator(".tag")).to_have_text("blocked")
    row.get_by_role("button", name="Ignore").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill("kept for the auditors")
    dialog.get_by_role("button", name="Ignore", exact=True).click()
    expect(row.locator(".tag")).to_have_text("ignored")
    expect(row.get_by_role("button", name=f"Ignore run {made['blocked']}", exact=True)).to_have_count(0)
    row.get_by_role("button", name="Unignore").click()
    expect(row.locator(".tag")).to_have_text("queued")
    row.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("Retrying now")).to_be_visible()
    kinds = [
        (event.kind, event.message)
        for event in with_queue(console, lambda queue: queue.list_cleanup_events(made["blocked"]))
    ]
    assert [kind for kind, _ in kinds][-3:] == ["ignored", "unignored", "retry_now"]


def test_a_running_one_is_busy(runs: tuple[Console, dict[str, UUID]], open_page: Open):
    console, made = runs
    page = open_page(console, PLACE, size="phone")
    row = row_of(page, made["running"])
    busy = row.get_by_role("button", name="Retry")
    for size in ("phone", "desk"):
        resize(page, size)
        expect(busy).to_have_text("Busy")
        expect(busy).to_be_disabled()
        expect(row.get_by_role("button", name="Ignore")).to_be_disabled()


def test_what_is_done_is_left_alone(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"{PLACE}?status=done", size="phone")
    row = page.locator("[data-row]")
    for size in ("phone", "desk"):
        resize(page, size)
        expect(row.locator(".tag")).to_have_text("done")
        expect(row.get_by_role("button", name="Retry")).to_have_text("Retry")
        expect(row.get_by_role("button", name="Retry")).to_be_disabled()
        expect(row.get_by_role("button", name="Ignore")).to_be_disabled()


def test_it_is_a_table_from_768_pixels_and_cards_below(looked_at: Console, open_page: Open):
    page = open_page(looked_at, PLACE)
    for width, is_table in ((360, False), (767, False), (768, True), (1440, True)):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator("main table")).to_have_count(1 if is_table else 0)
        expect(page.locator("main ul.cards")).to_have_count(0 if is_table else 1)
        expect(page.locator("[data-row]")).to_have_count(len(STATUSES))
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), width


def test_every_status_is_a_colour_an_icon_and_a_word(looked_at: Console, open_page: Open):
    page = open_page(looked_at, PLACE)
    tags = page.locator("[data-row] .tag")
    expect(tags).to_have_count(len(STATUSES))
    assert set(tags.all_inner_texts()) == set(STATUSES)
    looks = tags.evaluate_all(
        """tags => tags.map((tag) => [tag.innerText, getComputedStyle(tag).color, tag.querySelector("svg").innerHTML])"""
    )
    colours = {word: colour for word, colour, _ in looks}
    assert colours["queued"] == colours["ignored"]
    assert len({colours[word] for word in ("queued", "running", "retrying", "blocked", "done")}) == 5
    assert all(picture for _, _, picture in looks)


def test_a_node_and_a_job_are_filters_in_the_address(looked_at: Console, open_page: Open):
    page = open_page(looked_at, PLACE)
    page.get_by_role("link", name="on hub").click()
    expect(page.locator("[data-row]")).to_have_count(1)
    assert page.url.endswith("?node_id=hub")
    page.reload()
    expect(page.locator("[data-row] .tag")).to_have_text("abandoned")
    page.get_by_role("button", name="Only node hub").click()
    expect(page.locator("[data-row]")).to_have_count(len(STATUSES))
    page.locator("[data-open]").first.click()
    page.get_by_role("dialog").get_by_role("link", name=BACKUP).click()
    expect(page.get_by_role("button", name="Only job")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "?job_id=" in page.url
    expect(page.locator("[data-row]")).to_have_count(len(STATUSES))


def test_on_a_phone_the_details_lead_to_the_rest_of_a_node(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"{PLACE}?status=abandoned", size="phone")
    page.locator("[data-open]").click()
    page.get_by_role("dialog").get_by_role("link", name="hub").click()
    expect(page.get_by_role("button", name="Only node hub")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "node_id=hub" in page.url


def test_details_say_who_put_it_aside_when_and_why(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"{PLACE}?status=ignored", size="phone")
    dialog = page.get_by_role("dialog")
    for size in ("phone", "desk"):
        resize(page, size)
        page.locator("[data-open]").click()
        expect(dialog.locator("dd", has_text="auditors")).to_have_text(
            re.compile(r"^by ops, \d+ min ago: kept for the auditors$")
        )
        expect(dialog.locator(".steps li").first).to_contain_text("ignored by ops")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_a_type_of_target_that_the_address_names_is_among_the_choices(
    runs: tuple[Console, dict[str, UUID]], open_page: Open
):
    console, _ = runs
    page = open_page(console, f"{PLACE}?target_type=tape")
    expect(page.get_by_label("Target")).to_have_value("tape")
    expect(page.get_by_role("alert")).to_contain_text("target_type must be one of")
    page.get_by_label("Target").select_option("webdav")
    expect(page.locator("[data-row]")).to_have_count(2)


async def twenty_more(queue: Queue) -> None:
    for _ in range(20):
        await incomplete_run(queue)


@SIZES
def test_there_is_a_way_through_the_pages_and_back_from_one_that_is_gone(
    runs: tuple[Console, dict[str, UUID]], open_page: Open, size: str
):
    console, _ = runs
    with_queue(console, twenty_more)
    page = open_page(console, PLACE, size=size)
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(20)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    expect(rows).to_have_count(2)
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    expect(rows).to_have_count(20)
    for gone in (7, 99_999_999):
        page.goto(console.at(f"{PLACE}?page={gone}"))
        page.wait_for_url("**?page=2")
        expect(rows).to_have_count(2)


def test_the_abandoned_one_tells_all_that_happened(looked_at: Console, open_page: Open):
    page = open_page(looked_at, f"{PLACE}?status=abandoned", size="phone")
    page.locator("[data-open]").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".steps li").first).to_contain_text("abandoned")
    expect(dialog.locator(".steps li", has_text="No route to host").first).to_be_visible()
    assert dialog.locator(".steps li", has_text="attempt").count() >= 20


def test_a_conflict_is_said_and_the_row_shows_how_it_stands(
    runs: tuple[Console, dict[str, UUID]], open_page: Open
):
    console, made = runs
    page = open_page(console, PLACE)
    row = row_of(page, made["blocked"])
    row.get_by_role("button", name="Ignore").click()

    async def start(queue: Queue) -> None:
        await queue.retry_cleanup(made["blocked"])
        await queue.claim_cleanups("another cleaner")

    with_queue(console, start)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Ignore", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("running")
    dialog.get_by_role("button", name="Back").click()
    expect(row.locator(".tag")).to_have_text("running")


@SIZES
def test_details_show_the_target_and_what_happened_without_secrets(
    runs: tuple[Console, dict[str, UUID]], open_page: Open, size: str
):
    console, made = runs
    answers: list[str] = []
    page = open_page(console, "/database", size=size)
    page.on("response", lambda answer: answers.append(answer.text()) if "/api/" in answer.url else None)
    page.goto(console.at(PLACE))
    row_of(page, made["blocked"]).get_by_role("button", name="Details").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("https://dav.example.org/backups")
    expect(dialog).to_contain_text("403 Forbidden")
    box = dialog.bounding_box()
    height = page.viewport_size["height"]
    if size == "phone":
        assert box["x"] == 0
        assert box["y"] + box["height"] == height, "it is a drawer from below"
    else:
        assert box["y"] > 10
        assert box["y"] + box["height"] < height, "it is in the middle"
    for text in (page.content(), *answers):
        assert not any(secret in text for secret in SECRETS)
    assert len(answers) >= 2


def test_filters_are_in_the_address_and_nothing_found_is_said(
    runs: tuple[Console, dict[str, UUID]], open_page: Open
):
    console, made = runs
    page = open_page(console, PLACE)
    page.get_by_role("button", name="Blocked", exact=True).click()
    expect(page.locator("[data-row]")).to_have_count(1)
    assert page.url.endswith("?status=blocked")
    page.reload()
    expect(row_of(page, made["blocked"])).to_be_visible()
    expect(page.get_by_role("button", name="Blocked", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Target").select_option("local_dir")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.get_by_role("link", name="show all").click()
    expect(page.locator("[data-row]")).to_have_count(2)


def test_the_help_explains_every_status_and_button(console: Console, open_page: Open):
    page = open_page(console, PLACE, size="phone")
    expect(page.get_by_role("heading", name="Nothing to clean up")).to_be_visible()
    page.get_by_role("button", name="Help: statuses and actions").click()
    dialog = page.get_by_role("dialog")
    for word in (*STATUSES, "Retry", "Ignore", "Unignore"):
        expect(dialog.get_by_text(word, exact=True)).to_be_visible()


@SIZES
def test_a_job_is_archived_and_taken_back(runs: tuple[Console, dict[str, UUID]], open_page: Open, size: str):
    console, _ = runs
    page = open_page(console, "/jobs", size=size)
    page.get_by_role("button", name="Delete Nightly").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Archive (recommended)")).to_be_checked()
    dialog.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_role("link", name="Nightly")).to_have_count(0)
    page.get_by_label("Show archived").check()
    page.get_by_role("button", name="Unarchive Nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Unarchive", exact=True).click()
    expect(page.get_by_role("button", name="Pause Nightly")).to_be_visible()


def test_a_job_is_deleted_for_good_with_its_clean_up(runs: tuple[Console, dict[str, UUID]], open_page: Open):
    console, _ = runs
    page = open_page(console, "/jobs")
    page.get_by_role("button", name="Delete Nightly").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Delete permanently").check()
    dialog.get_by_role("button", name="Delete permanently", exact=True).click()
    expect(page.get_by_role("link", name="Nightly")).to_have_count(0)
    assert with_queue(console, lambda queue: queue.list_cleanups()) == []


def test_a_job_in_the_archive_is_deleted_or_left_there(
    runs: tuple[Console, dict[str, UUID]], open_page: Open
):
    console, _ = runs
    with_queue(console, lambda queue: queue.archive_job(BACKUP))
    page = open_page(console, "/jobs?archived=1")
    page.get_by_role("button", name="Delete Nightly").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Delete permanently")).to_be_checked()
    expect(dialog.get_by_label("Archive")).to_have_count(0)
    dialog.get_by_role("button", name="Delete permanently", exact=True).click()
    expect(page.get_by_role("link", name="Nightly")).to_have_count(0)


def test_nodes_are_shown_with_who_cleans_up_for_them(runs, open_page: Open):
    console, _ = runs

    async def elsewhere(queue: Queue) -> None:
        await queue.register_job("lab", "backups", "disk")
        target = {"type": "local_dir", "base_dir": "/srv/backups"}
        await queue.set_job_target("lab:backups:disk", target, node_id="agent-9")

    with_queue(console, elsewhere)
    page = open_page(console, PLACE)
    nodes = page.locator("section.panel").filter(has=page.get_by_role("heading", name="Nodes"))
    expect(nodes).to_contain_text("agent-7 · webdav · 2 open")
    expect(nodes).to_contain_text("cleaner, last seen")
    expect(nodes).to_contain_text("agent-9 · directory · 0 open")
    expect(nodes).to_contain_text(
        "No process cleans up here. -- on that machine: pgjobs cleanup run --node agent-9"
    )
