"""Working on jobs: leases, retries, cancellation."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from pgjobs.contrib.manager import Completed, Failure, JobManager, ManagerSettings
from pgjobs.errors import InvalidArgument, InvalidTransition, LeaseLost, TaskNotFound

EXPORT = ("chatbooks", "default", "export")
QUEUE = ("chatbooks", "default")


async def acquired(manager, worker="w", lease_seconds=60):
    job = await manager.acquire_next_job(*QUEUE, lease_seconds, worker)
    assert job is not None
    return job


async def test_an_acquired_job_carries_its_lease(manager, clock):
    created = await manager.create_job(*EXPORT, {"a": 1})
    before = clock.now()
    job = await acquired(manager, "w1", 30)
    assert (job["id"], job["status"], job["worker_id"], job["payload"]) == (
        created["id"],
        "processing",
        "w1",
        {"a": 1},
    )
    assert job["lease_id"]
    assert before <= job["acquired_at"] <= clock.now()
    assert job["leased_until"] - job["acquired_at"] == timedelta(seconds=30)
    assert await manager.get_job(job["id"]) == job


async def test_a_job_is_acquired_once(open_manager):
    managers = [open_manager() for _ in range(4)]
    await managers[0].create_jobs(*EXPORT, [{} for _ in range(30)])
    taken = await asyncio.gather(
        *(m.acquire_next_job(*QUEUE, 60, f"w{n}") for n in range(10) for m in managers)
    )
    ids = [job["id"] for job in taken if job]
    assert len(ids) == len(set(ids)) == 30


async def test_jobs_come_by_priority_then_availability_then_number(manager, home, clock):
    late = await manager.schedule_job(*EXPORT, {}, available_at=clock.now() + timedelta(seconds=5))
    await clock.advance(seconds=10)
    await home.queue.sweep("scheduled")
    low = await manager.create_job(*EXPORT, {}, priority=9)
    first, second = await manager.create_jobs(*EXPORT, [{}, {}])
    other_type = await manager.create_job("chatbooks", "default", "import", {})
    urgent = await manager.create_job(*EXPORT, {}, priority=1)
    order = [(await acquired(manager))["id"] for _ in range(6)]
    assert order == [job["id"] for job in (urgent, late, first, second, other_type, low)]


async def test_only_the_domain_queue_owner_and_project_asked_for_is_acquired(manager):
    await manager.create_job("other", "default", "export", {})
    await manager.create_job("chatbooks", "slow", "export", {})
    ann = await manager.create_job(*EXPORT, {}, "ann", 1)
    bob = await manager.create_job(*EXPORT, {}, "bob", 2)
    assert await manager.acquire_next_job(*QUEUE, 60, "w", owner_user_id="eve") is None
    assert await manager.acquire_next_job(*QUEUE, 60, "w", owner_user_id="ann", project_id=2) is None
    assert (await manager.acquire_next_job(*QUEUE, 60, "w", owner_user_id="bob"))["id"] == bob["id"]
    assert (await manager.acquire_next_job(*QUEUE, 60, "w", project_id=1))["id"] == ann["id"]
    assert await manager.acquire_next_job(*QUEUE, 60, "w") is None


async def test_a_lease_is_capped_by_the_setting(open_manager):
    await open_manager().create_jobs(*EXPORT, [{}, {}])
    job = await acquired(open_manager(), lease_seconds=3600)
    assert job["leased_until"] - job["acquired_at"] == timedelta(seconds=60)
    job = await acquired(open_manager(max_lease_seconds=600), lease_seconds=3600)
    assert job["leased_until"] - job["acquired_at"] == timedelta(seconds=600)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "soon"])
async def test_an_impossible_lease_is_refused(manager, seconds):
    job = await manager.create_job(*EXPORT, {})
    with pytest.raises(InvalidArgument):
        await manager.acquire_next_job(*QUEUE, seconds, "w")
    assert (await manager.get_job(job["id"]))["status"] == "queued"


@pytest.mark.parametrize("worker", ["", "w" * 201])
async def test_a_worker_has_a_name(manager, worker):
    await manager.create_job(*EXPORT, {})
    with pytest.raises(InvalidArgument):
        await manager.acquire_next_job(*QUEUE, 60, worker)


async def test_renewing_extends_and_never_shortens(manager, clock):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    await clock.advance(seconds=30)
    renewed = await manager.renew_job_lease(job["id"], 60, "w", job["lease_id"])
    assert renewed["leased_until"] >= job["leased_until"] + timedelta(seconds=30)
    assert not renewed["cancel_requested"]
    again = await manager.renew_job_lease(job["id"], 1, "w", job["lease_id"])
    assert again["leased_until"] == renewed["leased_until"]
    far = await manager.renew_job_lease(job["id"], 10_000, "w", job["lease_id"])
    assert far["leased_until"] <= clock.now() + timedelta(seconds=60)


async def test_a_manager_renews_what_it_acquired_by_number_alone(open_manager, clock):
    manager, stranger = open_manager(), open_manager()
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    await clock.advance(seconds=50)
    assert (await manager.renew_job_lease(job["id"], seconds=60))["leased_until"] > job["leased_until"]
    with pytest.raises(InvalidArgument):
        await stranger.renew_job_lease(job["id"], seconds=60)
    await manager.complete_job(job["id"], "w", job["lease_id"])
    with pytest.raises(InvalidArgument):
        await manager.renew_job_lease(job["id"], seconds=60)


async def test_a_job_is_completed_with_its_result(manager):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    assert (
        await manager.complete_job(job["id"], worker_id="w", lease_id=job["lease_id"], result={"path": "/x"})
    )["status"] == "completed"
    done = await manager.get_job(job["id"])
    assert (done["status"], done["result"], done["worker_id"], done["lease_id"]) == (
        "completed",
        {"path": "/x"},
        "w",
        job["lease_id"],
    )
    assert done["completed_at"] >= done["acquired_at"]
    assert (done["leased_until"], done["error_message"], done["retry_count"]) == (None, None, 0)


async def test_completing_again_after_a_lost_reply_gets_the_same_answer(manager):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    first = await manager.complete_job(job["id"], "w", job["lease_id"], 1)
    assert await manager.complete_job(job["id"], "w", job["lease_id"], 2) == first
    assert (await manager.get_job(job["id"]))["result"] == 1


ACKNOWLEDGEMENTS = {
    "renew": lambda manager, job, worker, lease: manager.renew_job_lease(job, 60, worker, lease),
    "complete": lambda manager, job, worker, lease: manager.complete_job(
        job, worker, lease, {"stolen": True}
    ),
    "fail": lambda manager, job, worker, lease: manager.fail_job(job, worker, lease, "stolen"),
    "release": lambda manager, job, worker, lease: manager.release_job(job, worker, lease),
}


@pytest.mark.parametrize("acknowledge", ACKNOWLEDGEMENTS.values(), ids=ACKNOWLEDGEMENTS)
async def test_a_lease_that_is_not_current_changes_nothing(manager, clock, acknowledge):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager, "w1")
    for worker, lease in (
        ("w2", job["lease_id"]),
        ("w1", str(uuid4())),
        ("w1", "no uuid"),
        ("", job["lease_id"]),
    ):
        with pytest.raises(LeaseLost):
            await acknowledge(manager, job["id"], worker, lease)
        assert await manager.get_job(job["id"]) == job
    await clock.advance(seconds=61)
    with pytest.raises(LeaseLost):
        await acknowledge(manager, job["id"], "w1", job["lease_id"])
    assert await manager.get_job(job["id"]) == job
    with pytest.raises(TaskNotFound):
        await acknowledge(manager, 10**6, "w1", job["lease_id"])


@pytest.mark.parametrize("acknowledge", ACKNOWLEDGEMENTS.values(), ids=ACKNOWLEDGEMENTS)
async def test_somebody_elses_answer_is_not_given_again_to_another_worker(manager, acknowledge):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager, "w1")
    await manager.complete_job(job["id"], "w1", job["lease_id"])
    with pytest.raises(LeaseLost):
        await acknowledge(manager, job["id"], "w2", job["lease_id"])


async def test_a_failed_job_is_retried_later_with_growing_delay(manager, clock):
    await manager.create_job(*EXPORT, {}, max_retries=2)
    delays = []
    for retry in range(3):
        job = await acquired(manager)
        assert job["retry_count"] == retry
        outcome = await manager.fail_job(job["id"], "w", job["lease_id"], f"error {retry}", retryable=True)
        if outcome["status"] == "queued":
            waiting = await manager.get_job(job["id"])
            assert (waiting["status"], waiting["retry_count"]) == ("queued", retry + 1)
            assert waiting["error_message"] == waiting["last_error"] == f"error {retry}"
            assert waiting["available_at"] == outcome["available_at"]
            delays.append((outcome["available_at"] - waiting["updated_at"]).total_seconds())
            assert await manager.acquire_next_job(*QUEUE, 60, "w") is None
            await clock.advance(seconds=10)
    assert [1 <= delays[0] <= 1.25, 2 <= delays[1] <= 2.5] == [True, True]
    failed = await manager.get_job(job["id"])
    assert (outcome["status"], failed["status"], failed["retry_count"]) == ("failed", "failed", 2)
    assert failed["error_message"] == "error 2"
    assert await manager.acquire_next_job(*QUEUE, 60, "w") is None


async def test_no_retries_means_one_attempt(manager):
    await manager.create_job(*EXPORT, {}, max_retries=0)
    job = await acquired(manager)
    assert (await manager.fail_job(job["id"], "w", job["lease_id"], "no"))["status"] == "failed"


async def test_an_error_that_cannot_be_retried_fails_the_job_at_once(manager):
    await manager.create_job(*EXPORT, {}, max_retries=5)
    job = await acquired(manager)
    await manager.fail_job(job["id"], "w", job["lease_id"], "bad input", retryable=False)
    failed = await manager.get_job(job["id"])
    assert (failed["status"], failed["retry_count"], failed["last_error"]) == ("failed", 0, "bad input")


async def test_a_lapsed_lease_is_a_failed_attempt(manager, clock):
    await manager.create_job(*EXPORT, {}, max_retries=1)
    lost = await acquired(manager, "w1")
    await clock.advance(seconds=61)
    assert await manager.acquire_next_job(*QUEUE, 60, "w2") is None
    waiting = await manager.get_job(lost["id"])
    assert (waiting["status"], waiting["last_error"], waiting["retry_count"]) == (
        "queued",
        "lease_expired",
        1,
    )
    await clock.advance(seconds=5)
    job = await acquired(manager, "w2")
    assert (job["id"], job["retry_count"], job["last_error"]) == (lost["id"], 1, "lease_expired")
    assert job["lease_id"] != lost["lease_id"]
    with pytest.raises(LeaseLost):
        await manager.complete_job(lost["id"], "w1", lost["lease_id"], "too late")
    await manager.complete_job(job["id"], "w2", job["lease_id"], "in time")
    assert (await manager.get_job(job["id"]))["result"] == "in time"


async def test_a_released_job_is_queued_again_and_no_attempt_is_used(manager):
    await manager.create_job(*EXPORT, {}, max_retries=0)
    for _ in range(3):
        job = await acquired(manager)
        assert (await manager.release_job(job["id"], "w", job["lease_id"]))["status"] == "queued"
        assert (await manager.get_job(job["id"]))["retry_count"] == 0
    await acquired(manager)


async def test_batches_answer_for_each_item(manager):
    await manager.create_jobs(*EXPORT, [{"n": n} for n in range(5)], max_retries=0)
    jobs = await manager.acquire_jobs(*QUEUE, 60, "w", 5)
    assert [job["payload"]["n"] for job in jobs] == list(range(5))
    renewed = await manager.renew_job_leases("w", [(job["id"], job["lease_id"]) for job in jobs], 60)
    assert [item["problem"] for item in renewed] == [None] * 5
    a, b, c, d, e = jobs
    done = await manager.complete_jobs(
        "w",
        [
            Completed(a["id"], a["lease_id"], "A"),
            Completed(b["id"], str(uuid4())),
            Completed(c["id"], c["lease_id"]),
        ],
    )
    assert [item["status"] for item in done] == ["completed", None, "completed"]
    assert isinstance(done[1]["problem"], LeaseLost)
    failed = await manager.fail_jobs(
        "w",
        [
            Failure(d["id"], d["lease_id"], "no"),
            Failure(a["id"], str(uuid4()), "no"),
            Failure(10**6, "", "no"),
        ],
    )
    assert [item["status"] for item in failed] == ["failed", None, None]
    assert [type(item["problem"]) for item in failed] == [type(None), LeaseLost, TaskNotFound]
    released = await manager.release_jobs("w", [(b["id"], b["lease_id"]), (e["id"], e["lease_id"])])
    assert [item["status"] for item in released] == ["queued", "queued"]
    assert (await manager.get_job(a["id"]))["result"] == "A"


async def test_a_batch_is_one_call_of_the_database(home, monkeypatch):
    manager, called = JobManager(home.queue, ManagerSettings(upkeep_seconds=0)), []
    call = home.queue.driver.call

    async def counted(verb, /, **arguments):
        called.append(verb)
        return await call(verb, **arguments)

    monkeypatch.setattr(home.queue.driver, "call", counted)
    await manager.create_jobs(*EXPORT, [{} for _ in range(9)])
    jobs = await manager.acquire_jobs(*QUEUE, 60, "w", 9)
    leases = [(job.id, str(job.lease_id)) for job in jobs]
    await manager.renew_job_leases("w", leases, 60)
    await manager.complete_jobs("w", [Completed(*lease) for lease in leases[:3]])
    await manager.fail_jobs("w", [Failure(*lease, "no") for lease in leases[3:6]])
    await manager.release_jobs("w", leases[6:])
    assert called == [
        "create_generic_jobs", "acquire_generic_jobs", "renew_tasks", "complete_tasks", "fail_tasks",
        "release_tasks",
    ]  # fmt: skip


async def test_a_queued_job_is_cancelled_at_once(manager):
    job = await manager.create_job(*EXPORT, {})
    cancelled = await manager.cancel_job(job["id"], reason="user_request")
    assert (cancelled["status"], cancelled["cancellation_reason"]) == ("cancelled", "user_request")
    assert cancelled["cancelled_at"] >= cancelled["created_at"]
    assert await manager.acquire_next_job(*QUEUE, 60, "w") is None
    with pytest.raises(InvalidTransition):
        await manager.cancel_job(job["uuid"])


async def test_the_worker_of_a_processing_job_is_asked_to_stop(manager):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    asked = await manager.cancel_job(job["uuid"], "user_request")
    assert (asked["status"], asked["cancellation_reason"]) == ("processing", "user_request")
    assert asked["cancel_requested_at"] >= job["acquired_at"]
    assert (await manager.renew_job_lease(job["id"], 60))["cancel_requested"]
    assert (await manager.fail_job(job["id"], "w", job["lease_id"], "stopped"))["status"] == "cancelled"
    ended = await manager.get_job(job["id"])
    assert (ended["status"], ended["cancellation_reason"]) == ("cancelled", "user_request")


async def test_a_cancelled_job_that_finishes_first_is_completed(manager):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    await manager.cancel_job(job["id"])
    assert (await manager.complete_job(job["id"], "w", job["lease_id"]))["status"] == "completed"


async def test_force_ends_a_processing_job_and_fences_its_worker_off(manager):
    await manager.create_job(*EXPORT, {})
    job = await acquired(manager)
    assert (await manager.cancel_job(job["id"], "now", force=True))["status"] == "cancelled"
    with pytest.raises(LeaseLost):
        await manager.complete_job(job["id"], "w", job["lease_id"])
    with pytest.raises(LeaseLost):
        await manager.renew_job_lease(job["id"], 60, "w", job["lease_id"])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("conversations"), "KeyError: 'conversations'"),
        (ValueError(), "ValueError"),
        (RuntimeError("a\0b\ud800"), "RuntimeError: a\ufffdb?"),
    ],
    ids=["message", "no message", "text that cannot be stored"],
)
async def test_a_job_can_be_failed_with_the_exception_itself(manager, home, error, text):
    await manager.create_job(*EXPORT, {}, max_retries=0)
    job = await acquired(manager)
    await manager.fail_job(job["id"], "w", job["lease_id"], error=error)
    assert (await manager.get_job(job["id"]))["error_message"] == text
    assert (await home.queue.get_task(job["id"])).error_kind == type(error).__name__


async def test_a_kind_that_is_named_goes_before_the_class_of_the_exception(manager, home):
    await manager.create_job(*EXPORT, {}, max_retries=0)
    job = await acquired(manager)
    await manager.fail_job(job["id"], "w", job["lease_id"], OSError("no route"), kind="network")
    assert (await home.queue.get_task(job["id"])).error_kind == "network"
