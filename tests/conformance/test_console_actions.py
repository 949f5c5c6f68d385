"""What the console does by verbs of its own: advice as actions, edited payloads, policies, many cleanups."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import uuid4

import pytest

from pgjobs.errors import InvalidArgument, JobNotFound, PgJobsError, TaskNotFound
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.homes import Clock
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
        ("select * from pgjobs.workers_status", ("open_workers", {})),
        ("-- on that machine: pgjobs cleanup run --node agent-7", ("open_cleanups", {"node_id": "agent-7"})),
        ("-- run: pgjobs serve, or pgjobs cleanup run", ("open_cleanups", {"node_id": "hub"})),
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


@pytest.mark.parametrize("view", ["waiting where job = {}", "errors where job = {}", "list_keys({})"])
async def test_what_is_told_of_a_job_leads_to_its_page(queue: Queue, job: str, view: str):
    quoted = f"'{job}'"
    advice = f"select * from pgjobs.{view.format(quoted)}"
    [row] = await queue.driver.call("_fitting_action", advice=advice)
    assert (row["action"], json.loads(row["arguments"])["job"]) == ("open_job", job)


async def test_every_finding_has_its_button(queue: Queue, job: str):
    await pending(queue, job)
    await queue.pause_job(job)
    # Tests run on a server that may lose data, which is a finding too.
    shown = await queue.driver.call("show_findings")
    assert {row["action"] for row in shown} >= {"resume_job", "open_database"}
    assert [row["message"] for row in shown if row["action"] is None] == []


async def failing_checks(queue: Queue, task_id: int) -> dict[str, tuple[str | None, dict[str, str]]]:
    uuid = (await queue.get_task(task_id)).uuid
    rows = await queue.driver.call("show_why", task_uuid=uuid)
    return {row["checked"]: (row["action"], row["arguments"]) for row in rows if not row["is_ok"]}


async def test_every_reason_to_wait_has_its_button(queue: Queue, job: str, clock: Clock):
    waiting = await pending(queue, job)
    assert (await failing_checks(queue, waiting.id))["workers"][0] == "open_job"
    worker = await queue.register_worker("w", jobs=[job])
    [lease] = await queue.claim_tasks(worker.id, start=True)
    assert await failing_checks(queue, lease.task_id) == {
        "lease": (
            "open_worker",
            {"job": job, "job_id": str((await queue.get_job(job)).uuid), "worker_id": str(worker.id)},
        )
    }
    await queue.cancel_task(lease.task_id)
    assert (await failing_checks(queue, lease.task_id))["cancellation"][0] == "cancel_task"
    await clock.advance(hours=2)
    assert (await failing_checks(queue, lease.task_id))["lease"][0] == "sweep"
    behind = await queue.submit_task(job)
    after = await queue.submit_task(job, after=[behind.task_id])
    checks = await failing_checks(queue, after.task_id)
    parent = str((await queue.get_task(behind.task_id)).uuid)
    assert checks["due"] == ("open_task", {"task_id": parent})
    assert checks["heartbeats"] == ("open_workers", {})


async def test_a_copy_is_made_once_however_often_it_is_asked_for(queue: Queue, job: str):
    task = await failed(queue, job)
    made = [
        await queue.resubmit_task(task.id, payload={"to": n}, replace=True, idempotency_key="k")
        for n in (1, 2)
    ]
    assert made[0].id == made[1].id
    assert (await queue.get_task(made[0].id)).payload == {"to": 1}
    assert len(await queue.list_tasks(job=job, room="@global")) == 2


async def test_a_copy_keeps_what_was_hidden_from_its_editor(queue: Queue, job: str):
    submitted = await queue.submit_task(job, SECRET)
    shown = (await queue.inspect_task((await queue.get_task(submitted.task_id)).uuid)).payload
    await queue.resubmit_task(submitted.task_id, payload={**shown, "to": "bob"}, replace=True)
    worker = await queue.register_worker("w", jobs=[job])
    [lease] = await queue.claim_tasks(worker.id)
    assert lease.payload == {**SECRET, "to": "bob"}


async def test_a_worker_tells_how_far_its_clock_is_off(queue: Queue, job: str, clock: Clock):
    worker = await queue.register_worker("w", jobs=[job])
    [shown] = await queue.driver.call("inspect_worker", worker_id=worker.id)
    assert shown["clock_ahead"] is None
    now = (await queue.heartbeat_worker(worker.id)).last_heartbeat_at
    for clock_shows, ahead in (
        (now + timedelta(minutes=5), 300),
        (None, 300),
        (now - timedelta(hours=1), -3600),
    ):
        await queue.heartbeat_worker(worker.id, clock=clock_shows)
        [shown] = await queue.driver.call("inspect_worker", worker_id=worker.id)
        assert abs(shown["clock_ahead"].total_seconds() - ahead) < 30


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
