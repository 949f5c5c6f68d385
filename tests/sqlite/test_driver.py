"""What callers see of the SQLite driver beyond the verbs."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pgjobs.drivers.sqlite.driver import SqliteDriver
from pgjobs.errors import InvalidArgument, JobNotFound, SchemaBehind
from pgjobs.queue.server import ServerQueue as Queue
from tests.sqlite.conftest import JOB

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
async def test_a_queue_can_live_in_memory(url):
    async with await Queue.connect(url) as queue:
        await queue.migrate()
        await queue.register_job(*JOB.split(":"))
        submitted = await queue.submit_task(JOB, {"angle": 90})
        assert (await queue.get_task(submitted.task_id)).payload == {"angle": 90}


async def test_three_slashes_name_a_relative_path_and_four_an_absolute_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///near.db", f"sqlite:///{tmp_path / 'far.db'}"):
        async with await Queue.connect(url) as queue:
            await queue.migrate()
    assert {file.name for file in tmp_path.iterdir()} == {"near.db", "far.db"}


@pytest.mark.parametrize("url", ["sqlite://queue.db", "sqlite:///no/such/directory/queue.db"])
async def test_a_url_that_leads_nowhere_is_refused(url):
    with pytest.raises(InvalidArgument):
        await SqliteDriver.connect(url)


async def test_a_file_that_was_not_migrated_says_so(path):
    async with await Queue.connect(f"sqlite:///{path}") as queue:
        with pytest.raises(SchemaBehind):
            await queue.list_jobs()
        with pytest.raises(SchemaBehind):
            await queue.driver.listen("ended", lambda _: None)
        await queue.migrate()
        assert await queue.list_jobs() == []


async def test_what_was_submitted_is_there_after_reopening(path):
    async with await Queue.connect(f"sqlite:///{path}") as queue:
        await queue.migrate()
        await queue.register_job(*JOB.split(":"))
        submitted = await queue.submit_task(JOB, {"kept": True})
    async with await Queue.connect(f"sqlite:///{path}") as queue:
        assert (await queue.get_task(submitted.task_id)).payload == {"kept": True}


async def test_a_commit_survives_a_power_failure(path, queue, connection):
    # SQLite's own words for it: write-ahead log, synchronous = 2.
    synchronous = await _pragma(queue, "synchronous")
    assert (synchronous, connection.execute("pragma journal_mode").fetchone()[0]) == (2, "wal")


async def _pragma(queue, name):
    driver = queue.driver
    loop = asyncio.get_running_loop()
    rows = await loop.run_in_executor(
        driver._thread, lambda: driver._session.connection.execute(f"pragma {name}").fetchone()
    )
    return rows[0]


async def test_the_clock_decides_what_time_it_is(queue, job, clock):
    first = await queue.submit_task(job)
    clock.advance(days=1)
    second = await queue.submit_task(job)
    created = [(await queue.get_task(item.task_id)).created_at for item in (first, second)]
    assert created == [datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC)]


async def test_times_from_any_zone_mean_the_same_moment(queue, job):
    there = timezone(timedelta(hours=5))
    submitted = await queue.submit_task(job, available_at=datetime(2030, 1, 2, 5, tzinfo=there))
    assert (await queue.get_task(submitted.task_id)).due_at == datetime(2030, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("priority", "5"),
        ("priority", 5.0),
        ("priority", 2**31),
        ("max_attempts", 2**63),
        ("delay", 60),
        ("delay", timedelta.max),
        ("available_at", "tomorrow"),
        ("room", 7),
        ("room", "nul\0"),
        ("room", "\ud800"),
        ("tags", "red"),
        ("tags", [1]),
        ("require_workers", 1),
    ],
)
async def test_an_argument_of_another_type_is_refused(queue, job, argument, value):
    with pytest.raises(InvalidArgument, match=argument):
        await queue.submit_task(job, **{argument: value})
    assert await queue.list_tasks() == []


@pytest.mark.parametrize("name", ["no_such_verb", "../verbs/check"])
async def test_an_unknown_verb_is_refused(queue, name):
    with pytest.raises(InvalidArgument, match="no verb"):
        await queue.driver.call(name)


async def test_an_unknown_argument_is_refused(queue):
    with pytest.raises(InvalidArgument, match="no argument colour"):
        await queue.driver.call("list_jobs", colour="red")


async def test_an_argument_that_must_be_given_is_asked_for(queue):
    with pytest.raises(InvalidArgument, match="job is required"):
        await queue.driver.call("get_job")


async def test_verbs_called_at_once_take_turns(queue, job):
    await asyncio.gather(*(queue.submit_task(job) for _ in range(50)))
    claims = [queue.claim_tasks(holder="me", lease=MINUTE, in_room="@global", quantity=5) for _ in range(20)]
    claimed = [lease.task_id for leases in await asyncio.gather(*claims) for lease in leases]
    assert len(claimed) == len(set(claimed)) == 50


async def test_a_refusal_is_followed_by_a_working_queue(queue, job):
    for _ in range(3):
        with pytest.raises(JobNotFound):
            await queue.get_job("@global:tests:Nothing")
    assert (await queue.get_job(job)).full_name == job


async def test_a_verb_waits_for_another_writer(path, queue, job):
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("begin immediate")
    submitting = asyncio.create_task(queue.submit_task(job))
    # Released from another thread, since the verb waits in its own.
    threading.Timer(0.05, lambda: writer.execute("commit")).start()
    assert (await submitting).is_new
    writer.close()


async def test_closing_twice_does_no_harm(path):
    queue = await Queue.connect(f"sqlite:///{path}")
    await queue.close()
    await queue.close()
