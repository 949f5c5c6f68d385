"""Each action: by its button and the keyboard, on a server that goes away, and one whose answer is lost."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID

import asyncpg
import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.staging import BACKUP, in_a_thread
from tests.console.test_actions import JOB, uuid_of, with_queue
from tests.console.test_away import AWAY, leave
from tests.console.test_cleanup import incomplete_run
from tests.console.waiting import wait_in

Names: TypeAlias = dict[str, str]
PAUSED = "@global:mail:Paused"
ARCHIVED = "@global:mail:Old"
HOUR = timedelta(hours=1)


async def everything(queue: Queue) -> Names:
    """Something for each action."""
    for address in (JOB, PAUSED, ARCHIVED):
        await queue.register_job(*address.split(":"), max_attempts=3)
    await queue.pause_job(PAUSED)
    await queue.archive_job(ARCHIVED)
    worker = await queue.register_worker("mailer", jobs=[JOB])
    names = {"worker": str(worker.id)}
    for name in ("failed", "ignored", "running", "stopped", "asking"):
        task = await queue.submit_task(JOB, {"to": name, "api_key": "k-12345"})
        [lease] = await queue.claim_tasks(worker.id, start=True)
        if name in ("failed", "ignored"):
            await queue.fail_task(lease, "no such mailbox", retryable=False)
        if name == "ignored":
            await queue.ignore_task(task.task_id)
        if name == "stopped":
            await queue.cancel_task(task.task_id)
        if name == "asking":
            await queue.suspend_task(lease.task_id, lease.token, "approved", signal="approved")
        names[name] = await uuid_of(queue, task.task_id)
    names["waiting"] = await uuid_of(queue, (await queue.submit_task(JOB, {"to": "waiting"})).task_id)
    for name in ("nightly", "weekly"):
        await queue.register_schedule(name, JOB, cron="30 2 * * *")
        names[name] = str((await queue.get_schedule(f"@global:{name}")).uuid)
    await queue.pause_schedule("@global:weekly")
    registered = await queue.register_provider("lab", "files", "disk", worker_id=worker.id)
    names["provider"] = str(registered.provider_id)
    await queue.store_read(f"provider-result:{registered.provider_id}:a", b"{}", HOUR)
    await queue.register_job(*BACKUP.split(":"))
    await queue.set_job_target(BACKUP, {"type": "local_dir", "base_dir": "/srv"}, node_id="hub")
    for name in ("run", "run2"):
        names[name] = str(await incomplete_run(queue))
        [cleanup] = await queue.claim_cleanups("cleaner")
        await queue.fail_task(cleanup.held, "403 Forbidden", kind="auth")
    return names


Check: TypeAlias = Callable[[Queue, Names], Awaitable[bool]]


def job_is(address: str, told: Callable[[Any], bool]) -> Check:
    async def check(queue: Queue, _names: Names) -> bool:
        return told(await queue.get_job(address))

    return check


def task_is(name: str, status: str) -> Check:
    async def check(queue: Queue, names: Names) -> bool:
        return (await queue.get_task(task_uuid=UUID(names[name]))).status == status

    return check


async def cancellation_is_requested(queue: Queue, names: Names) -> bool:
    return (await queue.get_task(task_uuid=UUID(names["running"]))).cancel_requested_at is not None


async def job_is_gone(queue: Queue, _names: Names) -> bool:
    return JOB not in [job.full_name for job in await queue.list_jobs(include_archived=True)]


async def one_more_task(queue: Queue, _names: Names) -> bool:
    """Exactly one, however often it was asked for."""
    found = len(await queue.list_tasks(job=JOB, room="@global"))
    assert found in (6, 7)
    return found == 7


async def one_more_task_in_place_of_the_failed(queue: Queue, names: Names) -> bool:
    return await one_more_task(queue, names) and await task_is("failed", "ignored")(queue, names)


async def the_signal_is_there(queue: Queue, names: Names) -> bool:
    task = await queue.get_task(task_uuid=UUID(names["asking"]))
    return task.phase != "waiting"


async def nightly_ran(queue: Queue, _names: Names) -> bool:
    return bool((await queue.get_schedule("@global:nightly")).recent)


def schedules_are(told: Callable[[dict[str, Any]], bool]) -> Check:
    async def check(queue: Queue, _names: Names) -> bool:
        return told({schedule.name: schedule for schedule in await queue.list_schedules()})

    return check


async def worker_is_gone(queue: Queue, _names: Names) -> bool:
    return await queue.list_workers() == []


async def cache_is_empty(queue: Queue, _names: Names) -> bool:
    return [status.kept for status in await queue.providers_status()] == [0]


def cleanups_are(*statuses: str) -> Check:
    async def check(queue: Queue, names: Names) -> bool:
        found = [(await queue.get_cleanup(UUID(names[run]))).status for run in ("run", "run2")]
        return found == list(statuses)

    return check


async def nothing_to_see(_queue: Queue, _names: Names) -> bool:
    return True


@dataclass(frozen=True)
class Deed:
    """An action: on which page, its button if it has one, its address, what to fill in and what is then."""

    place: str
    button: str | None
    address: str
    verb: str
    done: Check
    fill: dict[str, str] = field(default_factory=dict)
    choose: str | None = None
    is_seen: bool = True


JOB_PAGE = "/jobs/%40global%3Amail%3AWelcome"
CLEANUP = "/maintenance/cleanup"
RETRIED = ("queued", "queued")
DEEDS = {
    "pause job": Deed(JOB_PAGE, "Pause", "do=pause_job", "Pause", job_is(JOB, lambda job: job.paused_at)),
    "resume job": Deed("/jobs", "Resume Paused", "do=resume_job", "Resume", job_is(PAUSED, lambda j: not j.paused_at)),
    "limit": Deed(JOB_PAGE, "Change limit", "do=limit_job", "Change limit", job_is(JOB, lambda job: job.max_running == 3), {"Concurrency limit": "3"}),
    "policy": Deed(JOB_PAGE, "Change policy", "do=policy", "Change policy", job_is(JOB, lambda job: job.max_attempts == 9), {"Attempts": "9"}),
    "archive": Deed("/jobs", "Delete Welcome", "do=delete", "Archive", job_is(JOB, lambda job: job.archived_at)),
    "delete": Deed("/jobs", "Delete Welcome", "do=delete", "Delete permanently", job_is_gone, choose="Delete permanently"),
    "unarchive": Deed("/jobs?archived=1", "Unarchive Old", "do=unarchive_job", "Unarchive", job_is(ARCHIVED, lambda job: not job.archived_at)),
    "submit": Deed(JOB_PAGE, "Submit a task", "do=submit", "Submit", one_more_task, {"Payload as JSON": '{"to": "eve"}'}),
    "retry failed": Deed(JOB_PAGE, "Retry failed", "do=retry_failed", "Retry", task_is("failed", "pending")),
    "retry": Deed("/tasks/{failed}", "Retry", "do=retry_task", "Retry", task_is("failed", "pending")),
    "ignore": Deed("/tasks/{failed}", "Ignore", "do=ignore_task", "Ignore", task_is("failed", "ignored")),
    "unignore": Deed("/tasks/{ignored}", "Unignore", "do=unignore_task", "Unignore", task_is("ignored", "pending")),
    "cancel": Deed("/tasks/{waiting}", "Cancel", "do=stop_task", "Cancel task", task_is("waiting", "cancelled")),
    "stop": Deed("/tasks/{running}", "Request cancellation", "do=stop_task", "Request cancellation", cancellation_is_requested),
    "force": Deed("/tasks/{stopped}", "Force end", "do=cancel_task", "Force end", task_is("stopped", "cancelled")),
    "edit": Deed("/tasks/{failed}", "Edit payload", "do=edit", "Retry edited", one_more_task_in_place_of_the_failed, {"Payload as JSON": '{"to": "ada"}'}),
    "duplicate": Deed("/tasks/{failed}", "Duplicate", "do=duplicate", "Submit copy", one_more_task),
    "signal": Deed("/tasks/{asking}", "Send signal approved", "do=send_signal", "Send signal", the_signal_is_there, {"Payload, in JSON": '{"by": "ada"}'}),
    "run": Deed("/schedules", "Run now nightly", "do=run_schedule", "Run now", nightly_ran),
    "pause schedule": Deed("/schedules", "Pause nightly", "do=pause_schedule", "Pause", schedules_are(lambda known: known["nightly"].paused_at)),
    "resume schedule": Deed("/schedules", "Resume weekly", "do=resume_schedule", "Resume", schedules_are(lambda known: not known["weekly"].paused_at)),
    "delete schedule": Deed("/schedules", "Delete nightly", "do=retire_schedule", "Delete", schedules_are(lambda known: "nightly" not in known)),
    "create schedule": Deed("/schedules", "Create a schedule", "do=create", "Create schedule", schedules_are(lambda known: "hourly" in known), {"Name": "hourly", "Job": JOB}),
    "edit schedule": Deed("/schedules", "Edit nightly", "do=edit", "Save changes", schedules_are(lambda known: known["nightly"].cron == "15 4 * * *"), {"Cron: minute, hour, day, month, weekday": "15 4 * * *"}),
    "retire": Deed("/workers", "Retire mailer", "do=retire_worker", "Retire", worker_is_gone),
    "invalidate": Deed("/providers", "Invalidate disk", "do=invalidate", "Invalidate", cache_is_empty),
    "many": Deed("/tasks?do=retry&of={failed},{ignored}", None, "do=retry", "Retry", task_is("ignored", "pending")),
    "all that match": Deed("/tasks?status=failed&do=ignore_all", None, "do=ignore_all", "Ignore", task_is("failed", "ignored")),
    "ignore cleanup": Deed(CLEANUP, "Ignore run {run}", "do=ignore", "Ignore", cleanups_are("ignored", "blocked")),
    "many cleanups": Deed(f"{CLEANUP}?do=ignore_runs&of={{run}}", None, "do=ignore_runs", "Ignore", cleanups_are("ignored", "blocked")),
    "all cleanups": Deed(f"{CLEANUP}?error_kind=auth&do=retry_all", None, "do=retry_all", "Retry", cleanups_are(*RETRIED)),
    "upkeep": Deed("/?do=sweep", None, "do=sweep", "Run upkeep", nothing_to_see, is_seen=False),
}  # fmt: skip
LOOKS = [("phone", "light"), ("tablet", "dark"), ("desk", "light"), ("phone", "dark"), ("desk", "dark")]
OVER = f"""
() => {{
  const alert = document.querySelector("dialog[open] [role=alert]");
  return !document.querySelector("dialog[open]") || (alert && !alert.textContent.includes("{AWAY}"));
}}
"""


def lose_answers(route: Any) -> None:
    """The server does what it was asked, and nobody hears of it."""
    if route.request.method == "GET":
        route.continue_()
        return
    route.fetch()
    route.abort()


@pytest.mark.parametrize("name", DEEDS)
def test_an_action_waits_for_its_server_and_is_done_once_though_its_answer_is_lost(
    console: Console, open_page: Open, name: str
):
    deed = DEEDS[name]
    in_a_thread(cleaning_up_soon(console.url))
    names = with_queue(console, everything)
    size, colours = LOOKS[list(DEEDS).index(name) % len(LOOKS)]
    page = open_page(console, deed.place.format(**names), size=size, colours=colours)
    dialog = open_dialog(page, deed, names)
    fill_in(dialog, deed)
    button = dialog.get_by_role("button", name=deed.verb, exact=True)
    expect(button).to_be_enabled()

    def is_done() -> bool:
        return bool(with_queue(console, lambda queue: deed.done(queue, names)))

    leave(page)
    button.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(AWAY)
    for label, value in deed.fill.items():
        expect(dialog.get_by_label(label, exact=True)).to_have_value(value)
    assert not (deed.is_seen and is_done())

    page.unroute_all(behavior="wait")
    page.route(re.compile("/v1/|/api/"), lose_answers)
    button.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text(AWAY)
    expect(button).to_be_enabled()
    assert is_done()

    page.unroute_all(behavior="wait")
    button.press("Enter")
    wait_in(page, OVER)
    if dialog.count():
        dialog.get_by_role("button", name="Back").press("Enter")
    expect(dialog).to_have_count(0)
    assert "do=" not in page.url
    assert is_done()


async def cleaning_up_soon(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("update pgjobs.settings set cleanup_after = '1 microsecond'")
    await connection.close()


def open_dialog(page: Any, deed: Deed, names: Names) -> Any:
    if deed.button is not None:
        button = page.locator("main").get_by_role("button", name=deed.button.format(**names), exact=True)
        button.first.press("Enter")
    page.wait_for_url(re.compile(re.escape(deed.address)))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.locator("[aria-busy]")).to_have_count(0)
    return dialog


def fill_in(dialog: Any, deed: Deed) -> None:
    if deed.choose is not None:
        dialog.get_by_role("radio", name=deed.choose).check()
    for label, value in deed.fill.items():
        dialog.get_by_label(label, exact=True).fill(value)
    copied = dialog.get_by_text("Copy as psql, CLI or curl")
    copied.press("Enter")
    expect(dialog.get_by_role("button", name="Copy curl command")).to_be_visible()
    copied.press("Enter")
