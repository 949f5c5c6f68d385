"""The generic job manager: background jobs by domain, queue and job type."""

from __future__ import annotations

from pgjobs.contrib.manager.jobs import JobManager
from pgjobs.contrib.manager.outcomes import Completed, Failure, Outcome
from pgjobs.contrib.manager.settings import ManagerSettings, OnLostLease, backend_for
from pgjobs.queue.records import GenericJob

__all__ = [
    "Completed",
    "Failure",
    "GenericJob",
    "JobManager",
    "ManagerSettings",
    "OnLostLease",
    "Outcome",
    "backend_for",
]
