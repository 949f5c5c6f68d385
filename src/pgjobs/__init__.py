"""A job system that lives in Postgres."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pgjobs.version import VERSION

if TYPE_CHECKING:
    from pgjobs.bridge import attach as attach
    from pgjobs.bridge import emit as emit
    from pgjobs.handles import TaskCancelled as TaskCancelled
    from pgjobs.handles import TaskFailed as TaskFailed
    from pgjobs.handles import TaskHandle as TaskHandle
    from pgjobs.jobs import Jobs as Jobs
    from pgjobs.manager import GenericJob as GenericJob
    from pgjobs.manager import JobManager as JobManager
    from pgjobs.manager import backend_for as backend_for
    from pgjobs.queue import Queue as Queue
    from pgjobs.rest import get_settings as get_settings
    from pgjobs.rest import validate_room_id as validate_room_id
    from pgjobs.rest import verify_writable_room as verify_writable_room
    from pgjobs.running import Abort as Abort
    from pgjobs.running import Blocked as Blocked
    from pgjobs.running import RunningTask as RunningTask
    from pgjobs.running import Snooze as Snooze
    from pgjobs.running import current_task as current_task
    from pgjobs.sweeper import cleanup_worker as cleanup_worker
    from pgjobs.sweeper import run_sweeper as run_sweeper
    from pgjobs.worker import Worker as Worker

__version__ = VERSION

_HOMES = {
    "Abort": "pgjobs.running",
    "Blocked": "pgjobs.running",
    "GenericJob": "pgjobs.manager",
    "JobManager": "pgjobs.manager",
    "Jobs": "pgjobs.jobs",
    "Queue": "pgjobs.queue",
    "RunningTask": "pgjobs.running",
    "Snooze": "pgjobs.running",
    "TaskCancelled": "pgjobs.handles",
    "TaskFailed": "pgjobs.handles",
    "TaskHandle": "pgjobs.handles",
    "Worker": "pgjobs.worker",
    "attach": "pgjobs.bridge",
    "backend_for": "pgjobs.manager",
    "cleanup_worker": "pgjobs.sweeper",
    "current_task": "pgjobs.running",
    "emit": "pgjobs.bridge",
    "get_settings": "pgjobs.rest",
    "run_sweeper": "pgjobs.sweeper",
    "validate_room_id": "pgjobs.rest",
    "verify_writable_room": "pgjobs.rest",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the command line must start quickly.
    if name == "sync":
        return import_module("pgjobs.sync")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pgjobs' has no attribute {name!r}")
