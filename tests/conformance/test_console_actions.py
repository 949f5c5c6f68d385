"""What the console does by verbs of its own: advice as actions, edited payloads, policies, many cleanups."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, PgJobsError, TaskNotFound
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.stages import failed, pending, running

pytestmark = pytest.mark.postgres_only


async def test_every_check_that_an_operator_can_change_names_its_action(queue: Queue, job: str):
    task = await pending(queue, job)
    uuid = (await queue.get_task(task.id)).uuid
    await queue.pause_job(job)
    await queue.limit_job(job, 1)
    rows = await queue.driver.call("show_why", task_uuid=uuid)
    actions = {row["checked"]: (row["action"], row["arguments"]) for row in rows if row["action"]}
    assert actions["paused"] == (
        "resume_job",
        {"job": job, "job_id": str((await queue.get_job(job)).uuid)},
    )
    await queue.ignore_task(task.id)
    rows = await queue.driver.call("show_why", task_uuid=uuid)
    [action] = [(row["action"], row["arguments"]["task_id"]) for row in rows if row["action"]]
    assert action == ("unignore_task", str(uuid))
    with pytest.raises(TaskNotFound):
        await queue.driver.call("show_why", task_uuid=uuid4())


@pytest.mark.parametrize(
    ("advice", "action"),
    [
        ("select * from pgjobs.sweep()", ("sweep", {"step": None})),
        ("select * from pgjobs.sweep('scheduled')", ("sweep", {"step": "scheduled"})),
        ("select * from pgjobs.fire_schedules()", ("sweep", {"step": "schedules"})),
        (
            "select run_id, job_name from pgjobs.incomplete_cleanup_tasks where status = 'blocked'",
            ("open_cleanups", {"status": "blocked"}),
        ),
        ("vacuum (analyze) pgjobs.tasks", None),
        ("Start a worker that serves it", None),
        ("select * from pgjobs.delete_job('@global:tests:Job')", None),
    ],
)
async def test_advice_that_only_psql_can_follow_has_no_action(
    queue: Queue, advice: str, action: tuple[str, object] | None
):
    rows = await queue.driver.call("_fitting_action", advice=advice)
    assert [(row["action"], json.loads(row["arguments"])) for row in rows] == ([action] if action else [])


async def test_a_name_with_quotes_is_understood(queue: Queue):
    await queue.register_job("lab", "tests", "It's 'one'")
    advice = "select * from pgjobs.resume_job('lab:tests:It''s ''one''')"
    [row] = await queue.driver.call("_fitting_action", advice=advice)
    assert json.loads(row["arguments"])["job"] == "lab:tests:It's 'one'"


async def test_findings_keep_their_order_and_name_their_actions(queue: Queue, job: str):
    await pending(queue, job)
    await queue.pause_job(job, reason="for now")
    plain = await queue.findings()
    shown = await queue.driver.call("show_findings")
    assert [row["subject"] for row in shown] == [finding.subject for finding in plain]
    assert "resume_job" in {row["action"] for row in shown}


SECRET = {
    "to": "ada",
    "api_key": "k-1",
    "parts": [{"password": "p", "n": 1}],
    "url": "https://a:b@x.org/y?z=1",
}


async def test_what_was_hidden_from_an_editor_is_put_back(queue: Queue, job: str):
    submitted = await queue.submit_task(job, SECRET)
    uuid = (await queue.get_task(submitted.task_id)).uuid
    shown = (await queue.inspect_task(uuid)).payload
    assert shown["api_key"] == "…"
    edited = {**shown, "to": "bob", "parts": [{**shown["parts"][0], "n": 2}]}
    [row] = await queue.driver.call("restore_payload", task_uuid=uuid, payload=edited)
    assert row["restored"] == {**SECRET, "to": "bob", "parts": [{"password": "p", "n": 2}]}
    [row] = await queue.driver.call("restore_payload", task_uuid=uuid, payload={"api_key": "k-2"})
    assert row["restored"] == {"api_key": "k-2"}


async def test_a_failed_task_is_replaced_by_a_copy_with_another_payload(queue: Queue, job: str):
    task = await failed(queue, job)
    [copy] = await queue.driver.call(
        "resubmit_task", task_id=task.id, payload={"to": "ada"}, replace=True, actor="ops", reason="typo"
    )
    old = await queue.get_task(task.id)
    assert (old.status, old.reason) == ("ignored", f"replaced by {copy['uuid']}; typo")
    assert (copy["status"], copy["submitter"], copy["job"]) == ("pending", "ops", job)
    assert all(rule.violations == 0 for rule in await queue.check())


async def test_what_runs_or_is_completed_is_not_replaced_and_nothing_is_left_behind(queue: Queue, job: str):
    task = await running(queue, job)
    before = len(await queue.list_tasks(job=job, room="@global"))
    with pytest.raises(PgJobsError):
        await queue.driver.call("resubmit_task", task_id=task.id, payload={}, replace=True)
    assert len(await queue.list_tasks(job=job, room="@global")) == before
    with pytest.raises(TaskNotFound):
        await queue.driver.call("resubmit_task", task_id=10**9, payload={})


async def test_a_policy_is_changed_in_part_and_bad_ones_change_nothing(queue: Queue, job: str):
    before = await queue.get_job(job)
    await queue.driver.call("set_job_policy", job=job, max_attempts=7, actor="ops", reason="flaky target")
    now = await queue.get_job(job)
    assert (now.max_attempts, now.backoff_cap, now.events) == (7, before.backoff_cap, before.events)
    for bad in ({"max_attempts": 0}, {"events": "some"}, {"backoff_cap": -before.backoff_cap}):
        with pytest.raises(InvalidArgument):
            await queue.driver.call("set_job_policy", job=job, **bad)
    assert await queue.get_job(job) == now
    with pytest.raises(JobNotFound):
        await queue.driver.call("set_job_policy", job="@global:tests:None", max_attempts=2)


async def test_a_worker_is_shown_with_what_it_holds_and_its_errors(queue: Queue, job: str):
    worker = await queue.register_worker("w", jobs=[job])
    await queue.submit_tasks(job, [{}, {}])
    first, _second = await queue.claim_tasks(worker.id, quantity=2, start=True)
    await queue.fail_task(first, "no route", kind="network", retryable=False)
    [shown] = await queue.driver.call("inspect_worker", worker_id=worker.id)
    assert (shown["name"], shown["serves"], len(shown["holds"])) == ("w", [job], 1)
    assert [(error["error"], error["error_kind"]) for error in shown["failures"]] == [("no route", "network")]
