"""`--json` prints one document, which the OpenAPI models describe."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
import typer

from pgjobs.cli.app import app
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server.app import create_app
from tests.surfaces.cli.conftest import Pgjobs, failed_tasks
from tests.surfaces.incomplete_runs import incomplete_runs

GROUPS = ("tasks", "jobs", "schedules", "workers", "cleanup")


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    return dict(create_app().openapi()["components"])


@pytest.mark.postgres_only
async def test_every_document_is_what_http_would_answer(
    pgjobs: Pgjobs, queue: Queue, queue_url: str, job: str, components: dict[str, Any]
):
    first, second = await failed_tasks(queue, job, 2)
    (run,) = await incomplete_runs(queue, queue_url)
    await queue.register_job("@global", "mail", "Unused", keep=True)
    unused = "@global:mail:Unused"
    [worker] = await queue.list_workers()
    commands: list[tuple[str, tuple[object, ...], str]] = [
        ("TaskOut", ("enqueue", job, '{"to": "ada"}'), ""),
        ("Page_TaskOut_", ("enqueue", job, "--lines"), "{}\n{}\n"),
        ("Page_TaskOut_", ("tasks", "list"), ""),
        ("TaskOut", ("tasks", "show", first), ""),
        ("TaskOut", ("tasks", "wait", first), ""),
        ("Reasons", ("tasks", "why", first), ""),
        ("Findings", ("doctor",), ""),
        ("OverviewOut", ("top",), ""),
        ("TaskOut", ("tasks", "retry", first), ""),
        ("TaskOut", ("tasks", "cancel", first), ""),
        ("Page_TaskOut_", ("tasks", "ignore", "--status", "failed", "--yes"), ""),
        ("Page_TaskOut_", ("tasks", "unignore", second, "--dry-run", second), ""),
        ("TaskOut", ("tasks", "unignore", second), ""),
        ("Page_JobListed_", ("jobs", "list"), ""),
        ("JobOut", ("jobs", "show", job), ""),
        ("JobOut", ("jobs", "pause", job), ""),
        ("JobOut", ("jobs", "resume", job), ""),
        ("JobOut", ("jobs", "limit", job, "3"), ""),
        ("JobOut", ("jobs", "policy", job, "--max-attempts", "4"), ""),
        ("TaskOut", ("tasks", "resubmit", second), ""),
        ("JobOut", ("jobs", "archive", unused), ""),
        ("JobOut", ("jobs", "unarchive", unused), ""),
        ("JobOut", ("jobs", "retire", unused), ""),
        ("ScheduleInFull", ("schedules", "add", "nightly", job, "--cron", "30 2 * * *"), ""),
        ("Page_ScheduleSeen_", ("schedules", "list"), ""),
        ("ScheduleInFull", ("schedules", "show", "@global:nightly"), ""),
        ("RunStarted", ("schedules", "run", "@global:nightly"), ""),
        ("ScheduleSeen", ("schedules", "pause", "@global:nightly"), ""),
        ("ScheduleSeen", ("schedules", "resume", "@global:nightly"), ""),
        ("Preview", ("schedules", "preview", "--every", "10m"), ""),
        ("CleanupPage", ("cleanup", "list"), ""),
        ("CleanupNodes", ("cleanup", "nodes"), ""),
        ("CleanupDetail", ("cleanup", "show", run), ""),
        ("CleanupOut", ("cleanup", "retry-now", run), ""),
        ("CleanupOut", ("cleanup", "ignore", run), ""),
        ("CleanupOut", ("cleanup", "unignore", run), ""),
        ("Page_WorkerListed_", ("workers", "list"), ""),
        ("WorkerListed", ("workers", "show", worker.id), ""),
    ]
    for model, arguments, stdin in commands:
        done = pgjobs(*arguments, "--json", stdin=stdin)
        assert done.returncode in (0, 6, 7), (arguments, done.stderr)
        document = json.loads(done.stdout)
        schema = {"$ref": f"#/components/schemas/{model}", "components": components}
        jsonschema_rs.validator_for(schema).validate(document)
        if "Page" in model:
            assert document["items"], arguments
    # Their documents are not those of an HTTP request; of a log, each line is one.
    own = {"workflows list", "workflows show", "jobs keys", "tasks log", "tasks steps"}
    assert _with_json() - own == {" ".join(map(str, a[: 1 + (a[0] in GROUPS)])) for _, a, _ in commands}


def _with_json() -> set[str]:
    """Every command that prints JSON when asked to."""
    group: Any = typer.main.get_command(app)
    commands = {
        f"{name} {part}".strip(): command
        for name, each in group.commands.items()
        for part, command in getattr(each, "commands", {"": each}).items()
    }
    return {name for name, command in commands.items() if any("--json" in p.opts for p in command.params)}


async def test_a_full_page_says_that_there_may_be_more(pgjobs: Pgjobs, queue: Queue, job: str):
    await queue.submit_tasks(job, [{}, {}, {}])
    some = json.loads(pgjobs("tasks", "list", "--limit", 2, "--json").stdout)
    assert (some["total"], some["total_relation"], some["limit"]) == (2, "gte", 2)
    everything = json.loads(pgjobs("tasks", "list", "--json").stdout)
    assert (everything["total"], everything["total_relation"]) == (3, "eq")
