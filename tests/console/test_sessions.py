"""Signing in and out, and what a reader may do: nothing but read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from pgjobs.server import sign_in_link
from tests.console.conftest import Console, Open
from tests.console.test_actions import fail_some, status_of, with_queue
from tests.console.test_looks import PAGES, serious, settled
from tests.surfaces.rest_server import token_of


def test_signing_in_with_a_token_and_out_again(console: Console, open_page: Open):
    page = open_page(console, "/jobs", user=None)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Token").fill(token_of("ada", is_superuser=True))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)") == "{}{}"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.context.cookies() == []


def test_a_one_time_link_signs_in_once(console: Console, open_page: Open):
    link = with_queue(
        console, lambda queue: sign_in_link(queue, "ada", base=f"{console.base}/ui/", is_superuser=True)
    )
    page = open_page(console, user=None)
    page.goto(link)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert "sign_in" not in page.url
    page.goto(link)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_text("This link was already used")).to_be_visible()
    assert serious(page) == []
    page.get_by_label("Token").fill(token_of("ada"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.url.endswith("/ui/#/")


def test_a_session_that_ends_asks_to_sign_in_again(console: Console, open_page: Open):
    page = open_page(console, "/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    page.context.clear_cookies()
    page.get_by_role("link", name="Workers").click()
    expect(page.get_by_label("Token")).to_be_visible()


VERBS = re.compile(
    r"^(Retry|Busy|Ignore|Unignore|Cancel|Request cancellation|Force end|Pause|Resume|Run now|Archive|Unarchive|Delete|Retire|Invalidate|Send signal)\b"
)
OPERATED = {
    "overview",
    "waiting-task",
    "running-task",
    "failed-task",
    "workflow",
    "suspended-task",
    "jobs",
    "job",
    "workers",
    "worker",
    "providers",
    "schedules",
    "cleanup",
}


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_a_reader_sees_everything_and_is_offered_nothing(looked_at: Console, open_page: Open, size: str):
    reader = open_page(looked_at, user="ada", is_superuser=False, size=size)
    operator = open_page(looked_at, size=size)
    methods: set[str] = set()
    reader.on("request", lambda asked: methods.add(asked.method))
    for name, (place, text) in PAGES.items():
        if name == "sign-in":
            continue
        for page in (reader, operator):
            page.goto(looked_at.at(place.format(**looked_at.stage.ids)))
            settled(page, text)
        rows = operator.locator("main [data-row]").count()
        expect(reader.locator("main [data-row]")).to_have_count(rows)
        offered = operator.locator("main").get_by_role("button", name=VERBS).count()
        assert (offered > 0) is (name in OPERATED), name
        expect(reader.locator("main").get_by_role("button", name=VERBS)).to_have_count(0)
        expect(reader.locator("main").get_by_role("checkbox", name="Select")).to_have_count(0)
        reader.keyboard.press("j")
        reader.keyboard.press("r")
        expect(reader.get_by_role("dialog")).to_have_count(0)
    assert methods == {"GET"}


ASK_ALL = """
async task => {
  const session = await (await fetch("../v1/joblib/session")).json();
  const headers = {"X-CSRF-Token": session.csrf_token, "Content-Type": "application/json"};
  const ask = (path, method = "POST") => fetch(`../v1/joblib/${path}`, {method, headers, body: "{}"});
  const read = async (path) => (await (await fetch(`../v1/joblib/${path}`)).json()).items[0];
  const { id: job } = await read("jobs"), { id: worker } = await read("workers/status");
  const { id: provider } = await read("providers/status"), { id: schedule } = await read("schedules");
  const { run_id: run } = await read("../../api/maintenance/incomplete-cleanup?status=blocked");
  const steps = [
    ...["retry", "ignore", "unignore", "cancel"].map((verb) => [`tasks/${task}/${verb}`]),
    ["tasks/actions"], ...["pause", "resume", "limit"].map((verb) => [`jobs/${job}/${verb}`]),
    [`workers/${worker}`, "DELETE"], [`providers/${provider}/invalidate`],
    ["schedules", "PUT"], [`schedules/${schedule}`, "DELETE"],
    ...["run", "pause", "resume"].map((verb) => [`schedules/${schedule}/${verb}`]),
    [`../../api/jobs/${job}/archive`], [`../../api/jobs/${job}/unarchive`], [`../../api/jobs/${job}`, "DELETE"],
    ...["retry-now", "ignore", "unignore"].map((verb) => [`../../api/maintenance/incomplete-cleanup/${run}/${verb}`]),
  ];
  const answers = [];
  for (const [path, method] of steps) answers.push([path, (await ask(path, method)).status]);
  return answers;
}
"""


def test_a_reader_who_asks_all_the_same_is_refused_by_the_server(looked_at: Console, open_page: Open):
    task = looked_at.stage.ids["failed"]
    page = open_page(looked_at, user="ada", is_superuser=False)
    answers = page.evaluate(ASK_ALL, task)
    assert [path for path, status in answers if status != 403] == []
    assert status_of(looked_at, task) == "failed"


def test_a_change_without_the_csrf_token_is_refused(console: Console, open_page: Open):
    task = with_queue(console, fail_some)[0]
    page = open_page(console, f"/tasks/{task}")
    status = page.evaluate(
        """async task => (await fetch(`../v1/joblib/tasks/${task}/retry`, {
          method: "POST", headers: {"Content-Type": "application/json"}, body: "{}",
        })).status""",
        task,
    )
    assert status == 403
    assert status_of(console, task) == "failed"
