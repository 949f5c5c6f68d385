"""The verbs of operators: why a task waits, and how the queue is doing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue.operator_records import (
    Blocker,
    ErrorGroup,
    FailedTask,
    Finding,
    JobStatus,
    Overview,
    ProviderStatus,
    Reason,
    RunningTask,
    ScheduledTask,
    StuckTask,
    TableHealth,
    Throughput,
    TopJob,
    WaitingTask,
    WorkerStatus,
)


class OperatorVerbs:
    """The part of `Queue` that operators look through. Postgres has a view of each name."""

    driver: Driver

    async def why(self, task_id: int | None = None, *, task_uuid: UUID | None = None) -> list[Reason]:
        """Checks in order; the first that is not ok is why the task is where it is."""
        return [Reason.of(row) for row in await self.driver.call("why", task_id=task_id, task_uuid=task_uuid)]

    async def overview(self) -> Overview:
        return Overview.of((await self.driver.call("overview"))[0])

    async def findings(self) -> list[Finding]:
        """What should be looked at, the worst first; empty: nothing is known to be wrong."""
        return [Finding.of(row) for row in await self.driver.call("findings")]

    async def top(self) -> list[TopJob]:
        return [TopJob.of(row) for row in await self.driver.call("top")]

    async def jobs_status(
        self, of_jobs: Sequence[int] | None = None, *, with_times: bool | None = None
    ) -> list[JobStatus]:
        """Every job, or those with these numbers, with what waits, runs and ended in the last hour.

        How long that took is most of the work: `with_times=False` leaves it out.
        """
        rows = await self.driver.call("jobs_status", of_jobs=of_jobs, with_times=with_times)
        return [JobStatus.of(row) for row in rows]

    async def workers_status(self) -> list[WorkerStatus]:
        return [WorkerStatus.of(row) for row in await self.driver.call("workers_status")]

    async def providers_status(self) -> list[ProviderStatus]:
        return [ProviderStatus.of(row) for row in await self.driver.call("providers_status")]

    async def throughput(
        self, of_job: str | None = None, *, since: timedelta | None = None, step: timedelta | None = None
    ) -> list[Throughput]:
        """What ended in each step (a minute or more) since then, as far as sweeps have counted it."""
        rows = await self.driver.call("throughput", of_job=of_job, since=since, step=step)
        return [Throughput.of(row) for row in rows]

    async def errors(self, of_job: str | None = None) -> list[ErrorGroup]:
        """Failed attempts of the last week; what differs only in numbers, ids and quotes counts as one."""
        return [ErrorGroup.of(row) for row in await self.driver.call("errors", of_job=of_job)]

    async def running(self) -> list[RunningTask]:
        return [RunningTask.of(row) for row in await self.driver.call("running")]

    async def waiting(self) -> list[WaitingTask]:
        """The first ten due tasks of every lane."""
        return [WaitingTask.of(row) for row in await self.driver.call("waiting")]

    async def scheduled_tasks(self) -> list[ScheduledTask]:
        return [ScheduledTask.of(row) for row in await self.driver.call("scheduled_tasks")]

    async def failed(self) -> list[FailedTask]:
        return [FailedTask.of(row) for row in await self.driver.call("failed")]

    async def stuck(self) -> list[StuckTask]:
        return [StuckTask.of(row) for row in await self.driver.call("stuck")]

    async def storage(self) -> list[TableHealth]:
        """How each table is doing, the largest first."""
        return [TableHealth.of(row) for row in await self.driver.call("storage")]

    async def blockers(self) -> list[Blocker]:
        """Who keeps dead rows from being removed."""
        return [Blocker.of(row) for row in await self.driver.call("blockers")]
