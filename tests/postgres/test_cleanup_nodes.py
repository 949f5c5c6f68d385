"""Each node cleans up its own directories, whoever else runs; and it is told where nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgjobs.contrib import prometheus as metrics
from pgjobs.contrib.cleanup import CleanupError, CleanupRunner
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.cleaners import Recording, eventually
from tests.conformance.homes import Clock, PostgresHome
from tests.conformance.runs import WEEK, cleanup_of, failed_run, register_runs, statuses

DIRECTORY = {"type": "local_dir", "base_dir": "/srv/backups"}
DAV = {"type": "webdav", "base_url": "https://host/dav"}
BLOCKED = "select run_id, job_name, node_id, last_error from pgjobs.incomplete_cleanup_tasks where status = "


@pytest.fixture
async def home(database_url: str) -> AsyncIterator[PostgresHome]:
    home = PostgresHome(database_url)
    await home.open()
    yield home
    assert [rule for rule in await home.queue.check() if rule.violations] == []
    await home.close()


@pytest.fixture
def queue(home: PostgresHome) -> Queue:
    return home.queue


@pytest.fixture
def clock(home: PostgresHome) -> Clock:
    return home.clock


async def cleanup_findings(queue: Queue) -> list[tuple[str, str, str, str | None]]:
    return [
        (found.severity, found.subject, found.message, found.advice)
        for found in await queue.findings()
        if found.subject.startswith("cleanup")
    ]


async def test_a_directory_of_another_node_is_left_to_that_node(queue, clock, tmp_path):
    """It is not on this machine, so a cleaner here would say that there was nothing to delete."""
    target = {"type": "local_dir", "base_dir": str(tmp_path)}
    run = await cleanup_of(queue, clock, target=target, node_id="agent-9")
    assert await CleanupRunner(queue).tick() == 0
    assert (await queue.get_cleanup(run)).status == "queued"
    assert (await queue.await_cleanups()).due_in is None
    assert await CleanupRunner(queue, node_id="agent-9").tick() == 1
    assert (await queue.get_cleanup(run)).status == "done"


@pytest.mark.parametrize(
    ("cleaner", "cleaned"),
    [
        (None, {"hub dir", "hub dav", "agent dav"}),
        ("hub", {"hub dir", "hub dav"}),
        ("agent-9", {"agent dir", "agent dav"}),
    ],
)
async def test_who_cleans_up_what(queue, clock, cleaner, cleaned):
    runs = {}
    for name, target, node in (
        ("hub dir", DIRECTORY, "hub"),
        ("hub dav", DAV, "hub"),
        ("agent dir", DIRECTORY, "agent-9"),
        ("agent dav", DAV, "agent-9"),
    ):
        job = await register_runs(queue, target, f"lab:backups:{name}", node_id=node)
        runs[await failed_run(queue, job)] = name
    await clock.advance(WEEK)
    cleaning = Recording()
    await CleanupRunner(queue, {"local_dir": cleaning, "webdav": cleaning}, node_id=cleaner).tick()
    assert {runs[run] for run, status in (await statuses(queue)).items() if status == "done"} == cleaned


async def test_a_node_that_nobody_cleans_up_for_is_a_finding(queue, clock):
    run = await cleanup_of(queue, clock, target=DIRECTORY, node_id="agent-9")
    await CleanupRunner(queue).tick()
    await clock.advance(minutes=5)
    assert await cleanup_findings(queue) == [
        (
            "warning",
            "cleanup of node agent-9",
            "1 cleanup waits (local_dir), the oldest for 5 min, and no process cleans up for this node",
            "-- on that machine: pgjobs cleanup run --node agent-9",
        )
    ]
    task = (await queue.get_cleanup(run)).task_id
    reason = next(step for step in await queue.why(task) if not step.is_ok)
    assert (reason.checked, reason.answer) == ("workers", "No process cleans up for node agent-9.")
    assert reason.advice == "-- on that machine: pgjobs cleanup run --node agent-9"
    blocked = Recording(error=CleanupError("network", "no route"))
    await CleanupRunner(queue, {"local_dir": blocked}, node_id="agent-9").tick()
    await clock.advance(minutes=10)
    assert await cleanup_findings(queue) == []
    steps = {step.checked: step for step in await queue.why(task)}
    assert steps["workers"].answer == "One process cleans up for node agent-9."
    assert steps["workers"].is_ok


async def test_nodes_are_listed_with_who_cleans_up_for_them(queue, clock):
    await register_runs(queue, DAV, node_id="agent-7")
    await cleanup_of(queue, clock, job="lab:backups:x", target=DIRECTORY, node_id="agent-9")
    await CleanupRunner(queue).tick()
    dav, directory = await queue.list_cleanup_nodes()
    assert (dav.node_id, dav.target_type, dav.open, dav.is_served) == ("agent-7", "webdav", 0, True)
    assert dav.served_by[0].startswith("cleaner ")
    assert dav.last_seen_at is not None
    assert (directory.node_id, directory.open, directory.waiting) == ("agent-9", 1, 1)
    assert (directory.is_served, directory.served_by, directory.last_seen_at) == (False, [], None)
    assert directory.advice == "-- on that machine: pgjobs cleanup run --node agent-9"


async def test_a_cleaner_that_has_not_come_for_a_day_serves_nobody(queue, clock):
    await register_runs(queue, DIRECTORY, node_id="agent-9")
    await CleanupRunner(queue, node_id="agent-9").tick()
    await clock.advance(hours=23)
    assert [node.is_served for node in await queue.list_cleanup_nodes()] == [True]
    await clock.advance(hours=2)
    assert [node.is_served for node in await queue.list_cleanup_nodes()] == [False]


async def test_the_first_cleanup_of_a_queue_wakes_a_cleaner_that_was_there_before(queue, clock):
    """There is no job to wait for until somebody needs one."""
    run = await failed_run(queue, await register_runs(queue, {"type": "tape"}))
    cleaner = Recording()
    task = asyncio.ensure_future(CleanupRunner(queue, {"tape": cleaner}).run())
    try:
        await eventually(lambda: _waits(queue))
        assert await queue.reconcile_cleanups(after=timedelta()) == 1
        await eventually(lambda: _is_done(queue, run))
    finally:
        task.cancel()
    assert cleaner.runs == [str(run)]


async def test_resuming_the_job_wakes_a_cleaner(queue, clock):
    run = await cleanup_of(queue, clock, target={"type": "tape"})
    job = "@internal:maintenance:incomplete-cleanup"
    await queue.pause_job(job)
    task = asyncio.ensure_future(CleanupRunner(queue, {"tape": Recording()}).run())
    try:
        await eventually(lambda: _waits(queue))
        await queue.resume_job(job)
        await eventually(lambda: _is_done(queue, run))
    finally:
        task.cancel()


async def _waits(queue: Queue) -> bool:
    return bool(await queue.driver.pool.fetchval("select count(*) from pgjobs.waiting_marks"))  # type: ignore[attr-defined]


async def _is_done(queue: Queue, run: object) -> bool:
    return (await queue.get_cleanup(run)).status == "done"  # type: ignore[arg-type]


async def test_blocked_and_abandoned_cleanups_are_findings(queue, clock):
    await cleanup_of(queue, clock, target={"type": "tape"})
    await CleanupRunner(queue, {"tape": Recording(error=CleanupError("auth", "401"))}).tick()
    assert await cleanup_findings(queue) == [
        (
            "warning",
            "cleanup",
            "1 cleanup is blocked: credentials or configuration are wrong",
            BLOCKED + "'blocked'",
        )
    ]
    assert await numbers(queue) == {"blocked": 1, "abandoned": 0, "unserved": 0}
    await clock.advance(days=31)
    await CleanupRunner(queue, {"tape": Recording(error=CleanupError("auth", "401"))}).tick()
    assert await cleanup_findings(queue) == [
        ("warning", "cleanup", "1 cleanup is abandoned: retry or ignore", BLOCKED + "'abandoned'")
    ]
    assert await numbers(queue) == {"blocked": 0, "abandoned": 1, "unserved": 0}
    ((run, status),) = (await statuses(queue)).items()
    assert status == "abandoned"
    await queue.ignore_cleanup(run)
    assert await cleanup_findings(queue) == []


async def test_due_cleanups_that_nobody_does_are_counted(queue, clock):
    await cleanup_of(queue, clock, target=DIRECTORY, node_id="agent-9")
    assert await numbers(queue) == {"blocked": 0, "abandoned": 0, "unserved": 1}


async def numbers(queue: Queue) -> dict[str, float]:
    text = (await metrics.render(queue)).decode()
    return {
        family.name.removeprefix("pgjobs_cleanups_"): sample.value
        for family in text_string_to_metric_families(text)
        if family.name.startswith("pgjobs_cleanups_")
        for sample in family.samples
    }
