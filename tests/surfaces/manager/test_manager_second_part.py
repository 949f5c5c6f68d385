"""What users of the running system expect of the manager besides: tokens, quarantine, caps, control."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgjobs.contrib.manager import Completed, Failure
from pgjobs.contrib.manager.quotas import quota_of
from pgjobs.errors import InvalidArgument, InvalidTransition, LeaseLost, PayloadTooLarge, QuotaExceeded

PLACE = ("chatbooks", "default")


async def create(manager: Any, job_type: str = "export", **options: Any) -> Any:
    return await manager.create_job(*PLACE, job_type, {"n": 1}, **options)


async def acquire(manager: Any, **options: Any) -> Any:
    return await manager.acquire_next_job(*PLACE, lease_seconds=60, worker_id="w", **options)


def held(job: Any) -> dict[str, Any]:
    return {"worker_id": "w", "lease_id": job["lease_id"]}


@pytest.mark.postgres_only
class TestCompletionTokens:
    async def test_the_same_token_gets_the_same_answer_again_whatever_the_lease(self, manager: Any):
        await create(manager)
        job = await acquire(manager)
        first = await manager.complete_job(job["id"], **held(job), result={"a": 1}, completion_token="run-1")
        again = await manager.complete_job(job["id"], "other", "no lease", completion_token="run-1")
        assert (first["status"], again["status"]) == ("completed", "completed")
        assert (first["repeated"], again["repeated"]) == (False, True)
        assert (await manager.get_job(job["id"]))["result"] == {"a": 1}

    async def test_another_token_is_refused(self, manager: Any):
        await create(manager)
        job = await acquire(manager)
        await manager.complete_job(job["id"], **held(job), completion_token="run-1")
        with pytest.raises(InvalidTransition, match="under another completion_token"):
            await manager.complete_job(job["id"], **held(job), completion_token="run-2")

    async def test_a_token_does_not_replace_the_lease(self, manager: Any):
        job = await create(manager)
        with pytest.raises(LeaseLost):
            await manager.complete_job(job["id"], "w", "no lease", completion_token="run-1")

    async def test_failing_answers_the_same_way(self, manager: Any):
        await create(manager, max_retries=0)
        job = await acquire(manager)
        first = await manager.fail_job(job["id"], **held(job), error="x", completion_token="run-1")
        again = await manager.fail_job(job["id"], "other", "no lease", error="x", completion_token="run-1")
        assert (first["status"], again["status"], again["repeated"]) == ("failed", "failed", True)
        with pytest.raises(InvalidTransition):
            await manager.fail_job(job["id"], **held(job), error="x", completion_token="run-2")

    async def test_a_batch_counts_a_repetition_as_none(self, manager: Any):
        await manager.create_jobs(*PLACE, "export", [{}, {}])
        jobs = await manager.acquire_jobs(*PLACE, 60, "w", 2)
        items = [
            {"job_id": job["id"], **held(job), "completion_token": f"run-{job['id']}", "result": {}}
            for job in jobs
        ]
        assert await manager.batch_complete_jobs(items) == 2
        assert await manager.batch_complete_jobs(items) == 0

    async def test_it_can_be_compulsory(self, open_manager: Any):
        manager = open_manager(require_completion_token=True)
        await create(manager)
        job = await acquire(manager)
        for call in (
            manager.complete_job(job["id"], **held(job)),
            manager.complete_jobs("w", [Completed(job["id"], job["lease_id"])]),
            manager.fail_jobs("w", [Failure(job["id"], job["lease_id"], "x")]),
        ):
            with pytest.raises(InvalidArgument, match="completion_token is required"):
                await call


@pytest.mark.postgres_only
class TestFailing:
    async def test_a_call_may_say_how_long_to_wait(self, manager: Any, clock: Any):
        await create(manager)
        job = await acquire(manager)
        failed = await manager.fail_job(job["id"], **held(job), error="busy", backoff_seconds=100)
        wait = failed["available_at"] - clock.now()
        assert timedelta(seconds=95) < wait < timedelta(seconds=101)

    async def test_class_and_stack_are_kept_with_the_error(self, manager: Any):
        await create(manager)
        job = await acquire(manager)
        await manager.fail_job(
            job["id"], **held(job), error="no route", error_class="OSError", error_stack="line 7"
        )
        assert (await manager.get_job(job["id"]))["last_error"] == "OSError: no route\nline 7"

    async def test_the_same_code_three_times_in_a_row_is_quarantine_until_it_is_requeued(
        self, manager: Any, clock: Any
    ):
        created = await create(manager, max_retries=20)
        for code, after in (("E1", "queued"), ("E2", "queued"), ("E2", "queued"), ("E2", "quarantined")):
            job = await acquire(manager)
            failed = await manager.fail_job(
                job["id"], **held(job), error="x", error_code=code, backoff_seconds=1
            )
            assert failed["status"] == after
            await clock.advance(seconds=2)
        assert (await manager.get_job(created["id"]))["status"] == "quarantined"
        assert [job["id"] for job in await manager.list_jobs(status="quarantined")] == [created["id"]]
        assert await acquire(manager) is None
        assert await manager.requeue_quarantined(*PLACE, dry_run=True) == 1
        assert await manager.requeue_quarantined(*PLACE) == 1
        assert (await acquire(manager))["id"] == created["id"]

    async def test_the_threshold_is_a_setting(self, open_manager: Any):
        manager = open_manager(quarantine_threshold=1)
        await create(manager)
        job = await acquire(manager)
        failed = await manager.fail_job(job["id"], **held(job), error="x", error_code="E1")
        assert failed["status"] == "quarantined"


class TestAcquiring:
    async def test_one_type_of_several(self, manager: Any):
        await create(manager, "export")
        wanted = await create(manager, "import")
        assert (await acquire(manager, job_type="import"))["id"] == wanted["id"]
        assert await acquire(manager, job_type="import") is None
        assert await acquire(manager, job_type="unknown") is None

    async def test_several_at_once(self, manager: Any):
        await manager.create_jobs(*PLACE, "export", [{}] * 3)
        assert len(await manager.acquire_next_jobs(*PLACE, 60, "w", limit=2)) == 2

    @pytest.mark.postgres_only
    async def test_a_lease_of_zero_is_as_long_as_such_jobs_take(self, open_manager: Any, clock: Any):
        manager = open_manager(adaptive_lease=True, max_lease_seconds=60)
        await manager.create_jobs(*PLACE, "export", [{}] * 3)
        first = await manager.acquire_next_job(*PLACE, 0, "w")
        assert first["leased_until"] - first["acquired_at"] == timedelta(seconds=60)
        await clock.advance(seconds=10)
        await manager.complete_job(first["id"], **held(first))
        second = await manager.acquire_next_job(*PLACE, 0, "w")
        assert timedelta(seconds=12) < second["leased_until"] - second["acquired_at"] < timedelta(seconds=15)

    async def test_without_the_setting_a_lease_of_zero_is_refused(self, manager: Any):
        with pytest.raises(InvalidArgument, match="lease_seconds"):
            await manager.acquire_next_job(*PLACE, 0, "w")


@pytest.mark.postgres_only
class TestWhatJobsGiveSoFar:
    async def test_progress_and_result_are_kept_over_a_retry(self, manager: Any, clock: Any, home: Any):
        created = await create(manager)
        await manager.update_job_progress(created["id"], progress_percent=10, progress_message="begun")
        job = await acquire(manager)
        await manager.update_job_result(job["id"], {"pages": 1})
        row = await manager.update_job_result(job["id"], {"words": 2}, merge=True)
        assert (row["status"], row["result"]) == ("processing", {"pages": 1, "words": 2})
        await manager.fail_job(job["id"], **held(job), error="x", backoff_seconds=1)
        assert (await manager.get_job(job["id"]))["result"] == {"pages": 1, "words": 2}
        assert (await home.queue.get_task(job["id"])).progress == {"percent": 10, "message": "begun"}
        await clock.advance(seconds=2)
        again = await acquire(manager)
        await manager.renew_job_lease(again["id"], 60, **held(again), progress={"percent": 90})
        assert (await home.queue.get_task(job["id"])).progress == {"percent": 90}
        await manager.complete_job(again["id"], **held(again), result={"done": True})
        assert (await manager.get_job(job["id"]))["result"] == {"done": True}
        with pytest.raises(InvalidTransition, match="has already ended"):
            await manager.update_job_result(job["id"], {})


@pytest.mark.postgres_only
class TestBulk:
    async def test_failed_and_waiting_jobs_run_now(self, manager: Any):
        for retries in (0, 5):
            await create(manager, max_retries=retries)
            job = await acquire(manager)
            await manager.fail_job(job["id"], **held(job), error="x", backoff_seconds=1000)
        await create(manager, "other", available_at=datetime.now(UTC) + timedelta(days=1))
        assert await manager.retry_now_jobs(*PLACE, dry_run=True) == 2
        assert await acquire(manager) is None
        assert await manager.retry_now_jobs(*PLACE) == 2
        assert len(await manager.acquire_next_jobs(*PLACE, 60, "w", limit=5)) == 2

    async def test_queued_jobs_move_by_a_time_or_to_now(self, manager: Any, clock: Any):
        later = clock.now() + timedelta(hours=1)
        job = await create(manager, available_at=later)
        assert await manager.reschedule_jobs(*PLACE, delta_seconds=60, dry_run=True) == 1
        assert (await manager.get_job(job["id"]))["available_at"] == later
        assert await manager.reschedule_jobs(*PLACE, delta_seconds=60) == 1
        assert (await manager.get_job(job["id"]))["available_at"] == later + timedelta(seconds=60)
        assert await manager.reschedule_jobs(*PLACE, job_type="other", set_now=True) == 0
        assert await manager.reschedule_jobs(*PLACE, set_now=True) == 1
        assert (await acquire(manager))["id"] == job["id"]
        with pytest.raises(InvalidArgument, match="delta_seconds or set_now"):
            await manager.reschedule_jobs(*PLACE)

    async def test_a_queue_that_is_held_holds_types_that_come_later_too(self, manager: Any):
        await create(manager)
        running = await acquire(manager)
        held_queue = await manager.set_queue_control(*PLACE, "drain", reason="deploy")
        assert (held_queue["paused"], held_queue["drain"], held_queue["processing"]) == (True, True, 1)
        await create(manager)
        await create(manager, "came later")
        await manager.create_job("chatbooks", "other", "export")
        assert await acquire(manager) is None
        assert await manager.acquire_next_job("chatbooks", "other", 60, "w") is not None
        await manager.complete_job(running["id"], **held(running))
        assert not (await manager.set_queue_control(*PLACE, "resume"))["paused"]
        assert len(await manager.acquire_next_jobs(*PLACE, 60, "w", limit=5)) == 2

    async def test_jobs_that_are_too_old_are_ended(self, manager: Any, clock: Any):
        await create(manager)
        await acquire(manager)
        await create(manager)
        await clock.advance(seconds=30)
        young = await create(manager)
        ages = {"age_seconds": 20, "runtime_seconds": 20}
        assert await manager.apply_ttl_policies(*PLACE, **ages, dry_run=True) == 2
        assert await manager.apply_ttl_policies(*PLACE, **ages, action="fail") == 2
        assert await manager.summarize_by_status(*PLACE) == {"failed": 2, "queued": 1}
        await clock.advance(seconds=30)
        assert await manager.apply_ttl_policies(*PLACE, age_seconds=20) == 1
        assert (await manager.get_job(young["id"]))["cancellation_reason"] == "ttl"
        with pytest.raises(InvalidArgument):
            await manager.apply_ttl_policies(*PLACE)


@pytest.mark.postgres_only
class TestDependencies:
    async def test_a_job_waits_for_another_and_is_cancelled_with_it(self, manager: Any):
        parent, child, grandchild = [await create(manager, owner_user_id="ann") for _ in range(3)]
        await manager.add_job_dependency(child["id"], parent["id"])
        await manager.add_job_dependency(child["id"], parent["id"])
        await manager.add_job_dependency(grandchild["id"], child["id"])
        job = await acquire(manager)
        assert job["id"] == parent["id"]
        assert await acquire(manager) is None
        await manager.fail_job(job["id"], **held(job), error="x", retryable=False)
        assert await acquire(manager) is None
        ended = await manager.get_job(child["id"])
        assert ended["status"] == "cancelled"
        assert str(parent["id"]) in ended["cancellation_reason"]

    async def test_it_goes_on_when_the_other_completes(self, manager: Any):
        parent = await create(manager)
        child = await create(manager, depends_on=[parent["id"]])
        job = await acquire(manager)
        await manager.complete_job(job["id"], **held(job))
        assert (await acquire(manager))["id"] == child["id"]

    async def test_neither_itself_nor_a_circle_nor_strangers(self, manager: Any):
        first, second = [await create(manager, owner_user_id="ann") for _ in range(2)]
        foreign = await create(manager, owner_user_id="bob")
        elsewhere = await manager.create_job("other", "default", "export", owner_user_id="ann")
        await manager.add_job_dependency(second["id"], first["id"])
        for child, parent, why in (
            (first, first, "itself"),
            (first, second, "wait for each other"),
            (first, foreign, "same domain and owner"),
            (first, elsewhere, "same domain and owner"),
        ):
            with pytest.raises(InvalidArgument, match=why):
                await manager.add_job_dependency(child["id"], parent["id"])


@pytest.mark.postgres_only
class TestFinding:
    async def test_by_group_time_and_order(self, manager: Any, clock: Any):
        first = await create(manager, batch_group="night", priority=9)
        await clock.advance(seconds=60)
        second = await create(manager, batch_group="night", priority=2)
        await create(manager)

        async def ids(**options: Any) -> list[int]:
            return [job["id"] for job in await manager.list_jobs(*PLACE, **options)]

        assert await ids(batch_group="night") == [second["id"], first["id"]]
        assert await ids(batch_group="night", sort_by="priority", sort_order="asc") == [
            second["id"],
            first["id"],
        ]
        assert await ids(batch_group="night", sort_by="created_at", sort_order="asc") == [
            first["id"],
            second["id"],
        ]
        assert await ids(created_before=first["created_at"] + timedelta(seconds=1)) == [first["id"]]
        assert len(await ids(created_after=first["created_at"])) == 2
        assert await ids(before_id=second["id"]) == [first["id"]]

    async def test_counts(self, manager: Any):
        await create(manager, owner_user_id="ann")
        await create(manager, owner_user_id="bob")
        await create(manager, owner_user_id="bob", available_at=datetime.now(UTC) + timedelta(days=1))
        await acquire(manager)
        assert await manager.count_jobs(*PLACE) == 3
        assert await manager.count_jobs(*PLACE, status="queued", owner_user_id="bob") == 2
        assert await manager.summarize_by_status("chatbooks") == {"processing": 1, "queued": 2}
        assert await manager.summarize_by_owner_and_status(*PLACE) == [
            {"owner_user_id": "ann", "status": "processing", "count": 1},
            {"owner_user_id": "bob", "status": "queued", "count": 2},
        ]
        assert await manager.get_queue_stats(*PLACE) == [
            {
                "domain": "chatbooks", "queue": "default", "job_type": "export",
                "queued": 1, "scheduled": 1, "processing": 1, "quarantined": 0,
            }
        ]  # fmt: skip


class TestQuotas:
    def test_the_variable_that_says_most_decides(self):
        known = {
            "JOBS_QUOTA_MAX_QUEUED": "1",
            "JOBS_QUOTA_MAX_QUEUED_CHATBOOKS": "2",
            "JOBS_QUOTA_MAX_QUEUED_USER_ANN": "3",
            "JOBS_QUOTA_MAX_QUEUED_CHATBOOKS_USER_ANN": "4",
        }
        places = [("chatbooks", "ann"), ("other", "ann"), ("chatbooks", "bob"), ("other", "bob")]
        assert [quota_of("MAX_QUEUED", *place, known) for place in places] == [4, 3, 2, 1]
        assert quota_of("MAX_QUEUED", "chatbooks", None, known) is None
        assert quota_of("MAX_INFLIGHT", "chatbooks", "ann", {"JOBS_QUOTA_MAX_INFLIGHT": "0"}) is None
        with pytest.raises(InvalidArgument, match="JOBS_QUOTA_MAX_INFLIGHT must be a whole number"):
            quota_of("MAX_INFLIGHT", "chatbooks", "ann", {"JOBS_QUOTA_MAX_INFLIGHT": "many"})

    @pytest.mark.postgres_only
    async def test_creating_beyond_is_refused(self, manager: Any, monkeypatch: Any):
        await create(manager, owner_user_id="ann")
        monkeypatch.setenv("JOBS_QUOTA_MAX_QUEUED_CHATBOOKS", "2")
        await create(manager, owner_user_id="ann")
        with pytest.raises(QuotaExceeded, match="ann in chatbooks may have at most 2 waiting"):
            await create(manager, owner_user_id="ann")
        with pytest.raises(ValueError, match="at most 2 waiting"):
            await create(manager, owner_user_id="ann")
        await create(manager, owner_user_id="bob")
        await create(manager)
        assert await manager.count_jobs(owner_user_id="ann") == 2

    @pytest.mark.postgres_only
    async def test_submits_a_minute(self, manager: Any, monkeypatch: Any, clock: Any):
        monkeypatch.setenv("JOBS_QUOTA_SUBMITS_PER_MIN_USER_ANN", "1")
        await create(manager, owner_user_id="ann")
        with pytest.raises(QuotaExceeded) as refused:
            await create(manager, owner_user_id="ann")
        assert 55 <= refused.value.retry_after <= 60
        await clock.advance(seconds=61)
        await create(manager, owner_user_id="ann")

    @pytest.mark.postgres_only
    async def test_acquiring_beyond_gets_nothing_and_lapsed_leases_do_not_count(
        self, manager: Any, monkeypatch: Any, clock: Any
    ):
        monkeypatch.setenv("JOBS_QUOTA_MAX_INFLIGHT", "1")
        for _ in range(3):
            await create(manager, owner_user_id="ann")
        assert len(await manager.acquire_next_jobs(*PLACE, 60, "w", "ann", limit=3)) == 1
        assert await acquire(manager, owner_user_id="ann") is None
        assert await acquire(manager) is not None
        await clock.advance(seconds=61)
        assert await acquire(manager, owner_user_id="ann") is not None


class TestDocuments:
    async def test_those_that_are_too_large_are_refused(self, open_manager: Any):
        manager = open_manager(max_json_bytes=20)
        with pytest.raises(PayloadTooLarge, match="Payload too large"):
            await manager.create_job(*PLACE, "export", {"text": "x" * 20})
        await create(manager)
        job = await acquire(manager)
        with pytest.raises(PayloadTooLarge, match="Result too large"):
            await manager.complete_job(job["id"], **held(job), result={"text": "x" * 20})

    async def test_or_only_their_size_is_kept(self, open_manager: Any):
        manager = open_manager(max_json_bytes=20, json_truncate=True)
        job = await manager.create_job(*PLACE, "export", {"text": "x" * 20})
        assert job["payload"] == {"_truncated": True, "len_bytes": 31}


class TestEvents:
    @pytest.mark.postgres_only
    async def test_nothing_is_missed_from_an_event_on(self, manager: Any, home: Any):
        await create(manager)
        assert await manager.set_job_events("chatbooks") == 1
        job = await create(manager)
        await manager.cancel_job(job["id"])
        await home.settle()
        events = await manager.list_job_events_after(domain="chatbooks")
        kinds = [event.event_type for event in events if event.job_id == job["id"]]
        assert kinds == ["job.created", "job.cancelled"]
        rest = await manager.list_job_events_after(events[-2].id, domain="chatbooks")
        assert [event.event_type for event in rest] == ["job.cancelled"]
        assert (rest[0].domain, rest[0].queue, rest[0].job_type) == (*PLACE, "export")
        assert rest[0].as_sse().startswith(f"id: {rest[0].id}\nevent: job.cancelled\ndata: {{")
