"""Events: what is recorded, of whom, and how a reader goes on without a gap."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from pgjobs.errors import InvalidArgument, JobNotFound
from tests.conformance.stages import MINUTE, STAGES, claim, running

FULL = "@global:tests:Full"
OPERATIONS = [
    ("pending", "cancel_task", "cancelled", "cancelled"),
    ("running", "cancel_task", "cancel_requested", None),
    ("failed", "retry_task", "retried", "pending"),
    ("pending", "ignore_task", "ignored", "ignored"),
    ("ignored", "unignore_task", "unignored", "pending"),
]
JOB_OPERATIONS = [
    ("pause_job", "job_paused"),
    ("resume_job", "job_resumed"),
    ("archive_job", "job_archived"),
    ("unarchive_job", "job_unarchived"),
    ("retire_job", "job_retired"),
]


@pytest_asyncio.fixture(loop_scope="session")
async def full(queue, job):
    """Registered like `job`, but with every change recorded."""
    await queue.register_job(
        *FULL.split(":"), max_attempts=3, backoff_base=timedelta(seconds=10), jitter_share=0.0, events="full"
    )
    return FULL


def _story(events):
    return [(event.kind, event.status) for event in events]


async def test_a_job_with_full_events_tells_every_step(queue, full, read_events):
    task = await running(queue, full)
    await queue.complete_task(task.held)
    assert _story(await read_events(of_task=task.id)) == [
        ("submitted", "pending"),
        ("claimed", "claimed"),
        ("started", "running"),
        ("completed", "completed"),
    ]


async def test_a_claim_that_starts_at_once_tells_one_step(queue, full, read_events):
    submitted = (await queue.submit_task(full)).task_id
    await claim(queue, full, start=True)
    assert _story(await read_events(of_task=submitted))[1:] == [("started", "running")]


async def test_progress_that_starts_a_task_tells_so(queue, full, read_events):
    task = await STAGES["claimed"](queue, full)
    await queue.report_progress([task.held], [1])
    await queue.report_progress([task.held], [2])
    assert _story(await read_events(of_task=task.id))[2:] == [("started", "running")]


async def test_a_retried_attempt_tells_when_it_comes_due(queue, clock, full, read_events):
    task = await STAGES["claimed"](queue, full)
    failed = await queue.fail_task(task.held, "no route to host", kind="network")
    await clock.advance(seconds=11)
    await queue.sweep()
    events = await read_events(of_task=task.id)
    assert _story(events)[2:] == [("retrying", "pending"), ("due", "pending")]
    assert events[2].message == "no route to host"
    assert (events[2].fields["attempt"], events[2].fields["error_kind"]) == (1, "network")
    assert events[2].at < failed.run_at <= events[2].at + timedelta(seconds=10)


async def test_a_released_task_tells_so(queue, full, read_events):
    task = await STAGES["claimed"](queue, full)
    await queue.release_task(task.held)
    assert _story(await read_events(of_task=task.id))[2:] == [("released", "pending")]


async def test_a_job_with_failures_only_tells_nothing_of_success(queue, job, read_events):
    task = await running(queue, job)
    await queue.complete_task(task.held)
    assert await read_events(of_task=task.id) == []


@pytest.mark.parametrize("name", ["job", "full"])
async def test_every_job_tells_of_failures(queue, clock, request, name, read_events):
    job = {"job": "@global:tests:Work", "full": FULL}[name]
    await queue.register_job(*job.split(":"), max_attempts=2, events="full" if name == "full" else None)
    submitted = (await queue.submit_task(job)).task_id
    await queue.fail_task(await claim(queue, job), "first")
    await clock.advance(minutes=1)
    await queue.fail_task(await claim(queue, job), "second")
    told = [(event.kind, event.message) for event in await read_events(of_task=submitted) if event.message]
    assert told == [("retrying", "first"), ("failed", "second")]


async def test_an_event_names_everything_it_is_about(queue, job, worker, read_events):
    submitted = (await queue.submit_task(job, room="lab")).task_id
    held = (await queue.claim_tasks(worker.id))[0]
    await queue.fail_task(held, "broken", retryable=False)
    (event,) = await read_events(of_task=submitted)
    assert (event.task_id, event.job, event.room, event.worker_id) == (submitted, job, "lab", worker.id)
    assert event.at == (await queue.get_task(submitted)).ended_at


async def test_a_message_is_bounded(queue, job, read_events):
    task = await running(queue, job)
    await queue.fail_task(task.held, "x" * 5000, retryable=False)
    (event,) = await read_events(of_task=task.id)
    assert event.message == "x" * 500


async def test_a_lapsed_lease_and_a_lost_worker_are_told(queue, clock, job, worker, read_events):
    lapsed = await running(queue, job)
    lost = (await queue.submit_task(job)).task_id
    await queue.claim_tasks(worker.id)
    await clock.advance(seconds=61)
    await queue.sweep()
    assert [event.message for event in await read_events(of_task=lapsed.id)] == ["lease_expired"]
    assert [event.message for event in await read_events(of_task=lost)] == ["Worker disconnected"]


@pytest.mark.parametrize(("stage", "verb", "kind", "status"), OPERATIONS)
async def test_what_an_operator_does_is_recorded_with_who_and_why(
    queue, job, *, stage, verb, kind, status, read_events
):
    task = await STAGES[stage](queue, job)
    before = len(await read_events(of_task=task.id))
    await getattr(queue, verb)(task.id, actor="operator", reason="asked by ada")
    events = (await read_events(of_task=task.id))[before:]
    assert [(event.kind, event.status, event.actor, event.message) for event in events] == [
        (kind, status, "operator", "asked by ada")
    ]


@pytest.mark.parametrize(("verb", "kind"), JOB_OPERATIONS)
async def test_what_an_operator_does_to_a_job_is_recorded(queue, job, verb, kind, read_events):
    await getattr(queue, verb)(job, actor="operator", reason="asked by ada")
    event = (await read_events(of_job=job))[-1]
    assert (event.kind, event.actor, event.message) == (kind, "operator", "asked by ada")
    assert (event.task_id, event.job, event.room) == (None, job, "@global")


async def test_reasons_lose_their_credentials(queue, job, read_events):
    task = await STAGES["failed"](queue, job)
    await queue.retry_task(task.id, actor="operator", reason="see https://ada:secret@example.org/")
    assert (await read_events(of_task=task.id))[-1].message == "see https://example.org/"


async def test_a_reader_goes_on_from_its_cursor(queue, full, read_events):
    first = await STAGES["completed"](queue, full)
    seen = await read_events()
    assert await read_events(seen[-1].cursor) == []
    second = await STAGES["completed"](queue, full)
    fresh = await read_events(seen[-1].cursor)
    assert {event.task_id for event in seen} >= {first.id}
    assert {event.task_id for event in fresh} == {second.id}
    assert len(fresh) == 4


@pytest.mark.parametrize("page_size", [1, 3, 7])
async def test_pages_of_events_have_no_gaps_and_no_doubles(queue, full, page_size, read_events):
    for _ in range(5):
        await STAGES["completed"](queue, full)
    everything = await read_events()
    paged, cursor = [], None
    while page := await queue.list_events(cursor, page_size=page_size):
        assert len(page) <= page_size
        paged += page
        cursor = page[-1].cursor
    assert len(everything) >= 20
    # A cursor also says when it was read.
    assert [replace(event, cursor="") for event in paged] == [
        replace(event, cursor="") for event in everything
    ]
    assert [event.at for event in paged] == sorted(event.at for event in paged)


async def test_the_last_events_of_a_task_come_first_and_earlier_ones_before_them(queue, full, read_events):
    task = await STAGES["completed"](queue, full)
    await STAGES["completed"](queue, full)
    everything = await queue.list_task_events(task.id)
    told = [(event.kind, event.at, event.fields) for event in everything]
    assert told == [(event.kind, event.at, event.fields) for event in await read_events(of_task=task.id)]
    last = await queue.list_task_events(task.id, page_size=2)
    assert last == everything[-2:]
    assert await queue.list_task_events(task.id, before=last[0].seq, page_size=2) == everything[:2]
    assert await queue.list_task_events(task.id, before=everything[0].seq) == []
    with pytest.raises(InvalidArgument):
        await queue.list_task_events(task.id, page_size=501)


async def test_every_event_of_a_batch_has_a_cursor_of_its_own(queue, full, read_events):
    await queue.submit_tasks(full, [{}] * 20)
    events = [event for event in await read_events(of_job=full) if event.kind == "submitted"]
    assert len({event.cursor for event in events}) == 20
    rest = await read_events(events[9].cursor, of_job=full)
    assert [event.task_id for event in rest] == [event.task_id for event in events[10:]]


async def test_events_are_filtered_by_task_job_and_room(queue, full, read_events):
    await queue.register_job("lab", "tests", "Private", events="full")
    private = (await queue.submit_task("lab:tests:Private")).task_id
    shared = (await queue.submit_task(full, room="lab")).task_id
    other = (await queue.submit_task(full)).task_id

    async def told(**wish):
        return {event.task_id for event in await read_events(**wish) if event.task_id}

    assert await told(of_room="lab") == {private, shared}
    assert await told(of_job=full) == {shared, other}
    assert await told(of_job=full, of_room="lab") == {shared}
    assert await told(of_task=other) == {other}
    assert await told(of_task=999_999) == set()
    assert await told(of_room="nowhere") == set()


@pytest.mark.parametrize(
    "cursor", ["", "x", "1", "-", "1-", "-1", "1-2-3", "1 - 2", "9" * 30, "1-" + "9" * 30, "'"]
)
async def test_a_malformed_cursor_is_refused(queue, cursor):
    with pytest.raises(InvalidArgument):
        await queue.list_events(cursor)


async def test_events_of_an_unknown_job_cannot_be_read(queue):
    with pytest.raises(JobNotFound):
        await queue.list_events(of_job="@global:tests:Nothing")


async def test_events_are_kept_for_a_week(queue, clock, job, read_events):
    old = await STAGES["failed"](queue, job)
    await clock.advance(days=6)
    await queue.sweep()
    assert [event.kind for event in await read_events(of_task=old.id)] == ["failed"]
    await clock.advance(days=2)
    fresh = await STAGES["failed"](queue, job)
    swept = await queue.sweep("retention")
    assert [item.error for item in swept] == [None]
    assert await read_events(of_task=old.id) == []
    assert [event.kind for event in await read_events(of_task=fresh.id)] == ["failed"]


async def test_switching_to_full_events_counts_from_then_on(queue, job, read_events):
    before = (await queue.submit_task(job)).task_id
    await queue.register_job(*job.split(":"), events="full")
    after = (await queue.submit_task(job)).task_id
    await claim(queue, job, lease=MINUTE)
    assert _story(await read_events(of_task=before)) == [("claimed", "claimed")]
    assert _story(await read_events(of_task=after)) == [("submitted", "pending")]
