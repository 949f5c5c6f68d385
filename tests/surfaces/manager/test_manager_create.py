"""Creating, finding and pruning jobs."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from pgjobs.errors import (
    InvalidArgument,
    JobNotFound,
    JobUnavailable,
    PayloadInvalid,
    PgJobsError,
    TaskNotFound,
)

COLUMNS = [
    "id",
    "uuid",
    "domain",
    "queue",
    "job_type",
    "owner_user_id",
    "project_id",
    "idempotency_key",
    "payload",
    "result",
    "status",
    "priority",
    "max_retries",
    "retry_count",
    "available_at",
    "leased_until",
    "lease_id",
    "worker_id",
    "acquired_at",
    "error_message",
    "last_error",
    "cancel_requested_at",
    "cancelled_at",
    "cancellation_reason",
    "created_at",
    "updated_at",
    "completed_at",
]


async def test_a_created_job_is_a_row_with_the_known_columns(manager):
    job = await manager.create_job("chatbooks", "default", "export", {"name": "weekly"}, "ann", 7)
    assert list(job) == COLUMNS
    assert isinstance(job["id"], int)
    assert isinstance(job["uuid"], UUID)
    shown = {
        name: job[name] for name in ("domain", "queue", "job_type", "payload", "owner_user_id", "project_id")
    }
    assert shown == {
        "domain": "chatbooks",
        "queue": "default",
        "job_type": "export",
        "payload": {"name": "weekly"},
        "owner_user_id": "ann",
        "project_id": 7,
    }
    assert (job["status"], job["priority"], job["max_retries"], job["retry_count"]) == ("queued", 5, 3, 0)
    assert job["available_at"] == job["created_at"] == job["updated_at"]
    with pytest.raises(KeyError):
        job["no such column"]


async def test_the_first_use_of_a_type_registers_its_job(manager, home):
    await asyncio.gather(*(manager.create_job("chatbooks", "default", "export", {}) for _ in range(20)))
    [job] = await home.queue.list_jobs(room="chatbooks")
    assert job.full_name == "chatbooks:default:export"
    assert len(await manager.list_jobs("chatbooks")) == 20


async def test_a_registered_job_keeps_its_schema_and_policy(manager, home):
    schema = {"type": "object"}
    await home.queue.register_job("chatbooks", "default", "export", schema=schema, max_attempts=9)
    await manager.create_job("chatbooks", "default", "export", {})
    job = await home.queue.get_job("chatbooks:default:export")
    assert (job.schema, job.max_attempts) == (schema, 9)


async def test_fifty_concurrent_creates_with_one_key_give_one_row(open_manager):
    managers = [open_manager() for _ in range(5)]
    jobs = await asyncio.gather(
        *(
            m.create_job("chatbooks", "default", "export", {"n": n}, idempotency_key="k")
            for n in range(10)
            for m in managers
        )
    )
    assert len(jobs) == 50
    assert len({job["id"] for job in jobs}) == 1
    assert len({job["payload"]["n"] for job in jobs}) == 1
    assert len(await managers[0].list_jobs()) == 1


async def test_a_key_belongs_to_one_domain_queue_and_type(manager):
    address = [("a", "q", "t"), ("b", "q", "t"), ("a", "r", "t"), ("a", "q", "u")]
    jobs = [await manager.create_job(*where, {}, idempotency_key="k") for where in address]
    assert len({job["id"] for job in jobs}) == 4


async def test_a_key_finds_its_job_also_after_it_finished(manager):
    job = await manager.create_job("chatbooks", "default", "export", {}, idempotency_key="k")
    held = await manager.acquire_next_job("chatbooks", "default", 60, "w")
    await manager.complete_job(held["id"], "w", held["lease_id"], {"path": "/a"})
    again = await manager.create_job("chatbooks", "default", "export", {"other": True}, idempotency_key="k")
    assert (again["id"], again["status"], again["result"], again["payload"]) == (
        job["id"],
        "completed",
        {"path": "/a"},
        {},
    )


async def test_a_scheduled_job_is_invisible_until_its_time(manager, clock):
    at = clock.now() + timedelta(minutes=5)
    job = await manager.schedule_job("chatbooks", "default", "export", {}, "ann", available_at=at, priority=1)
    assert (job["status"], job["available_at"]) == ("queued", at)
    assert await manager.acquire_next_job("chatbooks", "default", 60, "w") is None
    await clock.advance(minutes=6)
    assert (await manager.acquire_next_job("chatbooks", "default", 60, "w"))["id"] == job["id"]


async def test_many_jobs_are_created_in_the_order_given(manager):
    known = await manager.create_job("chatbooks", "default", "export", {"n": 0}, idempotency_key="a")
    jobs = await manager.create_jobs(
        "chatbooks",
        "default",
        "export",
        [{"n": n} for n in range(1, 5)],
        idempotency_keys=[None, "a", "b", "b"],
    )
    assert [job["payload"]["n"] for job in jobs] == [1, 0, 3, 3]
    assert jobs[1]["id"] == known["id"]
    assert jobs[2]["id"] == jobs[3]["id"]


BAD_CREATES = {
    "priority above": ({"priority": 11}, InvalidArgument),
    "priority below": ({"priority": 0}, InvalidArgument),
    "negative retries": ({"max_retries": -1}, InvalidArgument),
    "too many retries": ({"max_retries": 10_000}, InvalidArgument),
    "empty key": ({"idempotency_key": ""}, InvalidArgument),
    "long key": ({"idempotency_key": "k" * 201}, InvalidArgument),
    "no time zone": ({"available_at": datetime(2030, 1, 1)}, InvalidArgument),
    "not JSON": ({"payload": {1, 2}}, PayloadInvalid),
    "NaN": ({"payload": {"n": float("nan")}}, PayloadInvalid),
    "NUL": ({"payload": {"s": "\0"}}, PayloadInvalid),
    "too deep": ({"payload": json.loads("[" * 70 + "]" * 70)}, PayloadInvalid),
    "domain": ({"domain": "a:b"}, PgJobsError),
    "no domain": ({"domain": ""}, PgJobsError),
    "queue": ({"queue": "a:b"}, PgJobsError),
    "type": ({"job_type": ""}, PgJobsError),
    "the server's domain": ({"domain": "@internal"}, JobNotFound),
    "everybody's domain": ({"domain": "@global"}, JobNotFound),
    "project": ({"project_id": "seven"}, InvalidArgument),
}


@pytest.mark.parametrize(("wrong", "problem"), BAD_CREATES.values(), ids=BAD_CREATES)
async def test_what_cannot_be_is_refused_and_leaves_nothing_behind(manager, home, wrong, problem):
    good = {"domain": "chatbooks", "queue": "default", "job_type": "export", "payload": {}}
    with pytest.raises(problem):
        await manager.create_job(**{**good, **wrong})
    assert await manager.list_jobs() == []
    assert await home.queue.list_jobs() == []


async def test_an_archived_type_refuses_new_jobs(manager, home):
    await manager.create_job("chatbooks", "default", "export", {})
    await home.queue.archive_job("chatbooks:default:export")
    with pytest.raises(JobUnavailable):
        await manager.create_job("chatbooks", "default", "export", {})
    assert await manager.acquire_next_job("chatbooks", "default", 60, "w") is None


async def test_a_job_is_found_by_number_and_by_uuid(manager):
    job = await manager.create_job("chatbooks", "default", "export", {"a": [1]})
    for known in (job["id"], job["uuid"], str(job["uuid"])):
        assert await manager.get_job(known) == job
    assert await manager.get_job_by_uuid(job["uuid"]) == job


@pytest.mark.parametrize(
    "unknown", [10**6, UUID(int=1), "6b4a7584-d4b5-8f40-afe4-68066e364212", "not a uuid", "17"]
)
async def test_an_unknown_job_is_not_found(manager, unknown):
    with pytest.raises(TaskNotFound):
        await manager.get_job(unknown)


async def test_a_job_of_somebody_else_is_not_found_by_whoever_names_an_owner(manager):
    job = await manager.create_job("chatbooks", "default", "export", {}, 17, 7)
    for known in (job["id"], job["uuid"], str(job["uuid"])):
        for mine in ({"owner_user_id": 17}, {"project_id": 7}, {"owner_user_id": "17", "project_id": 7}):
            assert await manager.get_job(known, **mine) == job
        for other in ({"owner_user_id": "bob"}, {"project_id": 8}, {"owner_user_id": "17", "project_id": 8}):
            with pytest.raises(TaskNotFound):
                await manager.get_job(known, **other)
    with pytest.raises(TaskNotFound):
        await manager.get_job_by_uuid(job["uuid"], owner_user_id="bob")


async def test_lists_fit_every_filter(manager):
    ids = {}
    for number, (domain, queue, job_type, owner, project) in enumerate(
        [
            ("a", "q", "t", "ann", 1),
            ("a", "q", "u", "bob", 1),
            ("a", "r", "t", "ann", 2),
            ("b", "q", "t", "ann", None),
        ]
    ):
        ids[number] = (await manager.create_job(domain, queue, job_type, {}, owner, project))["id"]
    held = await manager.acquire_next_job("a", "r", 60, "w")
    await manager.cancel_job(ids[3])

    async def found(**filters):
        numbers = {id_: number for number, id_ in ids.items()}
        return [numbers[job["id"]] for job in await manager.list_jobs(**filters)]

    assert held["id"] == ids[2]
    assert await found() == [3, 2, 1, 0]
    assert await found(domain="a") == [2, 1, 0]
    assert await found(domain="a", queue="q") == [1, 0]
    assert await found(domain="a", queue="q", job_type="u") == [1]
    assert await found(owner_user_id="ann") == [3, 2, 0]
    assert await found(project_id=1) == [1, 0]
    assert await found(status="queued") == [1, 0]
    assert await found(status="queued", owner_user_id="bob") == [1]
    assert await found(status="processing") == [2]
    assert await found(status="cancelled") == [3]
    assert await found(status="completed") == []
    assert await found(limit=2) == [3, 2]
    assert await found(limit=2, offset=1) == [2, 1]
    assert await found(before=ids[2]) == [1, 0]
    assert await found(domain="nowhere") == []
    with pytest.raises(InvalidArgument):
        await manager.list_jobs(status="pending")


async def test_pruning_tells_first_and_then_forgets_what_ended_long_ago(manager, clock):
    for job_type in ("export", "import"):
        await manager.create_job("chatbooks", "default", job_type, {})
        await manager.cancel_job((await manager.list_jobs())[0]["id"])
    waiting = await manager.create_job("chatbooks", "default", "export", {})
    elsewhere = await manager.create_job("other", "default", "export", {})
    await manager.cancel_job(elsewhere["id"])
    await clock.advance(days=10)
    day = timedelta(days=1)
    assert await manager.prune_jobs("chatbooks") == []
    assert await manager.prune_jobs("chatbooks", status="completed", older_than=day) == []
    assert len(await manager.prune_jobs("chatbooks", older_than=day, dry_run=True)) == 2
    assert len(await manager.prune_jobs("chatbooks", "default", "import", older_than=day, dry_run=True)) == 1
    assert len(await manager.list_jobs()) == 4
    assert len(await manager.prune_jobs("chatbooks", older_than=day)) == 2
    assert [job["id"] for job in await manager.list_jobs()] == [elsewhere["id"], waiting["id"]]


async def test_retention_is_thirty_days_for_completed_and_sixty_for_failed(manager, clock):
    for _ in range(2):
        await manager.create_job("chatbooks", "default", "export", {}, max_retries=0)
    done, failed = await manager.acquire_jobs("chatbooks", "default", 60, "w", 2)
    await manager.complete_job(done["id"], "w", done["lease_id"])
    await manager.fail_job(failed["id"], "w", failed["lease_id"], "no", retryable=False)
    await clock.advance(days=31)
    assert [pruned.task_id for pruned in await manager.prune_jobs()] == [done["id"]]
    await clock.advance(days=30)
    assert [pruned.task_id for pruned in await manager.prune_jobs()] == [failed["id"]]


EXPORT = ("chatbooks", "default", "export")


async def test_a_type_registered_by_its_first_use_stays_whoever_comes_and_goes(manager, home):
    job = await manager.create_job(*EXPORT, {}, "ada")
    await manager.cancel_job(job.id)
    worker = await home.queue.register_worker(jobs=[":".join(EXPORT)])
    await home.queue.retire_worker(worker.id)
    assert (await home.queue.get_job(":".join(EXPORT))).deleted_at is None
