"""The verbs of operators.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from pgjobs.drivers import Driver
from pgjobs.queue._generated.records.durable import Step
from pgjobs.queue._generated.records.operators import (
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
from pgjobs.queue._generated.records.tasks import LogLine, NextPage
from pgjobs.queue.base import Json


class OperatorVerbs:
    """The verbs of operators."""

    driver: Driver

    async def blockers(self) -> list[Blocker]:
        """Sessions and slots that keep dead rows from being removed."""
        rows = await self.driver.call(
            "blockers",
        )
        return Blocker.each(rows)

    async def errors(self, of_job: str | None = None) -> list[ErrorGroup]:
        """Failed attempts by fingerprint."""
        rows = await self.driver.call("errors", of_job=of_job)
        return ErrorGroup.each(rows)

    async def failed(self) -> list[FailedTask]:
        """The newest failed tasks."""
        rows = await self.driver.call(
            "failed",
        )
        return FailedTask.each(rows)

    async def findings(self) -> list[Finding]:
        """Issues found."""
        rows = await self.driver.call(
            "findings",
        )
        return Finding.each(rows)

    async def jobs_status(
        self, of_jobs: Sequence[int] | None = None, *, with_times: bool | None = None
    ) -> list[JobStatus]:
        """Every job with what waits, runs and ended."""
        rows = await self.driver.call("jobs_status", of_jobs=of_jobs, with_times=with_times)
        return JobStatus.each(rows)

    async def list_log(
        self,
        task_id: int,
        *,
        of_attempt: int | None = None,
        after: int | None = None,
        newest: bool | None = None,
        page_size: int | None = None,
    ) -> list[LogLine]:
        """The log lines of a task."""
        rows = await self.driver.call(
            "list_log",
            task_id=task_id,
            of_attempt=of_attempt,
            after=after,
            newest=newest,
            page_size=page_size,
        )
        return LogLine.each(rows)

    async def next_cursor(self, task_ids: Sequence[int], cursor: str | None = None) -> NextPage:
        """Where a page of a list ended."""
        rows = await self.driver.call("next_cursor", task_ids=task_ids, cursor=cursor)
        return NextPage.of(rows[0])

    async def overview(self) -> Overview:
        """The queue in one row."""
        rows = await self.driver.call(
            "overview",
        )
        return Overview.of(rows[0])

    async def providers_status(self) -> list[ProviderStatus]:
        """Registered providers and their answers."""
        rows = await self.driver.call(
            "providers_status",
        )
        return ProviderStatus.each(rows)

    async def running(self) -> list[RunningTask]:
        """Claimed and running tasks."""
        rows = await self.driver.call(
            "running",
        )
        return RunningTask.each(rows)

    async def scheduled_tasks(self) -> list[ScheduledTask]:
        """The next tasks that become due."""
        rows = await self.driver.call(
            "scheduled_tasks",
        )
        return ScheduledTask.each(rows)

    async def show_flow(self, task_uuid: UUID) -> Json:
        """Steps, parents and children of a task in one document."""
        rows = await self.driver.call("show_flow", task_uuid=task_uuid)
        document: Json = rows[0]["document"]
        return document

    async def show_steps(
        self,
        task_uuid: UUID,
        *,
        token: UUID | None = None,
        after: int | None = None,
        page_size: int | None = None,
    ) -> list[Step]:
        """The steps of a task as HTTP shows them."""
        rows = await self.driver.call(
            "show_steps", task_uuid=task_uuid, token=token, after=after, page_size=page_size
        )
        return Step.each(rows)

    async def storage(self) -> list[TableHealth]:
        """The health of every table."""
        rows = await self.driver.call(
            "storage",
        )
        return TableHealth.each(rows)

    async def stuck(self) -> list[StuckTask]:
        """Tasks that should have moved."""
        rows = await self.driver.call(
            "stuck",
        )
        return StuckTask.each(rows)

    async def throughput(
        self, of_job: str | None = None, *, since: timedelta | None = None, step: timedelta | None = None
    ) -> list[Throughput]:
        """Throughput: what ended in each minute."""
        rows = await self.driver.call("throughput", of_job=of_job, since=since, step=step)
        return Throughput.each(rows)

    async def top(self) -> list[TopJob]:
        """The busiest jobs on a narrow screen."""
        rows = await self.driver.call(
            "top",
        )
        return TopJob.each(rows)

    async def waiting(self) -> list[WaitingTask]:
        """The first ten due tasks of every lane."""
        rows = await self.driver.call(
            "waiting",
        )
        return WaitingTask.each(rows)

    async def why(self, task_id: int | None = None, *, task_uuid: UUID | None = None) -> list[Reason]:
        """Why a task is where it is."""
        rows = await self.driver.call("why", task_id=task_id, task_uuid=task_uuid)
        return Reason.each(rows)

    async def workers_status(self) -> list[WorkerStatus]:
        """Registered workers and what they hold."""
        rows = await self.driver.call(
            "workers_status",
        )
        return WorkerStatus.each(rows)
