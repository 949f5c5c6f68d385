"""`SingleLeaseVerbs` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from datetime import timedelta

from pgjobs.queue._generated.records.tasks import Acknowledged, Failed, Renewed, Started
from pgjobs.queue.base import Json
from pgjobs.queue.held import OneHeld
from pgjobs.queue.leases import SingleLeaseVerbs
from pgjobs.queue.run_sync import run


class BlockingSingleLeaseVerbs:
    """The same as `SingleLeaseVerbs`, blocking."""

    _wrapped: SingleLeaseVerbs

    def start_task(self, held: OneHeld) -> Started:
        """Says that work on one task has begun."""
        return run(self._wrapped.start_task(held))

    def renew_task(self, held: OneHeld, lease: timedelta) -> Renewed:
        """Extends one lease."""
        return run(self._wrapped.renew_task(held, lease))

    def complete_task(self, held: OneHeld, result: Json = None) -> Acknowledged:
        """Ends one task successfully."""
        return run(self._wrapped.complete_task(held, result))

    def fail_task(
        self, held: OneHeld, error: str, *, kind: str | None = None, retryable: bool = True
    ) -> Failed:
        """Ends one attempt with an error."""
        return run(self._wrapped.fail_task(held, error, kind=kind, retryable=retryable))

    def release_task(self, held: OneHeld, *, delay: timedelta | None = None) -> Acknowledged:
        """Gives one lease back unused."""
        return run(self._wrapped.release_task(held, delay=delay))
