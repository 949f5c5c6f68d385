"""A queue with something to see, on every driver."""

from __future__ import annotations

from functools import partial
from typing import Protocol

import pytest

from pgjobs.queue.server import ServerQueue as Queue
from tests.surfaces.cli.commands import Done
from tests.surfaces.cli.warm import run

JOB = "@global:mail:Welcome"


class Pgjobs(Protocol):
    """Runs a command against the test's queue."""

    def __call__(self, *arguments: object, stdin: str | None = "", **more: str) -> Done: ...


@pytest.fixture
def pgjobs(queue_url: str) -> Pgjobs:
    return partial(run, PGJOBS_DATABASE_URL=queue_url)


@pytest.fixture
async def job(queue: Queue) -> str:
    await queue.register_job("@global", "mail", "Welcome", max_attempts=1)
    return JOB


async def failed_tasks(queue: Queue, job: str, quantity: int, error: str = "no disk") -> list[int]:
    """Tasks that ended badly."""
    submitted = await queue.submit_tasks(job, [{"number": number} for number in range(quantity)])
    worker = await queue.register_worker("clumsy", jobs=[job])
    leases = await queue.claim_tasks(worker.id, quantity=quantity, start=True)
    await queue.fail_tasks(leases, [error] * len(leases), retryable=[False] * len(leases))
    return [task.task_id for task in submitted]
