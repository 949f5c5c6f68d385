"""A driver that acts for somebody who may see some rooms only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.errors import Forbidden, InvalidArgument

MEMBER_VERBS = frozenset(
    {
        "answer_read",
        "append_log",
        "call_tasks",
        "cancel_workflow",
        "claim_and_show",
        "count_found_tasks",
        "count_jobs",
        "count_providers",
        "count_schedules",
        "count_tasks",
        "count_workers",
        "find_tasks",
        "get_job",
        "get_provider",
        "get_schedule",
        "get_sharing",
        "get_task",
        "get_workflow",
        "get_workflow_graph",
        "heartbeat_and_show",
        "heartbeat_worker",
        "inspect_task",
        "inspect_worker",
        "jobs_status",
        "list_attempts",
        "list_events",
        "list_jobs",
        "list_keys",
        "list_log",
        "list_metrics",
        "list_providers",
        "list_schedules",
        "list_task_events",
        "list_workers",
        "list_workflow_tasks",
        "list_workflows",
        "mark_waiting",
        "overview",
        "preview_schedule",
        "providers_status",
        "register_job",
        "register_provider",
        "register_worker",
        "request_read",
        "retire_provider",
        "retire_worker",
        "save_step",
        "send_signal",
        "show_flow",
        "show_steps",
        "show_task",
        "show_tasks",
        "show_why",
        "show_workers",
        "submit_and_show",
        "submit_workflow",
        "suspend_task",
        "throughput",
        "unmark_waiting",
        "update_task",
        "watch_events",
        "why",
    }
)
"""What a member of some rooms may call: each asks SQL's `_rooms()`, or has nothing to do with rooms."""


class ConfinedDriver(Driver):
    """Calls verbs for a member of these rooms: SQL shows and changes nothing of the others."""

    def __init__(self, driver: Driver, rooms: Sequence[str]) -> None:
        if not driver.can_confine:
            raise InvalidArgument("Closed rooms need Postgres", hint="Set PGJOBS_ROOM_ACCESS=open.")
        self.schema = driver.schema
        self._driver = driver
        self._rooms = list(rooms)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        if verb not in MEMBER_VERBS:
            raise Forbidden("Only who sees every room may do this")
        return await self._driver.call_in_rooms(self._rooms, verb, **arguments)

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        return await self._driver.listen(channel, wake)

    async def migrate(self) -> None:
        raise Forbidden("Only who sees every room may do this")

    async def close(self) -> None:
        """The connections belong to the driver behind this one."""
