"""`pgjobs workflows` and `pgjobs tasks signal`."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.conftest import Pgjobs

pytestmark = pytest.mark.postgres_only


async def test_a_workflow_is_listed_shown_cancelled_and_retried(pgjobs: Pgjobs, queue: Queue, job: str):
    flow = await queue.submit_workflow(
        "nightly", [{"name": "a", "job": job}, {"name": "b", "job": job, "after": ["a"]}]
    )
    listed = pgjobs("workflows", "list")
    names, row = [line.split("\t") for line in listed.stdout.splitlines()]
    assert dict(zip(names, row, strict=True))["status"] == "pending"
    shown = pgjobs("workflows", "show", flow.id)
    assert "nightly" in shown.stdout
    assert "dependent" in shown.stdout
    graph = json.loads(pgjobs("workflows", "show", flow.id, "--json").stdout)
    assert graph["edges"] == [[flow.tasks["a"], flow.tasks["b"]]]
    (lease,) = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    await queue.fail_task(lease, "broken")
    await queue.sweep("waits")
    retried = pgjobs("workflows", "retry", flow.id)
    assert retried.stderr == f"Workflow {flow.id} is pending: 0 of 2 tasks have ended.\n"
    cancelled = pgjobs("workflows", "cancel", flow.id)
    assert cancelled.stderr == f"Workflow {flow.id} is cancelled: 2 of 2 tasks have ended.\n"
    assert pgjobs("workflows", "show", 999).returncode == 3


async def test_steps_are_shown_without_secrets(pgjobs: Pgjobs, queue: Queue, job: str):
    task = (await queue.submit_task(job)).task_id
    assert pgjobs("tasks", "steps", task).stderr == f"Task {task} has no steps.\n"
    (lease,) = await queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    await queue.save_step(lease.task_id, lease.token, "login", {"password": "hunter2"})
    await queue.suspend_task(lease.task_id, lease.token, "trial", delay=timedelta(days=14))
    names, *rows = [line.split("\t") for line in pgjobs("tasks", "steps", task).stdout.splitlines()]
    told = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(step["name"], step["kind"], step["done"]) for step in told] == [
        ("login", "step", "yes"),
        ("trial", "sleep", "no"),
    ]
    lines = pgjobs("tasks", "steps", task, "--json").stdout
    assert [json.loads(line)["name"] for line in lines.splitlines()] == ["login", "trial"]
    assert "hunter2" not in lines + str(told)


async def test_a_signal_is_sent_once(pgjobs: Pgjobs, queue: Queue, job: str):
    task = (await queue.submit_task(job)).task_id
    assert pgjobs("tasks", "signal", task, "approved", "{").returncode == 2
    first = pgjobs("tasks", "signal", task, "approved", '{"by": "ada"}')
    assert first.stderr == f"Signal approved sent to task {task}.\n"
    second = pgjobs("tasks", "signal", task, "approved")
    assert second.stderr == f'Task {task} had the signal approved already: {{"by": "ada"}}\n'
