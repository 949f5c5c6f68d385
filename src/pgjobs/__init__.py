"""A job system that lives in Postgres."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgjobs.version import VERSION

if TYPE_CHECKING:
    from pgjobs.contrib.manager import GenericJob as GenericJob
    from pgjobs.contrib.manager import JobManager as JobManager
    from pgjobs.contrib.manager import backend_for as backend_for
    from pgjobs.jobs.context import Abort as Abort
    from pgjobs.jobs.context import Blocked as Blocked
    from pgjobs.jobs.context import Snooze as Snooze
    from pgjobs.jobs.context import TaskContext as TaskContext
    from pgjobs.jobs.context import current_task as current_task
    from pgjobs.jobs.handles import TaskCancelled as TaskCancelled
    from pgjobs.jobs.handles import TaskFailed as TaskFailed
    from pgjobs.jobs.handles import TaskHandle as TaskHandle
    from pgjobs.jobs.jobs import Jobs as Jobs
    from pgjobs.queue.queue import Queue as Queue
    from pgjobs.server import get_settings as get_settings
    from pgjobs.server import validate_room_id as validate_room_id
    from pgjobs.server import verify_writable_room as verify_writable_room
    from pgjobs.server.bridge import attach as attach
    from pgjobs.server.bridge import emit as emit
    from pgjobs.upkeep.sweeper import cleanup_worker as cleanup_worker
    from pgjobs.upkeep.sweeper import run_sweeper as run_sweeper
    from pgjobs.worker import Worker as Worker

__version__ = VERSION

_HOMES = {
    "Abort": "pgjobs.jobs.context",
    "Blocked": "pgjobs.jobs.context",
    "GenericJob": "pgjobs.contrib.manager",
    "JobManager": "pgjobs.contrib.manager",
    "Jobs": "pgjobs.jobs.jobs",
    "Queue": "pgjobs.queue.queue",
    "TaskContext": "pgjobs.jobs.context",
    "Snooze": "pgjobs.jobs.context",
    "TaskCancelled": "pgjobs.jobs.handles",
    "TaskFailed": "pgjobs.jobs.handles",
    "TaskHandle": "pgjobs.jobs.handles",
    "Worker": "pgjobs.worker",
    "attach": "pgjobs.server.bridge",
    "backend_for": "pgjobs.contrib.manager",
    "cleanup_worker": "pgjobs.upkeep.sweeper",
    "current_task": "pgjobs.jobs.context",
    "emit": "pgjobs.server.bridge",
    "get_settings": "pgjobs.server",
    "run_sweeper": "pgjobs.upkeep.sweeper",
    "validate_room_id": "pgjobs.server",
    "verify_writable_room": "pgjobs.server",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the command line must start quickly.
    if name == "sync":
        return import_module("pgjobs.sync")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pgjobs' has no attribute {name!r}")
