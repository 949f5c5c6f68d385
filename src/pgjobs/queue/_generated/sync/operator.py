"""`OperatorVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

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
from pgjobs.queue._generated.verbs.operators import OperatorVerbs
from pgjobs.queue.base import Json
from pgjobs.queue.run_sync import run


class BlockingOperatorVerbs:
    """The same as `OperatorVerbs`, blocking."""

    _wrapped: OperatorVerbs

    def blockers(self) -> list[Blocker]:
        """Sessions and slots that keep dead rows from being removed."""
        return run(self._wrapped.blockers())

    def errors(self, of_job: str | None = None) -> list[ErrorGroup]:
        """Failed attempts by fingerprint."""
        return run(self._wrapped.errors(of_job))

    def failed(self) -> list[FailedTask]:
        """The newest failed tasks."""
        return run(self._wrapped.failed())

    def findings(self) -> list[Finding]:
        """Issues found."""
        return run(self._wrapped.findings())

    def jobs_status(
        self, of_jobs: Sequence[int] | None = None, *, with_times: bool | None = None
    ) -> list[JobStatus]:
        """Every job with what waits, runs and ended."""
        return run(self._wrapped.jobs_status(of_jobs, with_times=with_times))

    def list_log(
        self,
        task_id: int,
        *,
        of_attempt: int | None = None,
        after: int | None = None,
        newest: bool | None = None,
        page_size: int | None = None,
    ) -> list[LogLine]:
        """The log lines of a task."""
        return run(
            self._wrapped.list_log(
                task_id, of_attempt=of_attempt, after=after, newest=newest, page_size=page_size
            )
        )

    def next_cursor(self, task_ids: Sequence[int], cursor: str | None = None) -> NextPage:
        """Where a page of a list ended."""
        return run(self._wrapped.next_cursor(task_ids, cursor))

    def overview(self) -> Overview:
        """The queue in one row."""
        return run(self._wrapped.overview())

    def providers_status(self) -> list[ProviderStatus]:
        """Registered providers and their answers."""
        return run(self._wrapped.providers_status())

    def running(self) -> list[RunningTask]:
        """Claimed and running tasks."""
        return run(self._wrapped.running())

    def scheduled_tasks(self) -> list[ScheduledTask]:
        """The next tasks that become due."""
        return run(self._wrapped.scheduled_tasks())

    def show_flow(self, task_uuid: UUID) -> Json:
        """Steps, parents and children of a task in one document."""
        return run(self._wrapped.show_flow(task_uuid))

    def show_steps(
        self,
        task_uuid: UUID,
        *,
        token: UUID | None = None,
        after: int | None = None,
        page_size: int | None = None,
    ) -> list[Step]:
        """The steps of a task as HTTP shows them."""
        return run(self._wrapped.show_steps(task_uuid, token=token, after=after, page_size=page_size))

    def storage(self) -> list[TableHealth]:
        """The health of every table."""
        return run(self._wrapped.storage())

    def stuck(self) -> list[StuckTask]:
        """Tasks that should have moved."""
        return run(self._wrapped.stuck())

    def throughput(
        self, of_job: str | None = None, *, since: timedelta | None = None, step: timedelta | None = None
    ) -> list[Throughput]:
        """Throughput: what ended in each minute."""
        return run(self._wrapped.throughput(of_job, since=since, step=step))

    def top(self) -> list[TopJob]:
        """The busiest jobs on a narrow screen."""
        return run(self._wrapped.top())

    def waiting(self) -> list[WaitingTask]:
        """The first ten due tasks of every lane."""
        return run(self._wrapped.waiting())

    def why(self, task_id: int | None = None, *, task_uuid: UUID | None = None) -> list[Reason]:
        """Why a task is where it is."""
        return run(self._wrapped.why(task_id, task_uuid=task_uuid))

    def workers_status(self) -> list[WorkerStatus]:
        """Registered workers and what they hold."""
        return run(self._wrapped.workers_status())
