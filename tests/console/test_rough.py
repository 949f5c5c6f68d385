"""Hostile names, long texts, many rows, silent workers, lost sessions: the page stays whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from playwright.sync_api import expect

from pgjobs.queue.server import ServerQueue as Queue
from tests.console.conftest import Console, Open
from tests.console.staging import ADDRESS, in_a_thread
from tests.console.test_actions import JOB, fail_some, uuid_of, with_queue
from tests.console.test_cleanup import SECRETS
from tests.console.test_looks import STICKING_OUT
from tests.surfaces.rest_server import token_of

HTML = "<img src=x onerror=alert(1)>"
EVEN = ",".join(str(number) for number in range(0, 24, 2))
NAMES = [HTML, "مهمة שלום", "W" * 120]
ERROR = f"{HTML} {'E' * 3000}\n\nTraceback (most recent call last):\n  a file"


async def hostile(queue: Queue) -> list[str]:
    tasks = []
    for name in NAMES:
        await queue.register_job("lab", "rough", name)
        await queue.register_schedule(name, f"lab:rough:{name}", cron=f"{EVEN} {EVEN} * * *")
        await queue.run_schedule(f"lab:{name}")
        tasks.append(
            await queue.submit_task(
                f"lab:rough:{name}",
                {"text": HTML, "long": "x" * 200_000},
                owner=f"{HTML}\u202e{'o' * 90}",
                tags=[HTML, "t" * 60],
            )
        )
    worker = await queue.register_worker(f"{HTML} {'w' * 90}", jobs=[f"lab:rough:{name}" for name in NAMES])
    leases = await queue.claim_tasks(worker.id, quantity=6, start=True)
    await queue.fail_tasks(leases, [ERROR] * 6, kinds=[HTML] * 6, retryable=[False] * 6)
    return [await uuid_of(queue, task.task_id) for task in tasks]


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_names_and_texts_of_any_kind_are_only_text(console: Console, open_page: Open, size: str):
    tasks = with_queue(console, hostile)
    page = open_page(console, "/tasks", size=size)
    for place in ("/tasks", "/jobs", "/workers", "/schedules", *(f"/tasks/{task}" for task in tasks)):
        page.goto(console.at(place))
        page.get_by_text("onerror").first.wait_for()
        expect(page.locator("[aria-busy]")).to_have_count(0)
        assert page.locator("main img").count() == 0
        assert page.evaluate(STICKING_OUT) == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    expect(page.locator(".notice.bad")).not_to_contain_text("Traceback")
    expect(page.locator("pre", has_text="Traceback")).to_be_visible()
    box = page.locator(".notice.bad").bounding_box()
    assert box["height"] < 300, "a long error does not push everything else away"


async def many(queue: Queue) -> None:
    for number in range(53):
        await queue.register_job("lab", "plenty", f"Job{number}")


def test_more_jobs_than_fit_on_a_page_are_announced_and_shown(console: Console, open_page: Open):
    with_queue(console, many)
    page = open_page(console, "/jobs")
    expect(page.get_by_text("Showing 50 of 53.")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("row")).to_have_count(54)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


async def fifty_attempts(queue: Queue) -> str:
    await queue.register_job(*JOB.split(":"), max_attempts=60, backoff_base=timedelta(), events="full")
    worker = await queue.register_worker("mailer", jobs=[JOB])
    task = await queue.submit_task(JOB)
    for number in range(50):
        [lease] = await queue.claim_tasks(worker.id, start=True)
        await queue.fail_task(lease, f"mailbox busy, attempt {number + 1}")
        await queue.retry_task(task.task_id)
    return await uuid_of(queue, task.task_id)


def test_every_one_of_fifty_attempts_is_told(console: Console, open_page: Open):
    task = with_queue(console, fifty_attempts)
    page = open_page(console, f"/tasks/{task}")
    attempts = page.locator("section", has=page.get_by_role("heading", name="Attempts", exact=True))
    expect(attempts.locator("article")).to_have_count(50)
    expect(attempts.locator("article").first).to_contain_text("attempt 50")


WAITING = {
    "paused": ("was paused", "Resume the job"),
    "nobody": ("No worker is registered", "Start a worker that serves it"),
    "later": ("It is due in", "Retry makes it due now"),
    "retrying": ("refused the connection", "Retry makes it due now"),
    "blocked": ("the upload token has expired", "fix what the error names. Retry makes it due now"),
    "ignored": ("ignored it", "Unignore returns it to the queue"),
}


def test_a_task_that_waits_says_why_and_what_to_do(looked_at: Console, open_page: Open):
    page = open_page(looked_at, "/tasks")
    for name, (why, todo) in WAITING.items():
        page.goto(looked_at.at(f"/tasks/{looked_at.stage.ids[name]}"))
        expect(page.locator("[data-why]")).to_contain_text(why)
        expect(page.locator("[data-todo]")).to_contain_text(todo)


def test_a_task_that_a_limit_holds_back_waits_in_patience(console: Console, open_page: Open):
    async def one_at_a_time(queue: Queue) -> str:
        await queue.register_job(*JOB.split(":"), max_running=1)
        worker = await queue.register_worker("mailer", jobs=[JOB])
        _, second = await queue.submit_tasks(JOB, [{}, {}])
        await queue.claim_tasks(worker.id, start=True)
        return await uuid_of(queue, second.task_id)

    page = open_page(console, f"/tasks/{with_queue(console, one_at_a_time)}")
    expect(page.locator("[data-why].info")).to_contain_text("1 of at most 1 of its job")
    page.get_by_role("link", name="Show running tasks").click()
    expect(page.locator("[data-row]")).to_have_count(1)


def test_a_silent_worker_is_seen_and_its_tasks_say_so(console: Console, open_page: Open):
    task = with_queue(console, fail_some)[3]

    async def let_time_pass() -> None:
        connection = await asyncpg.connect(console.url)
        await connection.execute("update pgjobs.test_clock set shift = '1 hour'")
        await connection.close()

    in_a_thread(let_time_pass())
    page = open_page(console, "/workers")
    expect(page.get_by_role("row").nth(1)).to_contain_text("silent")
    page.goto(console.at(f"/tasks/{task}"))
    expect(page.locator("[data-why]")).to_contain_text("All its workers are silent")
    page.locator("[data-todo]").get_by_role("link", name="Workers").click()
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()


def test_a_lost_session_is_made_anew_where_one_was(console: Console, open_page: Open):
    with_queue(console, fail_some)
    page = open_page(console, "/tasks?status=failed")
    expect(page.get_by_role("row")).to_have_count(4)
    # Live, the page might look again, and find out, before the typing has come to rest.
    page.keyboard.press("p")
    page.context.clear_cookies()
    page.get_by_label("Search").fill("mailbox")
    page.get_by_label("Token").fill(token_of("ops", is_superuser=True))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("row")).to_have_count(4)
    assert page.url.endswith("#/tasks?status=failed&text=mailbox")


async def leaking(queue: Queue) -> dict[str, str]:
    """Tasks that carry an address with credentials wherever a text can be."""
    schema = {"properties": {"target": {"type": "string", "default": ADDRESS, "examples": [ADDRESS]}}}
    await queue.register_job(*JOB.split(":"), schema=schema, events="full", max_attempts=5)
    worker = await queue.register_worker(f"mailer {ADDRESS}", jobs=[JOB], actor=ADDRESS)
    body = {"target": ADDRESS, "nested": [{"url": ADDRESS}], "password": "hunter2"}
    said: dict[str, Any] = {"owner": ADDRESS, "project": ADDRESS, "submitter": ADDRESS, "tags": [ADDRESS]}
    made = {
        name: await queue.submit_task(JOB, body, idempotency_key=f"{name} {ADDRESS}", **said)
        for name in ("ended", "failed", "running", "put aside")
    }
    leases = await queue.claim_tasks(worker.id, quantity=3, start=True)
    await queue.complete_task(leases[0], {"at": ADDRESS})
    await queue.fail_task(leases[1], f"refused by {ADDRESS}", kind="auth", retryable=False)
    await queue.report_progress([leases[2]], [{"message": f"reading {ADDRESS}", "at": ADDRESS}])
    await queue.ignore_task(made["put aside"].task_id, actor="ops", reason=f"see {ADDRESS}")
    return {name: await uuid_of(queue, task.task_id) for name, task in made.items()}


LISTEN = """
  window.heard = [];
  window.EventSource = class extends window.EventSource {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (message) => window.heard.push(message.data));
    }
  };
"""


def test_credentials_query_and_fragment_of_an_address_are_shown_nowhere(console: Console, open_page: Open):
    answers: dict[str, str] = {}
    page = open_page(console, "/database")
    page.add_init_script(LISTEN)
    page.reload()
    expect(page.locator(".pulse")).to_contain_text("Live")

    def keep(answer: Any) -> None:
        if "/v1/joblib/" in answer.url:
            answers[answer.url] = answer.text()

    page.on("response", keep)
    tasks = with_queue(console, leaking)
    shown = []
    for place in ("/", "/tasks", "/jobs", "/workers", *(f"/tasks/{task}" for task in tasks.values())):
        page.goto(console.at(place))
        page.locator("main h1").wait_for()
        expect(page.locator("[aria-busy]")).to_have_count(0)
        shown.append(page.content())
    page.goto(console.at("/jobs"))
    page.get_by_role("link", name="Welcome").click()
    expect(page.get_by_label("Schema", exact=True)).to_contain_text("files.example.org")
    shown.append(page.content())
    events = page.evaluate("window.heard.join()")
    assert "files.example.org/drop" in "".join(shown), "the address itself is shown"
    assert len([url for url in answers if url.endswith("/events")]) == len(tasks)
    assert tasks["failed"] in events
    for text in (*shown, *answers.values(), events):
        assert [secret for secret in SECRETS if secret in text] == []


def test_a_finding_keeps_the_focus_while_its_message_counts(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    asked: list[int] = []

    def tell(route: Any) -> None:
        asked.append(1)
        items = [
            {
                "severity": "error",
                "subject": "sweep",
                "message": f"{about} for {len(asked)} min",
                "advice": "create table pgjobs.events_default partition of pgjobs.events default",
            }
            for about in ("Leases lapsed", "Workers silent")
        ]
        route.fulfill(json={"items": items})

    page.route("**/v1/joblib/findings", tell)
    page.goto(console.at("/"))
    expect(page.locator(".findings .sql")).to_have_count(2)
    finding = page.locator(".findings li", has_text="Workers silent")
    button = finding.get_by_role("button", name="Copy SQL")
    button.focus()
    before = finding.get_by_role("paragraph").inner_text()
    with_queue(console, fail_some)
    expect(finding.get_by_role("paragraph")).not_to_have_text(before)
    expect(button).to_be_focused()


def test_progress_that_is_no_number_draws_no_bar(console: Console, open_page: Open):
    page = open_page(console, "/")
    shares = "async (of) => (await import(new URL('parts/small.js', document.baseURI))).share(of)"
    for progress, share in (
        ({"share": "half"}, None),
        ({"fraction": "x", "share": 0.5}, 0.5),
        ({"done": 1, "total": 4}, 0.25),
        ("half", None),
    ):
        assert page.evaluate(shares, progress) == share


TURNED = """() => {
  const turns = /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/;
  const told = [document.body.textContent];
  for (const element of document.body.querySelectorAll("*"))
    told.push(element.title, element.getAttribute("aria-label"), element.getAttribute("placeholder"));
  return told.filter((text) => text && turns.test(text));
}"""


def test_controls_of_the_direction_of_writing_are_shown_as_escapes(console: Console, open_page: Open):
    async def turned(queue: Queue) -> str:
        name = "safe\u202egpj.exe"
        await queue.register_job("lab", "rough", name)
        worker = await queue.register_worker("w\u2066x", jobs=[f"lab:rough:{name}"])
        task = await queue.submit_task(
            f"lab:rough:{name}", {"text": "a\u200fb"}, owner="o\u061cx", tags=["t\u202ex"]
        )
        leases = await queue.claim_tasks(worker.id, start=True)
        await queue.fail_tasks(leases, ["bad\u202eerror"], retryable=[False])
        return await uuid_of(queue, task.task_id)

    task = with_queue(console, turned)
    page = open_page(console, "/tasks")
    for place, told in (
        ("/tasks", "safe\\u202egpj.exe"), ("/jobs", "safe\\u202egpj.exe"), ("/workers", "w\\u2066x"),
        (f"/tasks/{task}", "bad\\u202eerror"),
    ):  # fmt: skip
        page.goto(console.at(place))
        page.get_by_text(told).first.wait_for()
        expect(page.locator("[aria-busy]")).to_have_count(0)
        assert page.evaluate(TURNED) == []
