"""Bad input to every call of the manager: an error of ours that names the caller's argument in the caller's words."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from pgjobs.errors import (
    InvalidArgument,
    InvalidTransition,
    JobNotFound,
    JobUnavailable,
    LeaseLost,
    PgJobsError,
    TaskNotFound,
)

WEIRD: dict[str, Any] = {
    "true": True,
    "negative": -1,
    "beyond integers": 2**63,
    "a fraction": 1.5,
    "not a number": math.nan,
    "empty": "",
    "long": "x" * 300,
    "a NUL character": "a\0b",
    "a lone surrogate": "a\ud800",
    "bytes": b"x",
    "an object": {"a": 1},
    "a list": [1],
    "a set": {1},
    "anything": object(),
    "no time zone": datetime(2030, 1, 1),
    "the last time": datetime.max.replace(tzinfo=UTC),
    "a duration": timedelta(days=1),
    "a negative duration": timedelta(days=-1),
    "a very long duration": timedelta.max,
    "a uuid": uuid4(),
    "a colon": "a:b",
    "a decimal": Decimal(1),
}
SOON = datetime(2030, 1, 1, tzinfo=UTC)
CALLS: dict[str, dict[str, Any]] = {
    "create_job": {
        "domain": "d",
        "queue": "q",
        "job_type": "t",
        "payload": {},
        "owner_user_id": "o",
        "project_id": 1,
        "priority": 5,
        "max_retries": 3,
        "available_at": SOON,
        "idempotency_key": "k",
    },
    "create_jobs": {
        "domain": "d",
        "queue": "q",
        "job_type": "t",
        "payloads": [{}],
        "idempotency_keys": ["k"],
    },
    "schedule_job": {"domain": "d", "queue": "q", "job_type": "t", "available_at": SOON},
    "get_job": {"id": 1, "owner_user_id": "o", "project_id": 1},
    "list_jobs": {
        "domain": "d",
        "queue": "q",
        "job_type": "t",
        "status": "queued",
        "owner_user_id": "o",
        "project_id": 1,
        "before": 5,
        "limit": 5,
        "offset": 0,
    },
    "cancel_job": {"id": 1, "reason": "r", "actor": "a", "force": False},
    "prune_jobs": {"domain": "d", "queue": "q", "status": "failed", "older_than": timedelta(1), "limit": 9},
    "acquire_jobs": {"domain": "d", "queue": "q", "lease_seconds": 60, "worker_id": "w", "quantity": 1},
    "renew_job_lease": {"id": 1, "seconds": 10, "worker_id": "w", "lease_id": str(uuid4())},
    "complete_job": {"id": 1, "worker_id": "w", "lease_id": str(uuid4()), "result": {}},
    "fail_job": {"id": 1, "worker_id": "w", "lease_id": str(uuid4()), "error": "e", "kind": "k"},
    "release_job": {"id": 1, "worker_id": "w", "lease_id": str(uuid4())},
}
ARGUMENTS = [(call, argument) for call, arguments in CALLS.items() for argument in arguments]
FOREIGN = re.compile(
    r"\$\d|\b(rooms?|categor\w+|tasks?|holder|migrate|page_\w+|batch|of_\w+|in_\w+|task_\w+)\b"
)


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS, ids=lambda name: name)
async def test_whatever_an_argument_is_the_error_is_ours_and_names_it(manager, call, argument):
    await manager.create_job("d", "q", "t")
    refused: dict[str, PgJobsError] = {}
    for what, value in WEIRD.items():
        try:
            await getattr(manager, call)(**{**CALLS[call], argument: value})
        except PgJobsError as error:
            refused[what] = error
    for what, problem in refused.items():
        assert not FOREIGN.search(str(problem)), (what, str(problem))
        if isinstance(problem, InvalidArgument):
            assert argument in str(problem), (what, str(problem))


REQUIRED = {
    "create_job": ["domain", "queue", "job_type"],
    "create_jobs": ["domain", "queue", "job_type", "payloads"],
    "schedule_job": ["available_at"],
    "get_job": ["id"],
    "cancel_job": ["id"],
    "acquire_jobs": ["domain", "queue", "lease_seconds", "worker_id", "quantity"],
    "renew_job_lease": ["id", "seconds"],
    "complete_job": ["id", "worker_id", "lease_id"],
    "fail_job": ["id", "worker_id", "lease_id", "error"],
    "release_job": ["id", "worker_id", "lease_id"],
}


@pytest.mark.parametrize(
    ("call", "argument"), [(call, name) for call, names in REQUIRED.items() for name in names]
)
async def test_none_for_a_required_argument_says_which_is_required(manager, call, argument):
    with pytest.raises(InvalidArgument) as refused:
        await getattr(manager, call)(**{**CALLS[call], argument: None})
    assert str(refused.value) == f"{argument} is required"


@pytest.mark.parametrize(
    ("call", "argument", "value", "message"),
    [
        ("create_job", "priority", 11, "priority must be between 1 and 10. Got 11."),
        ("create_job", "priority", "high", "priority must be a whole number"),
        ("create_job", "queue", "a:b", "queue must have 1 to 200 characters and no colon. Got 'a:b'."),
        ("create_job", "domain", "@x", "domain must have 1 to 200 characters, neither @ nor a colon"),
        ("create_job", "idempotency_key", "", "idempotency_key must be one for each payload"),
        ("create_jobs", "payloads", "abc", "payloads must be a list"),
        ("create_jobs", "payloads", 7, "payloads must be a list"),
        ("acquire_jobs", "worker_id", "", "worker_id must have 1 to 200 characters"),
        ("acquire_jobs", "lease_seconds", -1, "lease_seconds must be longer than zero"),
        ("acquire_jobs", "lease_seconds", "long", "lease_seconds must be a number of seconds. Got 'long'."),
        ("renew_job_lease", "seconds", 0, "seconds must be longer than zero"),
        ("list_jobs", "limit", 501, "limit must be between 0 and 500. Got 501."),
        ("list_jobs", "offset", -1, "offset must not be negative. Got -1."),
        ("prune_jobs", "limit", 0, "limit must be between 1 and 100000. Got 0."),
        ("prune_jobs", "status", "queued", "status must be completed, failed or cancelled. Got 'queued'."),
        ("prune_jobs", "older_than", timedelta(-1), "older_than must be between zero and 1000 years"),
    ],
)
async def test_a_refusal_reads_in_the_callers_words(manager, *, call, argument, value, message):
    with pytest.raises(PgJobsError) as refused:
        await getattr(manager, call)(**{**CALLS[call], argument: value})
    assert str(refused.value).startswith(message)


async def test_what_is_not_there_is_a_job_or_a_job_type(manager):
    with pytest.raises(TaskNotFound, match=r"^Job 1000000 does not exist$"):
        await manager.get_job(10**6)
    with pytest.raises(TaskNotFound, match=r"^Job 1000000 does not exist$"):
        await manager.cancel_job(10**6)
    with pytest.raises(JobNotFound, match=r"^Job type d:q:unknown does not exist$"):
        await manager.prune_jobs("d", "q", "unknown")
    with pytest.raises(JobNotFound, match=r"^No job type q:t in the domain @global\. "):
        await manager.create_job("@global", "q", "t")


async def test_what_cannot_be_done_is_said_of_jobs(manager, home):
    job = await manager.create_job("d", "q", "t")
    await manager.cancel_job(job["id"])
    with pytest.raises(InvalidTransition) as ended:
        await manager.cancel_job(job["id"])
    assert str(ended.value) == (
        f"Job {job['id']} has already ended. Only queued and processing jobs can be cancelled."
    )
    with pytest.raises(LeaseLost) as lost:
        await manager.complete_job(job["id"], "w", str(uuid4()))
    assert str(lost.value).startswith(f"Job {job['id']} is no longer leased to this worker. ")
    assert not FOREIGN.search(str(lost.value))
    await home.queue.archive_job("d:q:t")
    with pytest.raises(JobUnavailable, match=r"^Job type d:q:t is archived"):
        await manager.create_job("d", "q", "t")
