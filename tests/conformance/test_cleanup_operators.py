"""Cleanup tasks as operators see and steer them."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from pgjobs.errors import InvalidArgument, InvalidTransition, TaskNotFound
from tests.conformance.runs import (
    NOWHERE,
    RUNS,
    WEEK,
    cleanup_of,
    fail,
    failed_run,
    finish,
    register_runs,
)

pytestmark = pytest.mark.postgres_only

HOUR = timedelta(hours=1)


async def test_retry_now_starts_over_from_wherever_it_waits(queue, clock):
    run = await cleanup_of(queue, clock)
    for step in ("retrying", "due again", "blocked", "ignored", "abandoned", "queued"):
        if step in ("retrying", "due again"):
            await fail(queue)
        elif step == "blocked":
            await fail(queue, "auth")
        elif step == "ignored":
            await queue.ignore_cleanup(run)
        elif step == "abandoned":
            (lease,) = await queue.claim_cleanups("cleaner")
            await queue.fail_task(lease.held, "for good", retryable=False)
        if step == "due again":
            await clock.advance(HOUR)
            await queue.sweep("scheduled")
        task = await queue.retry_cleanup(run, actor="ada", reason="fixed the disk")
        assert (task.status, task.attempts, task.last_error, task.last_error_kind) == (
            "queued",
            0,
            None,
            None,
        )
        assert task.next_attempt_at is not None
        events = await queue.list_cleanup_events(run)
        assert (events[-1].kind, events[-1].message) == ("retry_now", "fixed the disk")
        assert events[-1].fields_json == {"by": "ada"}
    await finish(queue)


async def test_what_runs_or_is_done_is_not_retried_or_ignored(queue, clock):
    run = await cleanup_of(queue, clock)
    (lease,) = await queue.claim_cleanups("cleaner")
    for status in ("running", "done"):
        assert (await queue.get_cleanup(run)).status == status
        before = await queue.list_cleanup_events(run)
        for act in (queue.retry_cleanup, queue.ignore_cleanup, queue.unignore_cleanup):
            with pytest.raises(InvalidTransition, match=status):
                await act(run, actor="ada")
        assert await queue.list_cleanup_events(run) == before
        if status == "running":
            await queue.complete_task(lease.held, {"outcome": "deleted"})


async def test_ignored_means_left_alone_until_unignored(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    task = await queue.ignore_cleanup(run, actor="ada", reason="the disk is gone")
    assert (task.status, task.ignored_by_user_id, task.ignore_reason) == (
        "ignored",
        "ada",
        "the disk is gone",
    )
    assert task.ignored_at is not None
    await clock.advance(days=2)
    assert await queue.claim_cleanups("cleaner") == []
    with pytest.raises(InvalidTransition, match="ignored"):
        await queue.ignore_cleanup(run)
    task = await queue.unignore_cleanup(run, actor="bob")
    assert (task.status, task.attempts, task.ignored_at, task.ignore_reason) == ("queued", 0, None, None)
    assert (await queue.list_cleanup_events(run))[-1].fields_json == {"by": "bob"}
    with pytest.raises(InvalidTransition, match="queued"):
        await queue.unignore_cleanup(run)
    await finish(queue)


async def test_a_reason_has_at_most_200_characters_and_no_secret(queue, clock):
    run = await cleanup_of(queue, clock)
    with pytest.raises(InvalidArgument):
        await queue.ignore_cleanup(run, reason="x" * 201)
    assert (await queue.get_cleanup(run)).status == "queued"
    task = await queue.ignore_cleanup(run, reason="see https://user:secret@host/?token=1")
    assert task.ignore_reason == "see https://host/"


async def test_a_run_without_a_task_is_unknown(queue, clock):
    await cleanup_of(queue, clock)
    other = await failed_run(queue)
    for run in (other, uuid4()):
        for call in (
            queue.get_cleanup,
            queue.list_cleanup_events,
            queue.retry_cleanup,
            queue.ignore_cleanup,
            queue.unignore_cleanup,
        ):
            with pytest.raises(TaskNotFound):
                await call(run)


async def test_events_are_numbered_from_one_and_outlive_their_usual_time(queue, clock):
    run = await cleanup_of(queue, clock)
    await fail(queue)
    await clock.advance(HOUR)
    await fail(queue, "auth", "401")
    await queue.ignore_cleanup(run, actor="ada")
    await clock.advance(days=20)
    await queue.sweep("retention")
    await queue.unignore_cleanup(run, actor="ada")
    await finish(queue, "skip_not_found")
    events = await queue.list_cleanup_events(run)
    assert [(event.seq, event.kind, event.level) for event in events] == [
        (1, "attempt", "info"),
        (2, "failed", "warn"),
        (3, "attempt", "info"),
        (4, "blocked", "error"),
        (5, "ignored", "info"),
        (6, "unignored", "info"),
        (7, "attempt", "info"),
        (8, "skip_not_found", "info"),
    ]
    assert events == sorted(events, key=lambda event: event.ts)
    assert (events[1].message, events[1].fields_json["error_kind"]) == ("no route", "network")
    assert events[4].fields_json == {"by": "ada"}


async def test_lists_are_filtered_and_the_next_due_comes_first(queue, clock):
    await register_runs(queue, NOWHERE)
    await register_runs(
        queue, {"type": "webdav", "base_url": "https://h/"}, "lab:backups:x", node_id="agent-7"
    )
    runs = [await failed_run(queue) for _ in range(3)]
    dav = await failed_run(queue, "lab:backups:x")
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    await fail(queue)
    await fail(queue, "auth")
    await queue.ignore_cleanup(runs[2])
    listed = await queue.list_cleanups()
    assert [task.run_id for task in listed] == [dav, runs[0], runs[1], runs[2]]
    assert [task.status for task in listed] == ["queued", "retrying", "blocked", "ignored"]
    for filters, expected in (
        ({"statuses": ["blocked", "ignored"]}, [runs[1], runs[2]]),
        ({"target_types": ["webdav"]}, [dav]),
        ({"of_node": "hub", "statuses": ["retrying"]}, [runs[0]]),
        ({"of_job": "lab:backups:x"}, [dav]),
        ({"of_job": str(listed[0].job_id)}, [dav]),
        ({"of_job": "no:such:job"}, []),
    ):
        assert [task.run_id for task in await queue.list_cleanups(**filters)] == expected
        assert await queue.count_cleanups(**filters) == len(expected)
        found = await queue.find_cleanups(**filters, page_size=1)
        assert ([task.run_id for task in found.tasks], found.total) == (expected[:1], len(expected))
    assert [t.run_id for t in await queue.list_cleanups(page_size=2, page_offset=1)] == runs[:2]
    with pytest.raises(InvalidArgument):
        await queue.list_cleanups(statuses=["lost"])


async def test_what_waits_for_nothing_comes_after_what_is_due_and_what_is_done_last(queue, clock):
    await register_runs(queue, NOWHERE)
    runs = [await failed_run(queue) for _ in range(7)]
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    done_first, done_second, *others = runs
    for _ in (done_first, done_second):
        await finish(queue)
    for ignored in others[:3]:
        await clock.advance(minutes=1)
        await queue.ignore_cleanup(ignored)
    expected = [*others[3:], *reversed(others[:3]), done_second, done_first]
    for filters in ({}, {"of_node": "hub"}):
        listed = [task.run_id for task in await queue.list_cleanups(**filters)]
        assert listed == expected
        for size in (1, 2, 3, 5):
            pages = [
                await queue.list_cleanups(**filters, page_size=size, page_offset=offset)
                for offset in range(0, len(expected) + size, size)
            ]
            assert [task.run_id for page in pages for task in page] == expected
        for offset in range(len(expected) + 2):
            assert (await queue.find_cleanups(**filters, page_size=2, page_offset=offset)).total == 7
        for statuses, total in ((["done"], 2), (["ignored", "done"], 5), (["queued"], 2), ([], 0)):
            assert (await queue.find_cleanups(**filters, statuses=statuses, page_size=1)).total == total
    done = await queue.list_cleanups(statuses=["done", "ignored"], page_size=3, page_offset=1)
    assert [task.run_id for task in done] == expected[3:6]


async def test_a_cleaner_of_a_node_gets_that_nodes_tasks(queue, clock):
    await register_runs(queue, NOWHERE, node_id="agent-7")
    run = await failed_run(queue)
    await clock.advance(WEEK)
    await queue.reconcile_cleanups()
    assert await queue.claim_cleanups("cleaner", node_id="hub") == []
    assert (await queue.await_cleanups(node_id="hub")).due_in is None
    assert (await queue.await_cleanups(node_id="agent-7")).due_in == timedelta(0)
    (lease,) = await queue.claim_cleanups("cleaner", node_id="agent-7")
    assert (lease.run_id, lease.job, lease.node, lease.target) == (run, RUNS, "agent-7", NOWHERE)


async def test_for_once_runs_may_be_cleaned_up_after_sooner(queue, clock, home):
    await register_runs(queue)
    await failed_run(queue)
    await clock.advance(HOUR)
    assert await queue.reconcile_cleanups(after=HOUR + timedelta(seconds=1)) == 0
    with pytest.raises(InvalidArgument):
        await queue.reconcile_cleanups(after=-HOUR)
    await home.execute("update {settings} set cleanup_after = {zero}")
    try:
        assert await queue.reconcile_cleanups(after=timedelta(), of_job="lab:backups:Another") == 0
        assert await queue.reconcile_cleanups(after=timedelta(), of_job=RUNS) == 1
    finally:
        await home.execute("update {settings} set cleanup_after = {week}")


async def test_zero_switches_cleaning_up_off(queue, clock, home):
    await register_runs(queue)
    await failed_run(queue)
    await clock.advance(WEEK)
    await home.execute("update {settings} set cleanup_after = {zero}")
    try:
        assert await queue.reconcile_cleanups() == 0
    finally:
        await home.execute("update {settings} set cleanup_after = {week}")
    assert await queue.reconcile_cleanups() == 1
