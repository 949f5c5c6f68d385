"""No door tells a secret: not the API, not events, not logs, not views, not the shell."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from pgjobs.contrib.cleanup import CleanupError, Outcome, Run, WebDavCleaner
from pgjobs.drivers.redaction import RedactingFormatter
from pgjobs.queue.server import ServerQueue as Queue
from tests.dav_server import answering
from tests.surfaces.cli.warm import run as run_command
from tests.surfaces.conftest import Serve
from tests.surfaces.incomplete_runs import Failing, incomplete_runs, tick
from tests.surfaces.rest_server import Api, token_of

pytestmark = pytest.mark.postgres_only

CLEANUPS = "/api/maintenance/incomplete-cleanup"
SECRETS = ("user:secret@", "secret-in-a-query", "secret-in-a-fragment", "hunter2", "secret-token")
LEAK = (
    "cannot DELETE https://user:secret@dav.example/x?token=secret-in-a-query#secret-in-a-fragment\n"
    "Authorization: Basic secret-token-0123456789\npassword=hunter2 user:secret@host"
)


class Careless:
    """A cleaner whose details say too much."""

    async def clean(self, _run: Run) -> Outcome:
        return Outcome("deleted", {"url": f"{LEAK}", "headers": {"Authorization": "secret-token"}})


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    """What our servers and workers write to their logs."""
    caplog.set_level(logging.DEBUG)
    formatter = RedactingFormatter("%(name)s %(message)s")

    def read() -> str:
        ours = [record for record in caplog.records if record.name.startswith(("pgjobs", "httpx"))]
        return "\n".join(formatter.format(record) for record in ours)

    return read


async def everything_told(queue: Queue, url: str, base: str, run: UUID, task_id: int) -> dict[str, str]:
    """All doors, each opened wide."""
    with Api(base, token_of("root", is_superuser=True)) as root:
        task_uuid = (await queue.get_task(task_id)).uuid
        told = {
            "list": root.get(CLEANUPS).text,
            "detail": root.get(f"{CLEANUPS}/{run}").text,
            "task": root.get(f"tasks/{task_uuid}").text,
            "tasks": root.get("rooms/@internal/tasks").text,
            "refusal": root.post(f"{CLEANUPS}/{run}/unignore").text,
        }
    told["events"] = repr(await queue.list_events(page_size=500))
    told["attempts"] = repr(await queue.list_attempts(task_id))
    for command in (("list",), ("list", "--json"), ("show", str(run)), ("show", str(run), "--json")):
        done = run_command("cleanup", *command, PGJOBS_DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        told[f"cleanup {' '.join(command)}"] = done.stdout + done.stderr
    connection = await asyncpg.connect(url)
    for view in (
        "incomplete_cleanup_tasks",
        "incomplete_cleanup_events",
        "task",
        "failed",
        "task_events",
    ):
        told[view] = repr(await connection.fetch(f"select * from pgjobs.{view}"))
    await connection.close()
    return told


def assert_silent(told: dict[str, str]) -> None:
    assert {door: secret for door, text in told.items() for secret in SECRETS if secret in text} == {}


@pytest.mark.parametrize("kind", ["network", "auth", "unknown", "abandoned"])
async def test_an_error_that_quotes_secrets_is_told_without_them(
    serve: Serve, queue: Queue, queue_url: str, lines: Any, kind: str
):
    (run,) = await incomplete_runs(queue, queue_url, target={"type": "tape"})
    error = (
        ValueError(LEAK) if kind == "unknown" else CleanupError("auth" if kind == "auth" else "network", LEAK)
    )
    if kind == "abandoned":
        (lease,) = await queue.claim_cleanups("cleaner")
        await queue.fail_task(lease.held, LEAK, kind="network", retryable=False)
    else:
        await tick(queue, tape=Failing(error))
    task = await queue.get_cleanup(run)
    assert "cannot DELETE https://dav.example/x" in str(task.last_error), "the rest is still told"
    assert "\n" not in str(task.last_error)
    await queue.ignore_cleanup(run, reason=f"see {LEAK[:120]}")
    told = await everything_told(queue, queue_url, serve(run_cleanup=False), run, task.task_id)
    told["logs"] = lines()
    assert kind == "abandoned" or "dav.example" in told["logs"]
    assert_silent(told)


async def test_details_of_a_cleaner_are_told_without_secrets(
    serve: Serve, queue: Queue, queue_url: str, lines: Any
):
    (run,) = await incomplete_runs(queue, queue_url, target={"type": "tape"})
    await tick(queue, tape=Careless())
    task = await queue.get_cleanup(run)
    assert task.status == "done"
    told = await everything_told(queue, queue_url, serve(run_cleanup=False), run, task.task_id)
    assert "dav.example" in told["detail"]
    assert_silent({**told, "logs": lines()})


async def test_a_named_secret_is_used_and_never_told(
    serve: Serve, queue: Queue, queue_url: str, lines: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PGJOBS_SECRET_DAV", "user:hunter2")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    moved = "https://user:secret@elsewhere/?token=secret-in-a-query"
    with answering(401, Location=moved, WWW_Authenticate='Basic realm="hunter2"') as (address, requests):
        target = {"type": "webdav", "base_url": address, "secret_name": "dav"}
        (run,) = await incomplete_runs(queue, queue_url, target=target)
        await tick(queue, webdav=WebDavCleaner())
    assert requests
    task = await queue.get_cleanup(run)
    assert (task.status, task.target_snapshot_json["target"]["secret_name"]) == ("blocked", "dav")
    told = await everything_told(queue, queue_url, serve(run_cleanup=False), run, task.task_id)
    assert_silent({**told, "logs": lines()})


async def test_a_snapshot_from_elsewhere_is_shown_without_secrets(
    serve: Serve, queue: Queue, queue_url: str, lines: Any
):
    """Somebody submitted a cleanup task by hand, with a target no verb would have taken."""
    (run,) = await incomplete_runs(queue, queue_url)
    (other,) = await incomplete_runs(queue, queue_url, job="lab:backups:x")
    await queue.retry_task((await queue.get_task(task_uuid=other)).id)
    number = (await queue.get_task(task_uuid=other)).id
    with_secret = {"type": "webdav", "base_url": "https://user:secret@h/?token=secret-in-a-query"}
    forged = {
        "run_id": str(run), "job_id": str(run), "job_name": "lab:backups:x", "node_id": "hub",
        "target": {**with_secret, "password": "hunter2"},
    }  # fmt: skip
    submitted = await queue.submit_task(
        "@internal:maintenance:incomplete-cleanup", forged, idempotency_key=f"{number}-forged"
    )
    await tick(queue, webdav=Failing(CleanupError("network", json.dumps(forged))))
    listed = await queue.list_cleanups()
    assert submitted.task_id in [task.task_id for task in listed]
    with Api(serve(run_cleanup=False), token_of("root", is_superuser=True)) as root:
        told = {"list": root.get(CLEANUPS).text, "detail": root.get(f"{CLEANUPS}/{run}").text}
    assert "https://h/" in told["list"]
    assert_silent({**told, "logs": lines()})


async def test_a_schedule_is_told_without_the_secrets_of_its_payload_and_reasons(
    serve: Serve, queue: Queue, queue_url: str, lines: Any
):
    await queue.register_job("lab", "backups", "x")
    payload = {"target": LEAK, "password": "hunter2", "nested": [{"api_key": "secret-token"}]}
    told = {}
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        body = {"name": "nightly", "job": "lab:backups:x", "cron": "@daily", "payload": payload}
        made = root.put("schedules", json=body)
        assert made.status_code == 201, made.text
        address = f"schedules/{made.json()['id']}"
        told["put"] = made.text
        for verb in ("pause", "resume", "run"):
            told[verb] = root.post(f"{address}/{verb}", json={"reason": LEAK[:200]}).text
        await queue.archive_job("lab:backups:x", reason=LEAK[:200])
        told["refusal"] = root.post(f"{address}/run", json={"reason": LEAK[:200]}).text
        told |= {path: root.get(path).text for path in ("schedules", address, "findings", "/metrics")}
    told["events"] = repr(await queue.list_events(page_size=500))
    assert "dav.example" in told["events"], "the rest is still told"
    for command in (
        ("list",), ("list", "--json"), ("show", "lab:nightly"), ("show", "lab:nightly", "--json"),
        ("pause", "lab:nightly", "--json", "--reason", LEAK),
        ("add", "nightly", "lab:backups:x", "--cron", "https://user:secret@x"),
    ):  # fmt: skip
        done = run_command("schedules", *command, PGJOBS_DATABASE_URL=queue_url)
        told[f"schedules {' '.join(command[:2])}"] = done.stdout + done.stderr
    connection = await asyncpg.connect(queue_url)
    for view in ("schedule", "task_events", "findings"):
        told[view] = repr(await connection.fetch(f"select * from pgjobs.{view}"))
    await connection.close()
    assert_silent({**told, "logs": lines()})


async def test_names_keys_tags_and_schemas_are_told_without_secrets(serve: Serve, queue: Queue, lines: Any):
    job = "lab:backups:x"
    schema = {
        "properties": {"target": {"default": LEAK}, "password": {"type": "string", "examples": ["hunter2"]}},
        "examples": [{"target": LEAK, "api_key": "secret-token"}],
    }
    await queue.register_job(*job.split(":"), schema=schema, events="full")
    worker = await queue.register_worker(LEAK[:150], jobs=[job], actor=LEAK[:150])
    said: dict[str, Any] = dict.fromkeys(("owner", "project", "submitter", "idempotency_key"), LEAK[:150])
    made = await queue.submit_task(job, {}, tags=[LEAK[:150]], **said)
    await queue.register_schedule("x", job, cron="@daily", owner=LEAK[:150], tags=[LEAK[:150]])
    start = await queue.watch_events()
    leases = await queue.claim_tasks(worker.id, start=True)
    await queue.report_progress(leases, [{"at": LEAK, "token": "secret-token"}])
    await queue.ignore_task((await queue.submit_task(job, {})).task_id, actor=LEAK[:150])
    task = (await queue.get_task(made.task_id)).uuid
    places = ("tasks", f"tasks/{task}/details", f"tasks/{task}/events", "jobs", "workers/status", "schedules")
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        told = {place: root.get(place).text for place in places}
        with root.stream("GET", "events", headers={"Last-Event-ID": start}) as stream:
            heard = ""
            for line in stream.iter_lines():
                heard += line
                if "ignored" in line:
                    break
    assert "dav.example" in heard
    assert "dav.example" in told["tasks"]
    assert '"password":{"type":"string","examples":"…"}' in told["jobs"], "what a job takes is still told"
    assert_silent({**told, "stream": heard, "logs": lines()})


async def test_the_log_of_a_cleaner_process_tells_no_secret(queue: Queue, queue_url: str, tmp_path: Path):
    with answering(503, Location="https://user:secret@elsewhere/") as (address, requests):
        target = {"type": "webdav", "base_url": address, "secret_name": "dav"}
        (run,) = await incomplete_runs(queue, queue_url, target=target)
        done = run_command(
            "cleanup", "run", "--once",
            PGJOBS_DATABASE_URL=queue_url, PGJOBS_SECRET_DAV="user:hunter2", NO_PROXY="127.0.0.1",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Attempted 1." in done.stderr
    assert str(run) in done.stderr
    assert requests
    assert_silent({"stderr": done.stderr})
    assert "hunter2" not in os.environ.get("PGJOBS_SECRET_DAV", "")
