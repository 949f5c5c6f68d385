"""What Prometheus sees, and that every process sees the same."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from pgjobs import sync
from pgjobs.contrib import prometheus as metrics
from pgjobs.contrib.manager import JobManager, ManagerSettings
from tests.conformance.homes import PostgresHome

LABELS = {"domain": "chatbooks", "queue": "default", "job_type": "export"}
EXPORT = tuple(LABELS.values())
QUEUE = EXPORT[:2]


@pytest.fixture
def manager(home) -> JobManager:
    return JobManager(home.queue)


async def scraped(queue) -> dict[str, float]:
    """Samples of the one job by name; a bucket by its name and bound."""
    text = (await metrics.render(queue, ManagerSettings(enable_metrics=True))).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            bound = sample.labels.pop("le", None)
            if sample.labels == LABELS:
                found[sample.name if bound is None else f"{sample.name} {bound}"] = sample.value
    return found


async def test_an_idle_type_counts_zero(manager, home):
    await home.queue.register_job(*EXPORT)
    seen = await scraped(home.queue)
    assert {name: seen[name] for name in seen if "seconds" not in name} == {
        "jobs_queued": 0,
        "jobs_backlog": 0,
        "jobs_processing": 0,
        "jobs_stale_processing": 0,
        "jobs_paused": 0,
        "jobs_completed_total": 0,
        "jobs_failed_total": 0,
        "jobs_retries_total": 0,
        "jobs_cancellations_total": 0,
    }


async def test_gauges_tell_what_is_there_now(manager, home, clock):
    await manager.create_jobs(*EXPORT, [{} for _ in range(5)])
    await manager.schedule_job(*EXPORT, {}, available_at=clock.now() + timedelta(hours=1))
    await manager.acquire_jobs(*QUEUE, 60, "w", 2)
    seen = await scraped(home.queue)
    assert (seen["jobs_queued"], seen["jobs_backlog"], seen["jobs_processing"]) == (4, 3, 2)
    assert seen["jobs_stale_processing"] == 0
    await clock.advance(seconds=61)
    assert (await scraped(home.queue))["jobs_stale_processing"] == 2


async def test_a_lease_that_lives_by_heartbeats_is_stale_when_its_worker_is_silent(home, clock):
    await home.queue.register_job(*EXPORT)
    worker = await home.queue.register_worker(jobs=[":".join(EXPORT)])
    await home.queue.submit_task(":".join(EXPORT))
    await home.queue.claim_tasks(worker.id)
    await clock.advance(seconds=45)
    assert (await scraped(home.queue))["jobs_stale_processing"] == 0
    await clock.advance(seconds=30)
    assert (await scraped(home.queue))["jobs_stale_processing"] == 1
    if isinstance(home, PostgresHome):
        assert (await home.queue.overview()).overdue == 1
        [job] = await home.queue.jobs_status()
        assert job.overdue == 1
        [line] = await home.queue.top()
        assert line.state == "overdue"
    await home.queue.heartbeat_worker(worker.id)
    assert (await scraped(home.queue))["jobs_stale_processing"] == 0


async def test_a_type_that_is_paused_or_archived_says_so(home):
    await home.queue.register_job(*EXPORT)
    for close, reopen in (("pause_job", "resume_job"), ("archive_job", "unarchive_job")):
        await getattr(home.queue, close)(":".join(EXPORT))
        assert (await scraped(home.queue))["jobs_paused"] == 1
        await getattr(home.queue, reopen)(":".join(EXPORT))
        assert (await scraped(home.queue))["jobs_paused"] == 0


async def test_a_queue_without_jobs_has_a_number_too(home):
    assert "jobs_types 0.0" in (await metrics.render(home.queue)).decode()
    await home.queue.register_job(*EXPORT)
    assert "jobs_types 1.0" in (await metrics.render(home.queue)).decode()


@pytest.mark.postgres_only
async def test_schedules_are_counted_and_those_that_nobody_starts(home, clock):
    await home.queue.register_job(*EXPORT)
    assert "jobs_schedules" not in await scraped(home.queue), "where there are none"
    for name, minutes in (("often", 1), ("seldom", 60)):
        await home.queue.register_schedule(name, ":".join(EXPORT), every=timedelta(minutes=minutes))
    await clock.advance(minutes=2)
    seen = await scraped(home.queue)
    assert (seen["jobs_schedules"], seen["jobs_schedules_overdue"]) == (2, 0)
    await clock.advance(minutes=2)
    assert (await scraped(home.queue))["jobs_schedules_overdue"] == 1
    await home.queue.fire_schedules()
    assert (await scraped(home.queue))["jobs_schedules_overdue"] == 0


async def test_counters_tell_how_jobs_ended(manager, home, clock):
    await manager.create_jobs(*EXPORT, [{} for _ in range(6)], max_retries=1)
    jobs = await manager.acquire_jobs(*QUEUE, 60, "w", 5)
    for job in jobs[:2]:
        await manager.complete_job(job.id, "w", job.lease_id)
    await manager.fail_job(jobs[2].id, "w", jobs[2].lease_id, "no", retryable=False)
    await manager.fail_job(jobs[3].id, "w", jobs[3].lease_id, "once more")
    await manager.cancel_job(jobs[4].id, force=True)
    [waiting, _] = await manager.list_jobs(status="queued")
    await manager.cancel_job(waiting.id)
    for _ in range(2):
        seen = await scraped(home.queue)
        assert seen["jobs_completed_total"] == 2
        assert seen["jobs_failed_total"] == 1
        assert seen["jobs_retries_total"] == 1
        assert seen["jobs_cancellations_total"] == 2
        await home.queue.sweep()


async def test_histograms_tell_how_long_it_took(manager, home, clock):
    await manager.create_jobs(*EXPORT, [{}, {}])
    await clock.advance(seconds=20)
    jobs = await manager.acquire_jobs(*QUEUE, 60, "w", 2)
    await clock.advance(seconds=4)
    await manager.complete_job(jobs[0].id, "w", jobs[0].lease_id)
    await clock.advance(seconds=4)
    await manager.complete_job(jobs[1].id, "w", jobs[1].lease_id)
    seen = await scraped(home.queue)
    latency = {
        bound: seen[f"jobs_queue_latency_seconds_bucket {bound}"] for bound in ("10.0", "30.0", "+Inf")
    }
    assert latency == {"10.0": 0, "30.0": 2, "+Inf": 2}
    duration = {
        bound: seen[f"jobs_duration_seconds_bucket {bound}"] for bound in ("2.5", "5.0", "10.0", "+Inf")
    }
    assert duration == {"2.5": 0, "5.0": 1, "10.0": 2, "+Inf": 2}
    assert math.isclose(seen["jobs_duration_seconds_sum"], 12, abs_tol=2)
    assert seen["jobs_duration_seconds_count"] == 2


async def test_a_collector_in_another_process_tells_the_same(manager, home):
    await manager.create_jobs(*EXPORT, [{} for _ in range(3)])
    registry = CollectorRegistry()
    options = {} if isinstance(home, PostgresHome) else {"clock": home.clock.now}
    with sync.Queue.connect(home.url, **options) as queue:
        registry.register(metrics.JobsCollector(queue.list_metrics))
        seen = await asyncio.to_thread(registry.get_sample_value, "jobs_queued", LABELS)
    assert seen == 3 == (await scraped(home.queue))["jobs_queued"]


async def test_metrics_can_be_switched_off(home):
    await home.queue.register_job(*EXPORT)
    assert await metrics.render(home.queue, ManagerSettings(enable_metrics=False)) == b""


async def test_python_and_sql_agree_on_the_buckets(home):
    if not isinstance(home, PostgresHome):
        with sqlite3.connect(home.url.removeprefix("sqlite:///")) as connection:
            rows = connection.execute("select up_to from histogram_bounds order by bucket").fetchall()
        assert tuple(bound for (bound,) in rows) == metrics.BOUNDS
        return
    bounds = await home.connection.fetchval("select pgjobs._histogram_bounds()")
    assert (*bounds, math.inf) == metrics.BOUNDS
    inside = "select pgjobs._histogram_bucket(b), pgjobs._histogram_bucket(b * 1.001) from unnest($1::float8[]) as b"
    rows = await home.connection.fetch(inside, bounds)
    assert [tuple(row) for row in rows] == [(place, place + 1) for place in range(len(bounds))]


async def test_history_counts_once_however_often_and_by_whomever_it_is_counted(home, manager):
    await manager.create_jobs(*EXPORT, [{} for _ in range(100)])
    for _ in range(10):
        jobs = await manager.acquire_jobs(*QUEUE, 60, "w", 10)
        await asyncio.gather(
            *(manager.complete_job(job.id, "w", job.lease_id) for job in jobs),
            *(home.queue.list_metrics() for _ in range(3)),
            home.queue.sweep("rollups"),
        )
    assert (await scraped(home.queue))["jobs_completed_total"] == 100
    assert (await scraped(home.queue))["jobs_duration_seconds_count"] == 100
    if not isinstance(home, PostgresHome):
        return
    minutes = "select sum(completed) from pgjobs.rollups where minute > '-infinity' group by job_id = 0"
    assert [row[0] for row in await home.connection.fetch(minutes)] == [100, 100]


async def test_what_an_operator_tries_again_stays_counted(home, manager):
    """Counters of Prometheus never fall."""
    job = await manager.create_job(*EXPORT, {}, max_retries=0)
    [held] = await manager.acquire_jobs(*QUEUE, 60, "w", 1)
    await manager.fail_job(held.id, "w", held.lease_id, "broken", retryable=False)
    assert (await scraped(home.queue))["jobs_failed_total"] == 1
    await home.queue.retry_task(job.id)
    seen = await scraped(home.queue)
    assert (seen["jobs_failed_total"], seen["jobs_retries_total"], seen["jobs_queued"]) == (1, 0, 1)


async def test_pruned_jobs_stay_counted(home, manager, clock):
    await manager.create_job(*EXPORT, {})
    [job] = await manager.acquire_jobs(*QUEUE, 60, "w", 1)
    await manager.complete_job(job.id, "w", job.lease_id)
    await clock.advance(days=40)
    assert len(await manager.prune_jobs()) == 1
    await home.queue.sweep()
    seen = await scraped(home.queue)
    assert (seen["jobs_completed_total"], seen["jobs_duration_seconds_count"]) == (1, 1)
    if not isinstance(home, PostgresHome):
        return
    old = (
        "select count(*) from pgjobs.rollups"
        " where minute > '-infinity' and minute < pgjobs._now() - interval '8 days'"
    )
    assert await home.connection.fetchval(old) == 0
