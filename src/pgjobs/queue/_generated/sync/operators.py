"""`Operators` for callers without an event loop.

Written by `make verbs`, from the SQL files; change those.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgjobs.queue.operators import Operators
from pgjobs.queue.records import CleanupsFound
from pgjobs.queue.run_sync import run


class BlockingOperators:
    """The same as `Operators`, blocking."""

    _wrapped: Operators

    def find_cleanups(
        self,
        *,
        statuses: Sequence[str] | None = None,
        target_types: Sequence[str] | None = None,
        of_node: str | None = None,
        of_job: str | None = None,
        of_kind: str | None = None,
        page_size: int | None = None,
        page_offset: int | None = None,
    ) -> CleanupsFound:
        """A page of cleanup tasks, and how many there are on all pages."""
        return run(
            self._wrapped.find_cleanups(
                statuses=statuses,
                target_types=target_types,
                of_node=of_node,
                of_job=of_job,
                of_kind=of_kind,
                page_size=page_size,
                page_offset=page_offset,
            )
        )

    def revoke_room(self, role: str, room: str) -> bool:
        """Closes a room to a tenant's role; whether it was open before."""
        return run(self._wrapped.revoke_room(role, room))
