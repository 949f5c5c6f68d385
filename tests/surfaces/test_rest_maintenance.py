"""Maintenance over HTTP: what lists show, and every refusal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from pgjobs.contrib.cleanup import CleanupError
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings
from pgjobs.server.app import create_app
from tests.dav_server import LocalPlace, write_run
from tests.surfaces.conftest import Serve
from tests.surfaces.incomplete_runs import RUNS, Failing, incomplete_runs, tick
from tests.surfaces.rest_server import SECRET, Api, problem_of, serving, token_of

pytestmark = pytest.mark.postgres_only

CLEANUPS = "/api/maintenance/incomplete-cleanup"


@pytest.fixture
def base(serve: Serve) -> str:
    """A server that leaves cleaning up to the test."""
    return serve(run_cleanup=False)


@pytest.fixture
async def run(queue: Queue, queue_url: str) -> UUID:
    return (await incomplete_runs(queue, queue_url))[0]


@pytest.fixture
def browser(base: str) -> Iterator[Api]:
    """A superuser who signed in with a browser."""
    with Api(base, None) as browser:
        answer = browser.post("session", json={"token": token_of("root", is_superuser=True)})
        browser.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        yield browser


async def failing(queue: Queue, kind: Any = "network") -> None:
    await tick(queue, local_dir=Failing(CleanupError(kind, "no route")))


async def test_a_list_shows_what_the_page_needs(ada: Api, run: UUID, queue: Queue):
    await failing(queue)
    body = ada.get(CLEANUPS).json()
    assert (body["page"], body["page_size"], body["total"]) == (1, 20, 1)
    (item,) = body["items"]
    assert item["run_id"] == str(run)
    assert (item["job_name"], item["node_id"], item["target_type"]) == (RUNS, "hub", "local_dir")
    assert (item["status"], item["attempts"], item["last_error_kind"]) == ("retrying", 1, "network")
    assert item["last_error"] == "no route"
    assert UUID(item["job_id"])
    times = [item[name] for name in ("created_at", "updated_at", "last_attempt_at", "next_attempt_at")]
    assert [datetime.fromisoformat(time).utcoffset() is not None for time in times] == [True] * 4


async def test_pages_follow_one_another_and_filters_may_repeat(ada: Api, queue: Queue, queue_url: str):
    runs = await incomplete_runs(queue, queue_url, 7)
    dav = {"type": "webdav", "base_url": "https://h/"}
    others = await incomplete_runs(queue, queue_url, 2, job="lab:backups:x", target=dav, node_id="agent-7")
    await queue.ignore_cleanup(runs[0])
    pages = [ada.get(CLEANUPS, params={"page": page, "page_size": 4}).json() for page in (1, 2, 3, 4)]
    assert [len(page["items"]) for page in pages] == [4, 4, 1, 0]
    assert {page["total"] for page in pages} == {9}
    seen = [item["run_id"] for page in pages for item in page["items"]]
    assert sorted(seen) == sorted(map(str, runs + others))
    assert seen[-1] == str(runs[0]), "what is not due comes last"
    job_id = (await queue.get_job("lab:backups:x")).uuid
    for filters, total in (
        ([("status", "queued")], 8),
        ([("status", "queued"), ("status", "ignored")], 9),
        ([("target_type", "webdav")], 2),
        ([("target_type", "webdav"), ("target_type", "local_dir")], 9),
        ([("node_id", "agent-7")], 2),
        ([("job_id", str(job_id))], 2),
        ([("job_id", str(uuid4()))], 0),
        ([("node_id", "hub"), ("status", "ignored")], 1),
    ):
        assert ada.get(f"{CLEANUPS}?{urlencode(filters)}").json()["total"] == total


@pytest.mark.parametrize(
    "query",
    [
        "status=lost", "status=queued&status=lost", "status=", "target_type=tape", "page=0", "page=-1", "page=x",
        "page=", "page=1.5", "page=99999999999999999999", "page_size=0", "page_size=101", "page_size=abc",
        "page_size=٣", "node_id=", "job_id=%00", "node_id=" + "x" * 701,
    ],
)  # fmt: skip
def test_bad_filters_are_refused(ada: Api, query: str):
    answer = ada.get(f"{CLEANUPS}?{query}")
    assert (answer.status_code, problem_of(answer)) == (400, "invalid-filter")


async def test_one_task_is_shown_with_its_events(ada: Api, run: UUID, queue: Queue):
    await failing(queue, "auth")
    body = ada.get(f"{CLEANUPS}/{run}").json()
    assert body["task"]["status"] == "blocked"
    assert body["task"]["target_snapshot"] == {
        "node_id": "hub",
        "target": {"type": "local_dir", "base_dir": "/nowhere"},
    }
    assert [(event["seq"], event["level"], event["kind"]) for event in body["events"]] == [
        (1, "info", "attempt"),
        (2, "error", "blocked"),
    ]
    assert body["events"][1]["message"] == "no route"


async def test_operators_act_and_are_named(root: Api, run: UUID, queue: Queue):
    await failing(queue)
    assert root.post(f"{CLEANUPS}/{run}/retry-now").status_code == 204
    assert root.post(f"{CLEANUPS}/{run}/ignore", json={"reason": "the disk is gone"}).status_code == 204
    shown = root.get(f"{CLEANUPS}/{run}").json()
    assert (shown["task"]["status"], shown["task"]["ignored_by_user_id"]) == ("ignored", "root")
    assert shown["task"]["ignore_reason"] == "the disk is gone"
    assert root.post(f"{CLEANUPS}/{run}/unignore").status_code == 204
    events = root.get(f"{CLEANUPS}/{run}").json()["events"]
    assert [event["kind"] for event in events[2:]] == ["retry_now", "ignored", "unignored"]
    assert [event["fields"] for event in events[2:]] == [{"by": "root"}] * 3
    assert root.post(f"{CLEANUPS}/{run}/ignore").status_code == 204, "a reason is optional"


async def test_what_runs_is_busy_and_what_is_done_is_done(root: Api, run: UUID, queue: Queue):
    (lease,) = await queue.claim_cleanups("cleaner")
    for status in ("running", "done"):
        for action in ("retry-now", "ignore", "unignore"):
            answer = root.post(f"{CLEANUPS}/{run}/{action}")
            assert (answer.status_code, problem_of(answer)) == (409, "invalid-task-transition")
            assert status in answer.json()["detail"]
        if status == "running":
            await queue.complete_task(lease.held, {"outcome": "deleted"})


def test_unignore_needs_something_ignored(root: Api, run: UUID):
    assert problem_of(root.post(f"{CLEANUPS}/{run}/unignore")) == "invalid-task-transition"


def test_a_long_reason_is_refused(root: Api, run: UUID):
    answer = root.post(f"{CLEANUPS}/{run}/ignore", json={"reason": "x" * 201})
    assert (answer.status_code, problem_of(answer)) == (422, "validation-error")
    assert root.get(f"{CLEANUPS}/{run}").json()["task"]["status"] == "queued"


@pytest.mark.parametrize("unknown", ["0f5736aa-90bd-4ae3-8a00-270ae60af4ed", "nonsense", "..%2F.."])
def test_unknown_runs_are_not_found(root: Api, run: UUID, unknown: str):
    answers = [root.get(f"{CLEANUPS}/{unknown}")]
    answers += [root.post(f"{CLEANUPS}/{unknown}/{action}") for action in ("retry-now", "ignore", "unignore")]
    assert {answer.status_code for answer in answers} == {404}
    assert {problem_of(answer) for answer in answers} <= {"task-not-found", "not-found"}


MUTATIONS = [
    ("POST", CLEANUPS + "/{run}/retry-now"),
    ("POST", CLEANUPS + "/{run}/ignore"),
    ("POST", CLEANUPS + "/{run}/unignore"),
    ("POST", f"/api/jobs/{RUNS}/archive"),
    ("POST", f"/api/jobs/{RUNS}/unarchive"),
    ("DELETE", f"/api/jobs/{RUNS}"),
]


@pytest.mark.parametrize(("method", "path"), MUTATIONS)
def test_strangers_users_and_other_sites_change_nothing(
    nobody: Api, ada: Api, browser: Api, run: UUID, method: str, path: str
):
    path = path.format(run=run)
    before = ada.get(f"{CLEANUPS}/{run}").json()
    stranger, user = nobody.request(method, path), ada.request(method, path)
    assert (stranger.status_code, problem_of(stranger)) == (401, "unauthorized")
    assert (user.status_code, problem_of(user)) == (403, "forbidden")
    for headers in (
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "0" * 64},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        forged = browser.request(method, path, headers=headers)
        assert (forged.status_code, problem_of(forged)) == (403, "forbidden")
    assert ada.get(f"{CLEANUPS}/{run}").json() == before


@pytest.mark.parametrize("path", [CLEANUPS, CLEANUPS + "/{run}"])
def test_strangers_read_nothing_even_where_reads_are_public(serve: Serve, run: UUID, path: str):
    with Api(serve(public_reads=True, run_cleanup=False), None) as nobody:
        assert problem_of(nobody.get(path.format(run=run))) == "unauthorized"


async def test_a_signed_in_browser_may_do_all_of_it(browser: Api, run: UUID, queue: Queue):
    await failing(queue)
    assert browser.get(CLEANUPS).json()["total"] == 1
    for action in ("retry-now", "ignore", "unignore"):
        assert browser.post(f"{CLEANUPS}/{run}/{action}").status_code == 204
    assert browser.post(f"/api/jobs/{RUNS}/archive").status_code == 204
    assert browser.post(f"/api/jobs/{RUNS}/unarchive").status_code == 204
    assert browser.delete(f"/api/jobs/{RUNS}").status_code == 204
    assert browser.get(CLEANUPS).json()["total"] == 0


async def test_an_archived_job_is_hidden_and_idle_and_comes_back(root: Api, queue: Queue):
    job = root.register()
    root.submit()
    assert root.post(f"/api/jobs/{job['id']}/archive").status_code == 204
    assert root.get("rooms/lab/jobs").json()["items"] == []
    answer = root.post("rooms/lab/tasks/lab:modifiers:Rotate", json={})
    assert (answer.status_code, problem_of(answer)) == (409, "job-unavailable")
    assert root.post("tasks/claim", json={"worker_id": job["worker_id"]}).json()["task"] is None
    assert root.get("rooms/lab/tasks").json()["total"] == 1, "history is kept"
    assert root.post(f"/api/jobs/{job['id']}/unarchive").status_code == 204
    assert root.claim(job["worker_id"])["job_name"] == "lab:modifiers:Rotate"


async def test_deleting_cascades_to_runs_and_their_clean_up(root: Api, run: UUID):
    assert root.delete(f"/api/jobs/{RUNS}").status_code == 204
    assert problem_of(root.get(f"{CLEANUPS}/{run}")) == "task-not-found"
    assert problem_of(root.get(f"tasks/{run}")) == "task-not-found"
    assert problem_of(root.delete(f"/api/jobs/{RUNS}")) == "job-not-found"


def test_names_with_slashes_are_understood(root: Api):
    root.register("a/b/archive", room="lab")
    assert root.post("/api/jobs/lab:modifiers:a/b/archive/archive").status_code == 204
    assert root.delete("/api/jobs/lab:modifiers:a/b/archive").status_code == 204
    assert problem_of(root.post("/api/jobs/lab:modifiers:a/archive")) == "job-not-found"


def test_internal_jobs_are_not_deleted(root: Api, run: UUID):
    answer = root.delete("/api/jobs/@internal:maintenance:incomplete-cleanup")
    assert (answer.status_code, problem_of(answer)) == (409, "job-unavailable")


async def test_the_server_cleans_up_by_itself(serve: Serve, queue: Queue, queue_url: str, tmp_path: Path):
    place = LocalPlace(tmp_path / "targets")
    (run,) = await incomplete_runs(queue, queue_url, target=place.target)
    left = write_run(place, RUNS, str(run))
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        for _ in range(500):
            body = root.get(f"{CLEANUPS}/{run}").json()
            if body["task"]["status"] == "done":
                break
        assert body["events"][-1]["kind"] == "deleted"
    assert not left.exists()


async def test_retry_now_over_http_wakes_the_server(
    serve: Serve, queue: Queue, queue_url: str, tmp_path: Path
):
    place = LocalPlace(tmp_path / "targets")
    (run,) = await incomplete_runs(queue, queue_url, target=place.target)
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        for status in ("blocked", "done"):
            for _ in range(500):
                task = root.get(f"{CLEANUPS}/{run}").json()["task"]
                if task["status"] == status:
                    break
            assert task["status"] == status, task
            if status == "blocked":
                place.root.mkdir()
                assert root.post(f"{CLEANUPS}/{run}/retry-now").status_code == 204


async def test_a_list_may_be_filtered_by_types_of_your_own(queue: Queue, queue_url: str):
    await incomplete_runs(queue, queue_url, target={"type": "tape"})
    settings = ApiSettings(auth_secret=SecretStr(SECRET), run_cleanup=False)
    app = create_app(url=queue_url, settings=settings)
    app.state.pgjobs_target_types = ("local_dir", "webdav", "tape")
    with serving(app) as base, Api(base, token_of("ada")) as ada:
        assert ada.get(f"{CLEANUPS}?target_type=tape").json()["total"] == 1
        assert problem_of(ada.get(f"{CLEANUPS}?target_type=disk")) == "invalid-filter"


async def test_nodes_tell_who_cleans_up_for_them(ada: Api, nobody: Api, queue: Queue, queue_url: str):
    if queue_url.startswith("sqlite"):
        pytest.skip("cleanups are for Postgres")
    await incomplete_runs(queue, queue_url, node_id="agent-7")
    (item,) = ada.get(CLEANUPS + "/nodes").json()["items"]
    assert (item["node_id"], item["target_type"], item["open"], item["is_served"]) == (
        "agent-7",
        "local_dir",
        1,
        False,
    )
    assert item["advice"] == "-- on that machine: pgjobs cleanup run --node agent-7"
    assert nobody.get(CLEANUPS + "/nodes").status_code == 401
