"""Rooms and lists: what is seen from where, page by page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pgjobs.errors import InvalidArgument, InvalidRoom, JobNotFound
from tests.conformance.stages import MINUTE, STAGES, STATUS_OF, claim_all

BAD_ROOMS = ["", "@", "@lab", "lab@", "a@b", "@Global", "@@internal", "a:b", ":", "x" * 201]


@pytest.mark.parametrize("room", BAD_ROOMS, ids=lambda room: room[:10] or "empty")
async def test_a_malformed_room_has_no_jobs(queue, job, room, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidRoom):
            await queue.register_job(room, "tests", "Work")
        with pytest.raises(InvalidRoom):
            await queue.list_jobs(room)


@pytest.mark.parametrize("room", BAD_ROOMS, ids=lambda room: room[:10] or "empty")
async def test_a_malformed_room_submits_nothing(queue, job, room, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidRoom):
            await queue.submit_task(job, room=room)


@pytest.mark.parametrize("room", ["@global", "@internal", "lab", "a.b/c d", "žluť", "x" * 200, "1"])
async def test_a_well_formed_room_has_jobs_of_its_own(queue, room):
    await queue.register_job(room, "tests", "Work")
    assert (await queue.get_job(f"{room}:tests:Work")).room == room


@pytest.mark.parametrize(
    ("room", "seen"),
    [
        ("lab", ["@global", "@internal", "lab"]),
        ("office", ["@global", "@internal", "office"]),
        ("empty", ["@global", "@internal"]),
        ("@global", ["@global"]),
        ("@internal", ["@global", "@internal"]),
        (None, ["@global", "@internal", "lab", "office"]),
    ],
)
async def test_a_room_sees_its_own_jobs_and_those_for_everybody(queue, room, seen):
    for scope in ("office", "lab", "@internal", "@global"):
        await queue.register_job(scope, "tests", "Work")
    assert sorted(job.room for job in await queue.list_jobs(room)) == seen


async def test_jobs_are_listed_newest_first(queue):
    for number in range(3):
        await queue.register_job("lab", "tests", f"Job {number}")
    assert [job.name for job in await queue.list_jobs()] == ["Job 2", "Job 1", "Job 0"]


async def test_archived_jobs_are_listed_on_request_and_retired_ones_never(queue):
    for name in ("Open", "Archived", "Retired"):
        await queue.register_job("lab", "tests", name)
    await queue.archive_job("lab:tests:Archived")
    await queue.retire_job("lab:tests:Retired")
    assert [job.name for job in await queue.list_jobs("lab")] == ["Open"]
    assert [job.name for job in await queue.list_jobs("lab", include_archived=True)] == ["Archived", "Open"]


@pytest.mark.parametrize("stage", STAGES)
async def test_tasks_are_listed_by_status(queue, job, stage):
    task = await STAGES[stage](queue, job)
    for status in set(STATUS_OF.values()):
        listed = [shown.id for shown in await queue.list_tasks(status=status)]
        assert listed == ([task.id] if status == STATUS_OF[stage] else [])


@pytest.mark.parametrize("stage", STAGES)
async def test_a_list_and_a_single_look_agree(queue, job, stage):
    task = await STAGES[stage](queue, job)
    (listed,) = await queue.list_tasks()
    document = await queue.get_task(task.id)
    for name in listed.__dataclass_fields__:
        assert getattr(listed, name) == getattr(document, name), name


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({}, [4, 3, 2, 1, 0]),
        ({"room": "lab"}, [2, 0]),
        ({"room": "nowhere"}, []),
        ({"owner": "ada"}, [1, 0]),
        ({"project": "x"}, [3, 0]),
        ({"owner": "ada", "project": "x"}, [0]),
        ({"job": "@global:tests:Other"}, [4]),
        ({"job": "@global:tests:Work", "room": "@global"}, [3, 1]),
        ({"status": "cancelled"}, [1]),
        ({"status": "pending", "room": "lab", "job": "@global:tests:Work"}, [2, 0]),
    ],
    ids=str,
)
async def test_filters_narrow_a_list_together(queue, job, wish, expected):
    await queue.register_job("@global", "tests", "Other")
    ids = [
        (await queue.submit_task(job, room="lab", owner="ada", project="x")).task_id,
        (await queue.submit_task(job, owner="ada")).task_id,
        (await queue.submit_task(job, room="lab")).task_id,
        (await queue.submit_task(job, project="x")).task_id,
        (await queue.submit_task("@global:tests:Other")).task_id,
    ]
    await queue.cancel_task(ids[1])
    assert [task.id for task in await queue.list_tasks(**wish)] == [ids[place] for place in expected]


async def test_a_list_is_paged_without_gaps_or_doubles(queue, job):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{}] * 25)]
    assert [task.id for task in await queue.list_tasks(page_size=500)] == ids[::-1]
    by_offset, by_id, before = [], [], None
    for page in range(4):
        by_offset += [task.id for task in await queue.list_tasks(page_size=7, page_offset=7 * page)]
        tasks = await queue.list_tasks(page_size=7, before=before)
        by_id += [task.id for task in tasks]
        before = tasks[-1].id
    assert by_offset == by_id == ids[::-1]
    assert await queue.list_tasks(before=ids[0]) == []


@pytest.mark.postgres_only
async def test_a_cursor_pages_without_gaps_or_doubles(queue, job):
    ids = [item.task_id for item in await queue.submit_tasks(job, [{}] * 25)]
    found, cursor = [], None
    while page := await queue.list_tasks(page_size=7, cursor=cursor):
        found += [task.id for task in page]
        cursor = (await queue.next_cursor([task.id for task in page], cursor)).next
    assert found == ids[::-1]
    assert (await queue.next_cursor([], cursor)).next == cursor
    with pytest.raises(InvalidArgument):
        await queue.list_tasks(cursor="no cursor")


async def test_a_page_has_fifty_items_unless_asked_otherwise(queue, job):
    await queue.submit_tasks(job, [{}] * 60)
    assert len(await queue.list_tasks()) == 50
    assert len(await queue.list_tasks(page_size=60)) == 60
    assert await queue.list_tasks(page_size=0) == []


async def test_jobs_and_workers_are_paged_too(queue):
    for number in range(5):
        await queue.register_job("lab", "tests", f"Job {number}")
        await queue.register_worker(f"worker {number}")
    for listed in (queue.list_jobs, queue.list_workers):
        pages = [await listed(page_size=2, page_offset=offset) for offset in (0, 2, 4, 6)]
        assert [len(page) for page in pages] == [2, 2, 1, 0]
        assert [item.id for page in pages for item in page] == [item.id for item in await listed()]


@pytest.mark.parametrize(
    "page", [{"page_size": -1}, {"page_size": 501}, {"page_size": 10**9}, {"page_offset": -1}], ids=str
)
@pytest.mark.parametrize("verb", ["list_tasks", "list_jobs", "list_workers", "list_events"])
async def test_a_page_that_cannot_be_is_refused(queue, verb, page):
    if verb == "list_events" and "page_offset" in page:
        page = {"page_size": 502}
    with pytest.raises(InvalidArgument):
        await getattr(queue, verb)(**page)


@pytest.mark.parametrize("status", ["", "queued", "Pending", "due", "done", "x" * 1000])
async def test_an_unknown_status_is_refused(queue, status):
    with pytest.raises(InvalidArgument):
        await queue.list_tasks(status=status)


async def test_tasks_of_an_unknown_job_cannot_be_listed(queue):
    with pytest.raises(JobNotFound):
        await queue.list_tasks(job="@global:tests:Nothing")


async def test_progress_and_ends_show_in_lists(queue, job):
    await queue.submit_tasks(job, [{}] * 3)
    leases = await claim_all(queue, job, lease=MINUTE)
    await queue.report_progress(leases[:1], [{"done": 0.5}])
    await queue.complete_task(leases[1])
    await queue.fail_task(leases[2], "broken", retryable=False)
    third, second, first = await queue.list_tasks()
    assert (first.progress, first.until - first.claimed_at) == ({"done": 0.5}, MINUTE)
    assert (second.is_ended, second.error) == (True, None)
    assert (third.is_ended, third.error) == (True, "broken")
    assert third.ended_at - third.created_at < timedelta(minutes=1)
