"""`pgjobs jobs` and `pgjobs workers`."""

from __future__ import annotations

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.cli.conftest import JOB, Pgjobs


async def test_a_job_is_paused_resumed_archived_and_taken_back(pgjobs: Pgjobs, queue: Queue, job: str):
    for verb, said, column in (
        ("pause", "is paused", "paused_at"), ("resume", "is resumed", None),
        ("archive", "is archived", "archived_at"), ("unarchive", "is restored", None),
    ):  # fmt: skip
        done = pgjobs("jobs", verb, job, "--reason", "spring cleaning", PGJOBS_ACTOR="grace")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{job} {said}.\n")
        found = await queue.get_job(job)
        assert {name for name in ("paused_at", "archived_at") if getattr(found, name)} == ({column} - {None})
    kinds = {event.kind for event in await queue.list_events(of_job=job) if event.actor == "grace"}
    assert len(kinds) == 4


async def test_a_job_is_limited_and_the_limit_lifted(pgjobs: Pgjobs, queue: Queue, job: str):
    done = pgjobs("jobs", "limit", job, "3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{job} runs at most 3 at once.\n")
    assert (await queue.get_job(job)).max_running == 3
    assert "max_running          3" in pgjobs("jobs", "show", job).stdout
    shown = pgjobs("jobs", "limit", job)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "3\n", "")
    assert (await queue.get_job(job)).max_running == 3
    assert pgjobs("jobs", "limit", job, "4", "--none").returncode == 2
    assert pgjobs("jobs", "limit", job, "--none").stderr == f"{job} has no limit.\n"
    assert (await queue.get_job(job)).max_running is None
    assert pgjobs("jobs", "limit", job).stdout == "none\n"
    assert pgjobs("jobs", "limit", job, "0").returncode != 0


@pytest.mark.postgres_only
async def test_a_policy_is_shown_and_changed_in_part(pgjobs: Pgjobs, queue: Queue, job: str):
    before = await queue.get_job(job)
    done = pgjobs("jobs", "policy", job, "--max-attempts", 7, "--backoff", "30s", "--events", "full")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{job} has a new policy.\n")
    now = await queue.get_job(job)
    assert (now.max_attempts, now.backoff_base.total_seconds(), now.events) == (7, 30, "full")
    assert now.backoff_cap == before.backoff_cap
    shown = pgjobs("jobs", "policy", job)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [line.split()[0] for line in shown.stdout.splitlines()] == [
        *("max_attempts", "backoff_base", "backoff_cap", "events"),
    ]
    assert pgjobs("jobs", "policy", job, "--longest-backoff", "1s").returncode == 2
    assert (await queue.get_job(job)).backoff_cap == before.backoff_cap


async def test_archived_jobs_are_listed_when_asked_for(pgjobs: Pgjobs, queue: Queue, job: str):
    await queue.archive_job(job)
    assert JOB not in pgjobs("jobs", "list").stdout
    assert JOB in pgjobs("jobs", "list", "--archived").stdout


async def test_a_job_is_shown_with_its_policy_and_workers(pgjobs: Pgjobs, queue: Queue, job: str):
    worker = await queue.register_worker("mailer", jobs=[job])
    shown = pgjobs("jobs", "show", job).stdout.splitlines()
    assert f"full_name            {job}" in shown
    assert "max_attempts         1" in shown
    assert f"worker               {worker.id}" in shown


async def test_a_job_that_nobody_uses_is_retired(pgjobs: Pgjobs, queue: Queue, job: str):
    done = pgjobs("jobs", "retire", job)
    assert (done.returncode, done.stderr) == (0, f"{job} is retired.\n")
    assert await queue.list_jobs() == []
    await queue.register_job("@global", "mail", "Welcome")
    await queue.submit_task(job)
    assert pgjobs("jobs", "retire", job).returncode == 4


async def test_a_job_is_deleted_with_its_tasks_when_somebody_says_yes(pgjobs: Pgjobs, queue: Queue, job: str):
    await queue.submit_tasks(job, [{}, {}])
    assert pgjobs("jobs", "delete", job).returncode == 2
    looked = pgjobs("jobs", "delete", job, "--dry-run")
    assert (looked.returncode, looked.stdout) == (0, "2\n")
    assert looked.stderr == f"{job} would be deleted, with 2 tasks; nothing was changed.\n"
    assert len(await queue.list_tasks()) == 2
    assert [found.full_name for found in await queue.list_jobs()] == [job]
    done = pgjobs("jobs", "delete", job, "--yes")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", f"{job} is deleted, with 2 tasks.\n")
    assert await queue.list_jobs() == []
    assert await queue.list_tasks() == []


async def test_workers_are_listed_shown_and_retired(pgjobs: Pgjobs, queue: Queue, job: str):
    worker = await queue.register_worker("mailer", jobs=[job], actor="ada")
    await queue.submit_task(job)
    await queue.claim_tasks(worker.id, start=True)
    names, row = [line.split("\t") for line in pgjobs("workers", "list").stdout.splitlines()]
    assert dict(zip(names, row, strict=True))["name"] == "mailer"
    shown = pgjobs("workers", "show", worker.id).stdout.splitlines()
    assert f"serves               {job}" in shown
    gone = pgjobs("workers", "retire", worker.id)
    assert gone.returncode == 0, gone.stderr
    assert f"Worker {worker.id} was removed" in gone.stderr
    assert await queue.list_workers() == []


@pytest.mark.postgres_only
async def test_a_job_is_limited_by_key(pgjobs: Pgjobs, queue: Queue, job: str):
    done = pgjobs("jobs", "limit", job, "--per-key", "2", "--rate", "100/min", "--fair", "--weight", "acme=3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{job} is limited.\n")
    shown = pgjobs("jobs", "limit", job).stdout
    assert shown.splitlines()[0] == "none"
    assert {"max_running_per_key", "rate", "fair", "weights"} <= set(shown.split())
    assert pgjobs("jobs", "limit", job, "--weight", "acme").returncode == 2
    assert pgjobs("jobs", "limit", job, "--rate", "often").returncode != 0
    pgjobs("enqueue", job, "{}", "--group", "acme")
    assert pgjobs("jobs", "keys", job).stdout.splitlines()[1].split("\t")[:4] == ["acme", "1", "0", "3"]
    assert '"key": "acme"' in pgjobs("jobs", "keys", job, "--json").stdout
