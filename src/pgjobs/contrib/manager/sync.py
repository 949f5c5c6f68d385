"""The job manager for callers without an event loop: the same methods, none of them awaited."""

from __future__ import annotations

from typing import Any

from pgjobs.contrib.manager import jobs
from pgjobs.contrib.manager._generated.sync.bulkcalls import BlockingBulkCalls
from pgjobs.contrib.manager._generated.sync.jobmanager import BlockingJobManager
from pgjobs.contrib.manager._generated.sync.leasecalls import BlockingLeaseCalls
from pgjobs.contrib.manager._generated.sync.readingcalls import BlockingReadingCalls
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease
from pgjobs.queue import queue, sync
from pgjobs.queue.blocking import Blocking, driver_for


class JobManager(Blocking, BlockingJobManager, BlockingLeaseCalls, BlockingReadingCalls, BlockingBulkCalls):
    """Every method of `pgjobs.JobManager`, blocking: over psycopg, or a SQLite file."""

    _wrapped: jobs.JobManager

    def __init__(
        self,
        url: str | None = None,
        *,
        settings: ManagerSettings | None = None,
        on_lost_lease: OnLostLease | None = None,
        **options: Any,
    ) -> None:
        asynchronous = queue.Queue(driver_for(url, **options))
        super().__init__(jobs.JobManager(asynchronous, settings, on_lost_lease=on_lost_lease))

    @property
    def queue(self) -> sync.Queue:
        return sync.Queue(self._wrapped.queue)

    @property
    def settings(self) -> ManagerSettings:
        return self._wrapped.settings
