"""Jobs: registering, archiving, pausing, retiring."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.errors import (
    Forbidden,
    InvalidArgument,
    InvalidCategory,
    JobNotFound,
    JobUnavailable,
    SchemaConflict,
    TaskNotFound,
    WorkerNotFound,
)
from tests.conformance.stages import claim, pending

SCHEMA = {"type": "object", "properties": {"angle": {"type": "number"}}}
NAMES = [
    "Rotate",
    "a:b",
    "a:b:c",
    "::",
    "a/b",
    "../../etc",
    "with space",
    "žluť 馬",
    "'; drop",
    "%s",
    "x" * 200,
    "7",
]


async def test_a_new_job_is_created(queue):
    registered = await queue.register_job("lab", "modifiers", "Rotate", schema=SCHEMA)
    job = await queue.get_job("lab:modifiers:Rotate")
    assert (registered.registered, registered.job_id, registered.linked_worker_id) == (
        "created",
        job.id,
        None,
    )
    assert (job.room, job.category, job.name) == ("lab", "modifiers", "Rotate")
    assert (job.schema, job.max_attempts, job.events, job.workers) == (SCHEMA, 1, "failures", [])
    assert (job.paused_at, job.archived_at, job.deleted_at) == (None, None, None)


async def test_registering_again_changes_nothing(queue, nothing_changes):
    first = await queue.register_job("lab", "modifiers", "Rotate", schema=SCHEMA)
    async with nothing_changes():
        again = await queue.register_job("lab", "modifiers", "Rotate", schema=dict(reversed(SCHEMA.items())))
    assert (again.registered, again.job_id) == ("unchanged", first.job_id)


@pytest.mark.parametrize("schema", [{"type": "array"}, {}, None, SCHEMA | {"title": "x"}], ids=repr)
async def test_another_schema_is_a_conflict(queue, schema, nothing_changes):
    await queue.register_job("lab", "modifiers", "Rotate", schema=SCHEMA)
    async with nothing_changes():
        with pytest.raises(SchemaConflict, match="lab:modifiers:Rotate"):
            await queue.register_job("lab", "modifiers", "Rotate", schema=schema, max_attempts=5)


async def test_a_schema_is_replaced_on_request(queue):
    await queue.register_job("lab", "modifiers", "Rotate", schema=SCHEMA)
    again = await queue.register_job(
        "lab", "modifiers", "Rotate", schema={"type": "array"}, replace_schema=True
    )
    assert again.registered == "unchanged"
    assert (await queue.get_job("lab:modifiers:Rotate")).schema == {"type": "array"}


async def test_a_retired_job_comes_back_with_the_new_schema(queue):
    first = await queue.register_job("lab", "modifiers", "Rotate", schema=SCHEMA)
    await queue.retire_job("lab:modifiers:Rotate")
    again = await queue.register_job("lab", "modifiers", "Rotate", schema={"type": "array"})
    assert (again.registered, again.job_id) == ("reactivated", first.job_id)
    job = await queue.get_job("lab:modifiers:Rotate")
    assert (job.schema, job.deleted_at) == ({"type": "array"}, None)
    assert (await queue.submit_task("lab:modifiers:Rotate")).is_new


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_attempts", 7),
        ("backoff_base", timedelta(seconds=3)),
        ("backoff_cap", timedelta(seconds=90)),
        ("jitter_share", 0.5),
        ("jitter_cap", timedelta(seconds=9)),
        ("max_age", timedelta(days=3)),
        ("events", "full"),
        ("retain_completed", timedelta(days=2)),
        ("retain_failed", timedelta(0)),
    ],
)
async def test_an_option_is_kept_until_it_is_given_again(queue, option, value):
    await queue.register_job("lab", "modifiers", "Rotate", **{option: value})
    assert getattr(await queue.get_job("lab:modifiers:Rotate"), option) == value
    await queue.register_job("lab", "modifiers", "Rotate")
    assert getattr(await queue.get_job("lab:modifiers:Rotate"), option) == value


@pytest.mark.parametrize(
    "option",
    [
        {"max_attempts": 0},
        {"max_attempts": -1},
        {"max_attempts": 10_001},
        {"backoff_base": timedelta(seconds=-1)},
        {"backoff_cap": timedelta(seconds=-1)},
        {"backoff_base": timedelta(seconds=10), "backoff_cap": timedelta(seconds=5)},
        {"jitter_share": -0.1},
        {"jitter_share": 1.1},
        {"jitter_cap": timedelta(seconds=-1)},
        {"max_age": timedelta(seconds=-1)},
        {"retain_completed": timedelta(seconds=-1)},
        {"retain_failed": timedelta(seconds=-1)},
        {"events": "some"},
        {"schema": {"text": "x" * 65_536}},
    ],
    ids=lambda option: str(option)[:40],
)
async def test_an_option_that_cannot_be_is_refused(queue, option, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.register_job("lab", "modifiers", "Rotate", **option)


@pytest.mark.parametrize(("depth", "is_fine"), [(32, True), (33, False)])
async def test_a_schema_is_not_too_deep(queue, depth, is_fine):
    schema: Any = 1
    for _ in range(depth):
        schema = {"items": schema}
    if is_fine:
        assert (await queue.register_job("lab", "modifiers", "Rotate", schema=schema)).registered == "created"
    else:
        with pytest.raises(InvalidArgument):
            await queue.register_job("lab", "modifiers", "Rotate", schema=schema)


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_may_be_almost_anything(queue, name):
    await queue.register_job("lab", "modifiers", name)
    job = await queue.get_job(f"lab:modifiers:{name}")
    assert (job.name, job.full_name) == (name, f"lab:modifiers:{name}")
    submitted = await queue.submit_task(job.full_name)
    assert (await claim(queue, job.full_name)).job == job.full_name
    assert [task.id for task in await queue.list_tasks(job=job.full_name)] == [submitted.task_id]


@pytest.mark.parametrize("name", ["", "x" * 201])
async def test_a_name_is_neither_empty_nor_long(queue, name, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidArgument):
            await queue.register_job("lab", "modifiers", name)


@pytest.mark.parametrize("category", ["", "a:b", ":", "x" * 201])
async def test_a_category_has_no_colon_and_is_neither_empty_nor_long(queue, category, nothing_changes):
    async with nothing_changes():
        with pytest.raises(InvalidCategory):
            await queue.register_job("lab", category, "Rotate")


async def test_names_that_differ_in_case_are_different_jobs(queue):
    first = await queue.register_job("lab", "modifiers", "rotate")
    second = await queue.register_job("lab", "modifiers", "Rotate")
    assert first.job_id != second.job_id


@pytest.mark.parametrize(
    "form",
    [
        "Rotate",
        "lab:Rotate",
        "lab:modifiers:",
        ":a:b",
        "a::b",
        "",
        " ",
        "6a2f41a3-c54c-4a5c-9f0e-9d1f5f1b3f6d",
        "0",
    ],
)
async def test_what_is_no_name_of_a_job_is_not_found(queue, form):
    with pytest.raises(JobNotFound):
        await queue.get_job(form)


@pytest.mark.parametrize("verb", ["archive_job", "unarchive_job", "pause_job", "resume_job", "retire_job"])
async def test_nothing_is_done_to_a_job_that_does_not_exist(queue, verb, nothing_changes):
    async with nothing_changes():
        with pytest.raises(JobNotFound, match="lab:modifiers:Rotate"):
            await getattr(queue, verb)("lab:modifiers:Rotate")


@pytest.mark.parametrize("room", ["@global", "@internal"])
async def test_only_superusers_register_for_everybody(queue, room, nothing_changes):
    async with nothing_changes():
        with pytest.raises(Forbidden):
            await queue.register_job(room, "modifiers", "Rotate", actor="ada")
    await queue.register_job(room, "modifiers", "Rotate", actor="root", is_superuser=True)
    assert (await queue.register_job("lab", "modifiers", "Rotate", actor="ada")).registered == "created"


async def test_a_job_is_linked_to_the_worker_that_registers_it(queue):
    worker = await queue.register_worker(actor="ada")
    for _ in range(2):
        registered = await queue.register_job("lab", "modifiers", "Rotate", worker_id=worker.id, actor="ada")
        assert registered.linked_worker_id == worker.id
    assert (await queue.get_job("lab:modifiers:Rotate")).workers == [worker.id]


async def test_a_worker_is_created_with_the_job_on_request(queue):
    registered = await queue.register_job("lab", "modifiers", "Rotate", create_worker=True, actor="ada")
    (worker,) = await queue.list_workers()
    assert (worker.id, worker.owner, worker.job_count) == (registered.linked_worker_id, "ada", 1)


@pytest.mark.parametrize("whose", ["nobody's", "bob's"])
async def test_a_job_is_not_linked_to_the_worker_of_somebody_else(queue, whose, nothing_changes):
    worker_id = uuid4() if whose == "nobody's" else (await queue.register_worker(actor="bob")).id
    async with nothing_changes():
        with pytest.raises(WorkerNotFound):
            await queue.register_job("lab", "modifiers", "Rotate", worker_id=worker_id, actor="ada")


async def test_ten_first_registrations_at_once_make_one_job(queue):
    registered = await asyncio.gather(*(queue.register_job("lab", "modifiers", "Rotate") for _ in range(10)))
    assert len({item.job_id for item in registered}) == 1
    assert sorted(item.registered for item in registered) == ["created"] + ["unchanged"] * 9


@pytest.mark.parametrize(
    ("verb", "back", "mark"),
    [("pause_job", "resume_job", "paused_at"), ("archive_job", "unarchive_job", "archived_at")],
)
async def test_a_job_remembers_since_when_it_is_paused_or_archived(queue, clock, job, *, verb, back, mark):
    first = getattr(await getattr(queue, verb)(job), mark)
    await clock.advance(seconds=5)
    assert first is not None
    assert getattr(await getattr(queue, verb)(job), mark) == first
    assert getattr(await getattr(queue, back)(job), mark) is None
    assert getattr(await getattr(queue, back)(job), mark) is None


async def test_an_archived_job_keeps_its_history(queue, job):
    task = await pending(queue, job)
    await queue.complete_task(await claim(queue, job), "done")
    await queue.archive_job(job)
    assert (await queue.get_task(task.id)).result == "done"
    assert [shown.id for shown in await queue.list_tasks(job=job)] == [task.id]


async def test_a_retired_job_can_still_be_looked_at(queue, job):
    retired = await queue.retire_job(job)
    assert retired.deleted_at is not None
    assert await queue.get_job(job) == retired


@pytest.mark.parametrize("use", ["worker", "pending", "scheduled", "internal"])
async def test_a_job_in_use_cannot_be_retired(queue, job, use, nothing_changes):
    name = job
    if use == "worker":
        await queue.register_worker(jobs=[job])
    elif use == "internal":
        name = "@internal:tests:Secret"
        await queue.register_job(*name.split(":"))
    else:
        await queue.submit_task(job, delay=timedelta(hours=1) if use == "scheduled" else None)
    async with nothing_changes():
        with pytest.raises(JobUnavailable):
            await queue.retire_job(name)


async def test_a_retired_job_yields_nothing_until_it_is_back(queue, job):
    task = await pending(queue, job)
    await queue.cancel_task(task.id)
    await queue.retire_job(job)
    await queue.retry_task(task.id)
    wish = {"holder": "me", "lease": timedelta(minutes=1), "in_room": "@global"}
    assert await queue.claim_tasks(**wish) == []
    await queue.register_job(*job.split(":"))
    assert [lease.task_id for lease in await queue.claim_tasks(**wish)] == [task.id]


async def test_a_job_to_keep_stays_when_its_last_worker_leaves(queue):
    kept = await queue.register_job("lab", "exports", "weekly", keep=True)
    await queue.register_job("lab", "exports", "daily")
    worker = await queue.register_worker(jobs=["lab:exports:weekly", "lab:exports:daily"])
    assert (await queue.retire_worker(worker.id)).retired_jobs == 1
    assert [job.full_name for job in await queue.list_jobs("lab")] == ["lab:exports:weekly"]
    stays = await queue.get_job("lab:exports:weekly")
    assert (stays.id, stays.keep, stays.workers, stays.deleted_at) == (kept.job_id, True, [], None)
    assert (await queue.submit_task("lab:exports:weekly")).task_id


async def test_registering_again_keeps_what_was_said_about_keeping(queue):
    for said, meant in ((None, False), (True, True), (None, True), (False, False)):
        await queue.register_job("lab", "exports", "weekly", keep=said)
        assert (await queue.get_job("lab:exports:weekly")).keep is meant


async def test_a_job_to_keep_can_be_retired_by_name(queue):
    await queue.register_job("lab", "exports", "weekly", keep=True)
    assert (await queue.retire_job("lab:exports:weekly")).deleted_at is not None
    assert await queue.list_jobs("lab") == []


async def test_deleting_a_job_takes_its_tasks_and_their_history_along(queue, job, read_events):
    waiting = await queue.submit_task(job, idempotency_key="k")
    await queue.submit_task(job, delay=timedelta(hours=1))
    running = await claim(queue, job, start=True)
    await queue.ignore_task((await queue.submit_task(job)).task_id)
    await queue.register_worker("w", jobs=[job])
    await queue.register_job("lab", "tests", "Kept")
    kept = await queue.submit_task("lab:tests:Kept")
    assert await queue.delete_job(job, actor="ada", reason="gone", batch=2) == 3
    with pytest.raises(JobNotFound):
        await queue.get_job(job)
    for lost in (queue.get_task(waiting.task_id), queue.complete_task(running)):
        with pytest.raises(TaskNotFound):
            await lost
    assert (await queue.get_task(kept.task_id)).status == "pending"
    deleted = [event for event in await read_events() if event.kind == "job_deleted"]
    assert [(event.actor, event.message, event.fields["job"]) for event in deleted] == [("ada", "gone", job)]
    assert (await queue.register_job(*job.split(":"))).registered == "created"
    assert (await queue.submit_task(job, idempotency_key="k")).is_new


async def test_an_internal_job_is_not_deleted(queue, nothing_changes):
    await queue.register_job("@internal", "tests", "Work")
    async with nothing_changes():
        with pytest.raises(JobUnavailable):
            await queue.delete_job("@internal:tests:Work")
