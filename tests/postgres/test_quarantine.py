"""Tasks that take their workers down are put aside, and only those."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from pgjobs.queue.server import ServerQueue as Queue

JOB = "@global:tests:Poison"
INNOCENT = "@global:tests:Innocent"


class Clockwork:
    """A queue whose time tests move."""

    def __init__(self, queue: Queue, connection: asyncpg.Connection) -> None:
        self.queue = queue
        self.connection = connection
        self.shift = timedelta()

    async def advance(self, **parts: float) -> None:
        self.shift += timedelta(**parts)
        await self.connection.execute("update pgjobs.test_clock set shift = $1", self.shift)

    async def lose(self, *jobs: str, start: bool = True, holder: str = "worker") -> None:
        """Somebody claims what is due of these jobs and is never heard of again."""
        known = [(await self.queue.get_job(job)).id for job in jobs or (JOB,)]
        leases = await self.queue.claim_tasks(
            holder=holder, lease=timedelta(seconds=1), job_ids=known, quantity=10, start=start
        )
        assert leases
        await self.advance(seconds=2)
        await self.queue.sweep("leases")
        await self.advance(seconds=2)

    async def of(self, task: int) -> tuple[str, str | None]:
        shown = await self.queue.get_task(task)
        return shown.status, shown.phase


@pytest.fixture
async def clockwork(database_url):
    connection = await asyncpg.connect(database_url)
    async with await Queue.connect(database_url) as queue:
        for job in (JOB, INNOCENT):
            await queue.register_job(
                *job.split(":"),
                max_attempts=50,
                backoff_base=timedelta(seconds=1),
                backoff_cap=timedelta(seconds=1),
                jitter_share=0.0,
            )
        yield Clockwork(queue, connection)
        assert [rule for rule in await queue.check() if rule.violations] == []
    await connection.close()


async def test_the_fifth_worker_in_a_row_that_is_lost_puts_a_task_aside(clockwork):
    task = await clockwork.queue.submit_task(JOB)
    for _ in range(4):
        await clockwork.lose()
    assert (await clockwork.of(task.task_id))[0] == "pending"
    await clockwork.lose()
    assert await clockwork.of(task.task_id) == ("ignored", "quarantined")
    assert (await clockwork.queue.get_task(task.task_id)).reason == "Its attempts took their workers down"


async def test_quarantine_is_told_once_and_found_until_it_ends(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=1)
    task = await clockwork.queue.submit_task(JOB)
    await clockwork.lose()
    await clockwork.queue.sweep()
    told = await clockwork.connection.fetch(
        "select task_id, message from pgjobs.events where kind = 'quarantined'"
    )
    assert [tuple(row) for row in told] == [(task.task_id, "Its attempts took their workers down")]
    found = [finding for finding in await clockwork.queue.findings() if "quarantine" in finding.message]
    assert [finding.subject for finding in found] == [f"job {JOB}"]
    assert str(task.task_id) in found[0].advice
    await clockwork.queue.unignore_task(task.task_id)
    assert not [finding for finding in await clockwork.queue.findings() if "quarantine" in finding.message]


async def test_a_released_task_is_counted_from_the_beginning(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=2)
    task = await clockwork.queue.submit_task(JOB)
    for _ in range(2):
        await clockwork.lose()
    await clockwork.queue.unignore_task(task.task_id, actor="ada")
    await clockwork.lose()
    assert (await clockwork.of(task.task_id))[0] == "pending"
    await clockwork.lose()
    assert await clockwork.of(task.task_id) == ("ignored", "quarantined")


async def test_any_other_end_begins_the_count_anew(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=2)
    task = await clockwork.queue.submit_task(JOB)
    await clockwork.lose()
    [lease] = await clockwork.queue.claim_tasks(holder="me", lease=timedelta(minutes=1), in_room="@global")
    await clockwork.queue.fail_tasks([lease], ["no route"], kinds=["network"])
    await clockwork.advance(seconds=2)
    await clockwork.lose()
    assert (await clockwork.of(task.task_id))[0] == "pending"


async def test_what_was_only_claimed_is_innocent(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=1)
    task = await clockwork.queue.submit_task(JOB)
    for _ in range(3):
        await clockwork.lose(start=False)
    assert (await clockwork.of(task.task_id))[0] == "pending"


async def test_of_tasks_lost_together_only_the_one_lost_most_often_is_put_aside(clockwork):
    for job in (JOB, INNOCENT):
        await clockwork.queue.set_job_policy(job, quarantine_after=3)
    poison = await clockwork.queue.submit_task(JOB)
    await clockwork.lose(JOB)
    innocent = await clockwork.queue.submit_task(INNOCENT)
    await clockwork.lose(JOB, INNOCENT)
    await clockwork.lose(JOB, INNOCENT)
    assert await clockwork.of(poison.task_id) == ("ignored", "quarantined")
    assert (await clockwork.of(innocent.task_id))[0] == "pending"


async def test_of_two_that_were_always_lost_together_neither_is_put_aside(clockwork):
    for job in (JOB, INNOCENT):
        await clockwork.queue.set_job_policy(job, quarantine_after=2)
    tasks = [await clockwork.queue.submit_task(job) for job in (JOB, INNOCENT)]
    for _ in range(3):
        await clockwork.lose(JOB, INNOCENT)
    assert {(await clockwork.of(task.task_id))[0] for task in tasks} == {"pending"}


async def test_a_worker_that_leaves_without_a_word_counts_too(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=2)
    task = await clockwork.queue.submit_task(JOB)
    for _ in range(2):
        worker = await clockwork.queue.register_worker("w", jobs=[JOB])
        [_] = await clockwork.queue.claim_tasks(worker.id, start=True)
        await clockwork.queue.retire_worker(worker.id)
        await clockwork.advance(seconds=2)
    assert await clockwork.of(task.task_id) == ("ignored", "quarantined")


async def test_the_same_kind_of_error_counts_where_the_job_says_so(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=2)
    task = await clockwork.queue.submit_task(JOB)
    for kind, after in (("network", "pending"), ("auth", "pending"), ("auth", "ignored")):
        [lease] = await clockwork.queue.claim_tasks(
            holder="me", lease=timedelta(minutes=1), in_room="@global", start=True
        )
        [failed] = await clockwork.queue.fail_tasks([lease], ["broken"], kinds=[kind])
        assert failed.status == after
        await clockwork.advance(seconds=2)
    assert (await clockwork.queue.get_task(task.task_id)).reason == "Its attempts failed with auth"


async def test_zero_puts_nothing_aside(clockwork):
    await clockwork.queue.set_job_policy(JOB, quarantine_after=0)
    task = await clockwork.queue.submit_task(JOB)
    for _ in range(7):
        await clockwork.lose()
    assert (await clockwork.of(task.task_id))[0] == "pending"
