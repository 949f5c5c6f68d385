"""What the documentation and the examples show, run as written."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
import pytest

from pgjobs import JobManager, sync
from tests.conformance.homes import PostgresHome

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "manager.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def run(code: str, names: dict[str, Any]) -> None:
    """Runs code that may await, as in a notebook."""
    compiled = compile(code, "docs/manager.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    answer = eval(compiled, names)
    if inspect.isawaitable(answer):
        await answer


async def test_the_guide_prints_what_its_comments_say(home, capsys):
    names: dict[str, Any] = {"url": home.url}
    code = "\n".join(blocks("python"))
    expected = re.findall(r"print\(.*\)  # (.*)", code)
    await run(code, names)
    assert len(expected) > 8
    assert capsys.readouterr().out.splitlines() == expected


async def test_the_guides_sql_runs(home):
    if not isinstance(home, PostgresHome):
        pytest.skip("psql is for Postgres")
    await JobManager(home.queue).create_job("chatbooks", "default", "export", {})
    connection = await asyncpg.connect(home.url)
    for statement in filter(str.strip, blocks("sql")[0].split(";")):
        assert len(await connection.fetch(statement)) == 1
    await connection.close()


@pytest.fixture
def blocking(home_url: str) -> Iterator[sync.JobManager]:
    with sync.JobManager(home_url) as manager:
        if home_url.startswith("sqlite"):
            manager.queue.migrate()
        yield manager


def test_the_facade_runs(blocking, home_url, capsys, monkeypatch):
    monkeypatch.delenv("PROMPT_STUDIO_JOBS_BACKEND", raising=False)
    facade = example("prompt_studio_facade")
    facade.main(home_url)
    assert capsys.readouterr().out.startswith("evaluation 17 {")
    monkeypatch.setenv("PROMPT_STUDIO_JOBS_BACKEND", "prompt_studio")
    with pytest.raises(SystemExit):
        facade.main(home_url)


def test_the_facade_keeps_the_old_record_shape(blocking):
    jobs = example("prompt_studio_facade").PromptStudioJobs(blocking, "studio-1")
    created = jobs.create_job("evaluation", 17, {"model": "small"}, project_id=3, priority=2)
    assert list(created) == [
        "id",
        "uuid",
        "job_type",
        "entity_id",
        "project_id",
        "client_id",
        "status",
        "priority",
        "payload",
        "result",
        "error_message",
        "retry_count",
        "max_retries",
        "created_at",
        "started_at",
        "completed_at",
    ]
    assert (created["entity_id"], created["payload"], created["status"]) == (17, {"model": "small"}, "queued")
    taken = jobs.get_next_job()
    assert (taken["id"], taken["status"]) == (created["id"], "processing")
    assert taken["started_at"] is not None
    assert jobs.update_job_status(taken["id"], "failed", "no") is True
    assert jobs.update_job_status(taken["id"], "completed") is False
    failed = jobs.get_job(taken["id"])
    assert (failed["status"], failed["error_message"], failed["retry_count"]) == ("queued", "no", 1)
    assert [job["id"] for job in jobs.list_jobs(status="queued", job_type="evaluation")] == [created["id"]]
    assert (jobs.cancel_job(created["id"], "enough"), jobs.cancel_job(created["id"])) == (True, False)
    assert jobs.get_job(10**6) is None
    assert jobs.cancel_job(10**6) is False


async def test_the_worker_runs(home, capsys):
    await example("chatbooks_worker").main(home.url)
    assert capsys.readouterr().out.splitlines() == [
        "import completed {'done': ['stored note']}",
        "export completed {'done': ['packed monday', 'packed tuesday']}",
    ]


async def test_the_worker_stops_between_chunks_when_its_job_is_cancelled(home):
    worker = example("chatbooks_worker")
    jobs = JobManager(home.queue)
    seen = []

    async def handler(payload: dict[str, Any]):
        for chunk in payload["conversations"]:
            seen.append(chunk)
            if chunk == "tuesday":
                await jobs.cancel_job(job.id, "user_request")
            yield chunk

    job = await jobs.create_job(
        "chatbooks", "default", "export", {"conversations": ["monday", "tuesday", "wednesday"]}
    )
    assert await worker.ChatbooksWorker(jobs, "w", {"export": handler}).run_until_idle() == 1
    ended = await jobs.get_job(job.id)
    assert (seen, ended.status, ended.cancellation_reason) == (
        ["monday", "tuesday"],
        "cancelled",
        "user_request",
    )


async def test_the_worker_lets_a_job_go_that_it_has_lost(home, clock):
    worker = example("chatbooks_worker")
    jobs = JobManager(home.queue)

    async def handler(_payload: dict[str, Any]):
        await clock.advance(seconds=90)
        yield "too late"

    job = await jobs.create_job("chatbooks", "default", "export", {})
    await worker.ChatbooksWorker(jobs, "w", {"export": handler}).run_until_idle()
    assert (await jobs.get_job(job.id)).last_error == "lease_expired"


async def test_the_worker_outlives_a_job_that_fails_after_it_was_lost(home, clock):
    worker = example("chatbooks_worker")
    jobs = JobManager(home.queue)

    async def handler(_payload: dict[str, Any]):
        await clock.advance(seconds=90)
        raise RuntimeError("too late as well")
        yield

    await jobs.create_job("chatbooks", "default", "export", {})
    assert await worker.ChatbooksWorker(jobs, "w", {"export": handler}).run_until_idle() == 1
    [job] = await jobs.list_jobs()
    assert (job.status, job.last_error) == ("queued", "lease_expired")


def test_the_facade_outlives_a_job_that_was_lost(blocking, home_url):
    jobs = example("prompt_studio_facade").PromptStudioJobs(blocking, "studio-1")
    jobs.create_job("evaluation", 17, {})
    taken = jobs.get_next_job()
    blocking.cancel_job(taken["id"], force=True)
    assert jobs.run_next(lambda record: {}) is False
    jobs.create_job("evaluation", 18, {})

    def lost(record: dict[str, Any]) -> None:
        blocking.cancel_job(record["id"], force=True)
        raise RuntimeError("too late")

    assert jobs.run_next(lost) is True
    assert jobs.update_job_status(taken["id"], "failed", "no") is False


async def test_the_worker_fails_what_raises(home):
    worker = example("chatbooks_worker")
    jobs = JobManager(home.queue)
    job = await jobs.create_job("chatbooks", "default", "export", {}, max_retries=0)
    await worker.ChatbooksWorker(jobs, "w").run_until_idle()
    failed = await jobs.get_job(job.id)
    assert (failed.status, failed.error_message) == ("failed", "KeyError: 'conversations'")
