"""The generic job manager: background jobs by domain, queue and job type."""

from __future__ import annotations

from pgjobs.contrib.manager.events import JobEvent, follow_job_events
from pgjobs.contrib.manager.jobs import JobManager
from pgjobs.contrib.manager.outcomes import Completed, Failure, Outcome
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease, backend_for
from pgjobs.contrib.manager.worker import ManagerWorker
from pgjobs.errors import QuotaExceeded
from pgjobs.queue.records import GenericJob

__all__ = [
    "Completed",
    "Failure",
    "GenericJob",
    "JobEvent",
    "JobManager",
    "ManagerSettings",
    "ManagerWorker",
    "OnLostLease",
    "Outcome",
    "QuotaExceeded",
    "backend_for",
    "follow_job_events",
]
