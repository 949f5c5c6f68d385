"""Queue latency is the time from due to claim, of each attempt: delays and backoff are nobody's waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgjobs.contrib import prometheus as metrics
from pgjobs.queue.server import ServerQueue as Queue
from tests.conformance.homes import Clock, PostgresHome
from tests.conformance.stages import claim

JOB = "@global:tests:Work"
HOUR = timedelta(hours=1)


@pytest.fixture
async def home(database_url: str) -> AsyncIterator[PostgresHome]:
    home = PostgresHome(database_url)
    await home.open()
    await home.queue.register_job(
        *JOB.split(":"), max_attempts=3, backoff_base=timedelta(minutes=10), jitter_share=0.0, events="full"
    )
    yield home
    assert [rule for rule in await home.queue.check() if rule.violations] == []
    await home.close()


@pytest.fixture
def queue(home: PostgresHome) -> Queue:
    return home.queue


@pytest.fixture
def clock(home: PostgresHome) -> Clock:
    return home.clock


async def waits(home: PostgresHome) -> tuple[list[int], float]:
    """How many attempts are in each bucket that has any, by its upper bound, and how long they waited together."""
    await home.queue.sweep("rollups")
    row: Any = await home.connection.fetchrow(
        "select r.waits, r.wait_seconds, pgjobs._histogram_bounds() as bounds"
        " from pgjobs.rollups as r where r.job_id > 0 and r.minute = '-infinity'"
    )
    buckets = [
        bound for bound, count in zip([*row["bounds"], -1], row["waits"], strict=True) for _ in range(count)
    ]
    return buckets, float(row["wait_seconds"])


async def test_an_intended_delay_is_not_waiting(home, queue, clock):
    await queue.submit_task(JOB, delay=HOUR)
    await clock.advance(hours=1, seconds=20)
    await queue.complete_task(await claim(queue, JOB))
    buckets, together = await waits(home)
    assert buckets == [30]
    assert 20 <= together < 30


async def test_each_attempt_waits_from_when_it_is_due(home, queue, clock):
    await queue.submit_task(JOB)
    await clock.advance(seconds=4)
    await queue.fail_task(await claim(queue, JOB), "broken")
    await clock.advance(minutes=10, seconds=20)
    await queue.complete_task(await claim(queue, JOB))
    buckets, together = await waits(home)
    assert buckets == [5, 30]
    assert 24 <= together < 34


async def test_a_retry_by_an_operator_waits_from_then_on(home, queue, clock):
    task = await queue.submit_task(JOB, max_attempts=1)
    await queue.fail_task(await claim(queue, JOB), "broken")
    await clock.advance(hours=3)
    await queue.retry_task(task.task_id)
    await clock.advance(seconds=20)
    await queue.complete_task(await claim(queue, JOB))
    buckets, _ = await waits(home)
    assert buckets[-1] == 30
    assert max(buckets) == 30


async def test_a_task_given_back_has_the_place_that_its_due_time_gives_it(home, queue, clock):
    """Not that of its submission: a delay would have counted as waiting, and let it pass others by."""
    delayed = await queue.submit_task(JOB, delay=HOUR)
    await clock.advance(minutes=30)
    submitted = await queue.submit_task(JOB)
    await clock.advance(minutes=30, seconds=20)
    first, second = await claim(queue, JOB), await claim(queue, JOB)
    assert (first.task_id, second.task_id) == (submitted.task_id, delayed.task_id)
    await queue.release_task(second)
    await queue.release_task(first)
    again = [await claim(queue, JOB), await claim(queue, JOB)]
    assert [lease.task_id for lease in again] == [submitted.task_id, delayed.task_id]
    await queue.complete_task(again[1])
    buckets, _ = await waits(home)
    assert buckets == [30]
    events = [event.kind for event in await queue.list_events() if event.task_id == delayed.task_id]
    assert events == ["submitted", "due", "claimed", "released", "claimed", "completed"]


async def test_a_task_submitted_for_the_past_waits_since_it_is_there(home, queue, clock):
    await queue.submit_task(JOB, available_at=clock.now() - HOUR)
    await clock.advance(seconds=20)
    await queue.complete_task(await claim(queue, JOB))
    assert (await waits(home))[0] == [30]


async def test_views_and_metrics_say_the_same_and_the_managers_histogram_keeps_its_own_words(
    home, queue, clock
):
    await queue.submit_task(JOB, delay=HOUR)
    await clock.advance(hours=1, seconds=20)
    await queue.complete_task(await claim(queue, JOB))
    text = (await metrics.render(queue)).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}

    def seconds(name: str) -> float:
        return next(s.value for s in families[name].samples if s.name == f"{name}_sum")

    assert 20 <= seconds("pgjobs_queue_latency_seconds") < 30
    assert families["pgjobs_queue_latency_seconds"].documentation == "From due to claimed, of each attempt"
    assert 3620 <= seconds("jobs_queue_latency_seconds") < 3630
    assert "created to acquired" in families["jobs_queue_latency_seconds"].documentation
    assert "delays and backoff included" in families["jobs_queue_latency_seconds"].documentation
    overview = await queue.overview()
    assert 10 <= overview.wait_p50 <= overview.wait_p95 <= 30
    (status,) = await queue.jobs_status()
    assert status.wait_p95 == overview.wait_p95
