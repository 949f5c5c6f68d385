"""The queue and the job manager for callers without an event loop: the same methods, none of them awaited."""

from pgjobs.contrib.manager.sync import JobManager
from pgjobs.queue.sync import Operators, Queue

__all__ = ["JobManager", "Operators", "Queue"]
