"""Many jobs at once, by what they are: retry, reschedule, hold, expire, count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pgjobs.contrib.manager.calls import GenericCalls, owner_text
from pgjobs.contrib.manager.words import own_words, required
from pgjobs.errors import InvalidArgument
from pgjobs.queue.records import GenericCounted, GenericJob


class BulkCalls:
    """The part of the manager that operators use: on Postgres only.

    Calls that change jobs are bounded by `limit`, at most 1,000, and answer how many they
    changed; with `dry_run`, how many they would.
    """

    _calls: GenericCalls

    async def retry_now_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        status: Literal["failed", "queued"] | None = None,
        owner_user_id: str | int | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Has jobs run now: those that failed, and those that wait for their next attempt."""
        done = 0
        for one in (status,) if status is not None else ("failed", "queued"):
            with own_words():
                items = await self._calls.retry_generic_jobs(
                    one,
                    domain=domain,
                    queue=queue,
                    job_type=job_type,
                    owner_user_id=owner_text(owner_user_id),
                    most=limit,
                    dry_run=dry_run,
                    actor=actor,
                )
            done += sum(item.problem is None for item in items)
        return done

    async def requeue_quarantined(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        ids: Sequence[int] | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Queues jobs in quarantine again, from the beginning."""
        with own_words():
            items = await self._calls.retry_generic_jobs(
                "quarantined",
                domain=domain,
                queue=queue,
                job_type=job_type,
                task_ids=ids,
                most=limit,
                dry_run=dry_run,
                actor=actor,
            )
        return sum(item.problem is None for item in items)

    async def reschedule_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        delta_seconds: float | None = None,
        set_now: bool = False,
        owner_user_id: str | int | None = None,
        dry_run: bool = False,
        limit: int = 1000,
        actor: str | None = None,
    ) -> int:
        """Moves queued jobs by so many seconds, or has them due now."""
        if set_now == (delta_seconds is not None):
            raise InvalidArgument("Name delta_seconds or set_now, one of them")
        with own_words(shift="delta_seconds"):
            moved = await self._calls.reschedule_generic_jobs(
                domain,
                queue=queue,
                job_type=job_type,
                owner_user_id=owner_text(owner_user_id),
                shift=_seconds("delta_seconds", delta_seconds),
                available_at=datetime(1970, 1, 2, tzinfo=UTC) if set_now else None,
                most=limit,
                dry_run=dry_run,
                actor=actor,
            )
        return len(moved)

    async def set_queue_control(
        self,
        domain: str,
        queue: str,
        action: Literal["pause", "resume", "drain"],
        *,
        actor: str | None = None,
        reason: str | None = None,
    ) -> Mapping[str, Any]:
        """Pauses or resumes a queue, also for job types that come later.

        Paused or drained, nothing is acquired and what runs continues; jobs are still created.
        """
        required(domain=domain, queue=queue, action=action)
        with own_words():
            held = await self._calls.control_queue(domain, queue, action, actor=actor, reason=reason)
        return {
            "domain": domain,
            "queue": queue,
            "paused": held.mode is not None,
            "drain": held.mode == "drain",
            "processing": held.processing,
        }

    async def apply_ttl_policies(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        *,
        age_seconds: float | None = None,
        runtime_seconds: float | None = None,
        action: Literal["cancel", "fail"] = "cancel",
        dry_run: bool = False,
        limit: int = 1000,
    ) -> int:
        """Ends jobs queued longer than `age_seconds` and processing longer than `runtime_seconds`."""
        with own_words(age="age_seconds", runtime="runtime_seconds"):
            ended = await self._calls.expire_generic_jobs(
                domain,
                queue=queue,
                job_type=job_type,
                age=_seconds("age_seconds", age_seconds),
                runtime=_seconds("runtime_seconds", runtime_seconds),
                action=action,
                most=limit,
                dry_run=dry_run,
            )
        return len(ended)

    async def add_job_dependency(self, job_id: int, depends_on_job_id: int) -> GenericJob:
        """Has a queued job wait for another of the same domain and owner, and be cancelled with it."""
        required(job_id=job_id, depends_on_job_id=depends_on_job_id)
        with own_words():
            return await self._calls.add_dependency(job_id, depends_on_job_id)

    async def count_jobs(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        status: str | None = None,
        owner_user_id: str | int | None = None,
    ) -> int:
        rows = await self._counted(domain, queue, job_type, owner_user_id)
        return sum(row.quantity for row in rows if status in {None, row.status})

    async def summarize_by_status(
        self,
        domain: str | None = None,
        queue: str | None = None,
        job_type: str | None = None,
        owner_user_id: str | int | None = None,
    ) -> dict[str, int]:
        """How many jobs there are of each status."""
        counts: Counter[str] = Counter()
        for row in await self._counted(domain, queue, job_type, owner_user_id):
            counts[row.status] += row.quantity
        return dict(counts)

    async def summarize_by_owner_and_status(
        self, domain: str | None = None, queue: str | None = None, job_type: str | None = None
    ) -> list[dict[str, Any]]:
        """How many jobs each owner has of each status."""
        counts: Counter[tuple[str | None, str]] = Counter()
        for row in await self._counted(domain, queue, job_type, None):
            counts[row.owner_user_id, row.status] += row.quantity
        ordered = sorted(counts.items(), key=lambda item: (item[0][0] or "", item[0][1]))
        return [{"owner_user_id": owner, "status": status, "count": n} for (owner, status), n in ordered]

    async def get_queue_stats(
        self, domain: str | None = None, queue: str | None = None, job_type: str | None = None
    ) -> list[dict[str, Any]]:
        """Of each job type, how many are queued (due now), scheduled, processing, in quarantine."""
        stats: dict[tuple[str, str, str], Counter[str]] = {}
        for row in await self._counted(domain, queue, job_type, None):
            counts = stats.setdefault((row.domain, row.queue, row.job_type), Counter())
            counts[row.status] += row.quantity - row.scheduled
            counts["scheduled"] += row.scheduled
        return [
            {"domain": place[0], "queue": place[1], "job_type": place[2]}
            | {name: counts[name] for name in ("queued", "scheduled", "processing", "quarantined")}
            for place, counts in sorted(stats.items())
        ]

    async def _counted(
        self, domain: str | None, queue: str | None, job_type: str | None, owner: str | int | None
    ) -> list[GenericCounted]:
        with own_words():
            return await self._calls.summarize_generic_jobs(
                domain, queue, job_type, of_owner=owner_text(owner)
            )


def _seconds(name: str, value: float | None) -> timedelta | None:
    try:
        return None if value is None else timedelta(seconds=value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name} must be a number of seconds", detail=f"Got {value!r}.") from error
