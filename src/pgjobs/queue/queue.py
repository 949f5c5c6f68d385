"""Queue: one typed method per verb. Rules live in SQL; this only puts the generated parts together."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from pgjobs.drivers import Driver
from pgjobs.drivers.connect import connect, driver_for_connection
from pgjobs.queue._generated.records.tasks import Submitted, TaskDocument
from pgjobs.queue._generated.verbs.durable import DurableVerbs
from pgjobs.queue._generated.verbs.jobs import JobVerbs
from pgjobs.queue._generated.verbs.schedules import ScheduleVerbs
from pgjobs.queue._generated.verbs.steps import StepVerbs
from pgjobs.queue._generated.verbs.tasks import TaskVerbs
from pgjobs.queue._generated.verbs.upkeep import UpkeepVerbs
from pgjobs.queue._generated.verbs.workers import WorkerVerbs
from pgjobs.queue._generated.verbs.workflows import WorkflowVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.flow import FlowVerbs
from pgjobs.queue.leases import SingleLeaseVerbs

if TYPE_CHECKING:
    from pgjobs.queue.operators import Operators


class Queue(
    TaskVerbs,
    SingleLeaseVerbs,
    StepVerbs,
    DurableVerbs,
    WorkflowVerbs,
    FlowVerbs,
    JobVerbs,
    WorkerVerbs,
    ScheduleVerbs,
    UpkeepVerbs,
):
    """A queue in one schema of one database."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @classmethod
    async def connect(cls, url: str | None = None, **options: Any) -> Self:
        """Opens a queue by URL: postgresql://… or sqlite:///file."""
        return cls(await connect(url, **options))

    def bound_to(self, connection: Any) -> Self:
        """The same queue, its verbs running in the transaction of the caller's connection or session."""
        return type(self)(driver_for_connection(connection, schema=self.driver.schema))

    @property
    def operators(self) -> Operators:
        """The same queue with what operators ask: why a task waits, how the queue is doing, cleanups."""
        from pgjobs.queue.operators import Operators

        return Operators(self.driver)

    async def migrate(self) -> None:
        """Installs the schema or brings it up to date, as `pgjobs migrate` does."""
        await self.driver.migrate()

    async def close(self) -> None:
        await self.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def submit_task(
        self, job: str, payload: Json = None, *, idempotency_key: str | None = None, **options: Any
    ) -> Submitted:
        """One task; `options` as in `submit_tasks`, and its `key`."""
        key = options.pop("key", None)
        options["idempotency_keys"] = None if idempotency_key is None else [idempotency_key]
        options["keys"] = None if key is None else [key]
        payload = {} if payload is None else payload
        return (await self.submit_tasks(job, [payload], **options))[0]

    async def wait_for(
        self, task_id: int, timeout: float | None = None, *, poll: float = 2.0
    ) -> TaskDocument:
        """The task once it has ended, or as it stands when the time is over."""
        ended = asyncio.Event()
        stop = await self.driver.listen(
            "ended", lambda payload: ended.set() if payload in ("", str(task_id)) else None
        )
        try:
            async with asyncio.timeout(timeout):
                while True:
                    await self.driver.call("watch_task", task_id=task_id)
                    task = await self.get_task(task_id)
                    if task.is_ended:
                        return task
                    # A notification can be lost; looking again is the safety net.
                    with suppress(TimeoutError):
                        async with asyncio.timeout(poll):
                            await ended.wait()
                    ended.clear()
        except TimeoutError:
            return await self.get_task(task_id)
        finally:
            stop()

    async def delete_job(
        self,
        job: str,
        *,
        actor: str | None = None,
        reason: str | None = None,
        batch: int | None = None,
        dry_run: bool = False,
    ) -> int:
        """Removes a job and all of its tasks for good, batch by batch; how many tasks went, or would go."""
        removed = 0
        while True:
            rows = await self.driver.call(
                "delete_job", job=job, actor=actor, reason=reason, batch=batch, dry_run=dry_run or None
            )
            removed += int(rows[0]["removed"])
            if rows[0]["is_done"]:
                return removed
