"""The queue for callers without an event loop: the same methods, none of them awaited."""

from __future__ import annotations

import time
from typing import Any, Self

from pgjobs.queue import operators, queue
from pgjobs.queue._generated.sync.cleanup import BlockingCleanupVerbs
from pgjobs.queue._generated.sync.durable import BlockingDurableVerbs
from pgjobs.queue._generated.sync.flow import BlockingFlowVerbs
from pgjobs.queue._generated.sync.job import BlockingJobVerbs
from pgjobs.queue._generated.sync.lease import BlockingLeaseVerbs
from pgjobs.queue._generated.sync.operator import BlockingOperatorVerbs
from pgjobs.queue._generated.sync.operators import BlockingOperators
from pgjobs.queue._generated.sync.queue import BlockingQueue
from pgjobs.queue._generated.sync.room import BlockingRoomVerbs
from pgjobs.queue._generated.sync.schedule import BlockingScheduleVerbs
from pgjobs.queue._generated.sync.singlelease import BlockingSingleLeaseVerbs
from pgjobs.queue._generated.sync.step import BlockingStepVerbs
from pgjobs.queue._generated.sync.task import BlockingTaskVerbs
from pgjobs.queue._generated.sync.upkeep import BlockingUpkeepVerbs
from pgjobs.queue._generated.sync.worker import BlockingWorkerVerbs
from pgjobs.queue._generated.sync.workflow import BlockingWorkflowVerbs
from pgjobs.queue.blocking import Blocking, driver_for
from pgjobs.queue.records import TaskDocument


class Queue(
    Blocking,
    BlockingQueue,
    BlockingTaskVerbs,
    BlockingSingleLeaseVerbs,
    BlockingLeaseVerbs,
    BlockingStepVerbs,
    BlockingDurableVerbs,
    BlockingWorkflowVerbs,
    BlockingFlowVerbs,
    BlockingJobVerbs,
    BlockingWorkerVerbs,
    BlockingScheduleVerbs,
    BlockingUpkeepVerbs,
):
    """Every method of `pgjobs.Queue`, blocking. Threads may share it."""

    _wrapped: queue.Queue

    @classmethod
    def connect(cls, url: str | None = None, **options: Any) -> Self:
        """Opens a queue by URL: postgresql://…, over psycopg, or sqlite:///file."""
        return cls(queue.Queue(driver_for(url, **options)))

    @property
    def operators(self) -> Operators:
        """The same queue with what operators ask."""
        return Operators(self._wrapped.operators)

    def wait_for(self, task_id: int, timeout: float | None = None, *, poll: float = 0.25) -> TaskDocument:
        """The task once it has ended, or as it stands when the time is over."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            task = self.get_task(task_id)
            left = poll if deadline is None else min(poll, deadline - time.monotonic())
            if task.is_ended or left <= 0:
                return task
            time.sleep(left)


class Operators(Queue, BlockingOperators, BlockingOperatorVerbs, BlockingCleanupVerbs, BlockingRoomVerbs):
    """Every method of `queue.operators`, blocking."""

    _wrapped: operators.Operators

    @classmethod
    def connect(cls, url: str | None = None, **options: Any) -> Self:
        """Opens a queue by URL: postgresql://…, over psycopg, or sqlite:///file."""
        return cls(operators.Operators(driver_for(url, **options)))
