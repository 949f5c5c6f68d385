"""The generic job manager: background jobs by domain, queue and job type."""

from __future__ import annotations

from pgjobs.generic import GenericJob
from pgjobs.manager.jobs import JobManager
from pgjobs.manager.outcomes import Completed, Failure, Outcome
from pgjobs.manager.settings import ManagerSettings, OnLostLease, backend_for

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
