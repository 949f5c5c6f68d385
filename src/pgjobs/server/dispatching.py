"""`@internal` tasks handed on to an executor, which has others end them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from pgjobs.errors import PgJobsError, WorkerNotFound
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.records import Lease
from pgjobs.queue.server import ServerQueue

log = logging.getLogger("pgjobs.internal")

Executor = Callable[[str, Any, str, UUID], Awaitable[Any]]
"""Passes a task on elsewhere: job, payload, room, task id. Whoever gets it ends it."""

HEARTBEAT_SECONDS = 15.0
POLL_SECONDS = 5.0


async def dispatch(queue: ServerQueue, jobs: Jobs, executor: Executor, *, concurrency: int) -> None:
    """Serves the jobs until cancelled, or until the database has forgotten this worker.

    Leases have no end of their own: they live by the heartbeats sent here, however long
    whoever was handed the task takes.
    """
    for job in jobs.registered.values():
        await job.register(queue)
    worker = await queue.register_worker("server", jobs=list(jobs.registered))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_heartbeat(queue, worker.id))
            for _ in range(concurrency):
                group.create_task(_hand_on(queue, worker.id, executor))
    finally:
        with suppress(Exception):
            await queue.retire_worker(worker.id)


async def _hand_on(queue: ServerQueue, worker_id: UUID, executor: Executor) -> None:
    woken = asyncio.Event()
    stop = await queue.driver.listen("wake", lambda _: woken.set())
    mark: int | None = None
    try:
        while True:
            woken.clear()
            leases: list[Lease] = []
            try:
                mark = (await queue.mark_waiting(worker_id, previous=mark)).mark
                leases = await queue.claim_tasks(worker_id)
            except WorkerNotFound:
                raise
            except Exception:
                log.exception("cannot claim @internal tasks")
            for lease in leases:
                await _hand_one_on(queue, lease, executor)
            if not leases:
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await woken.wait()
    finally:
        stop()
        if mark is not None:
            with suppress(Exception):
                await queue.unmark_waiting(mark)


async def _hand_one_on(queue: ServerQueue, lease: Lease, executor: Executor) -> None:
    try:
        task_id = (await queue.get_task(lease.task_id)).uuid
        await executor(lease.job, lease.payload, lease.room, task_id)
    except Exception:
        log.exception("@internal task %s cannot be handed on", lease.task_id)
        await _fail(queue, lease)


async def _fail(queue: ServerQueue, lease: Lease) -> None:
    """Until it is said, or the task is not ours any more: saying it twice is saying it once."""
    while True:
        try:
            await queue.fail_task(lease, "Failed to dispatch to internal executor")
        except PgJobsError as refusal:
            log.warning("@internal task %s: %s", lease.task_id, refusal.message)
        except Exception as error:
            log.warning("failing @internal task %s: %s", lease.task_id, error)
            await asyncio.sleep(1)
            continue
        return


async def _heartbeat(queue: ServerQueue, worker_id: UUID) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        try:
            await queue.heartbeat_worker(worker_id)
        except WorkerNotFound:
            raise
        except Exception:
            log.exception("cannot send a heartbeat")
