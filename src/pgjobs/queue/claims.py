"""What a claim took, row by row: a payload that nobody here can read fails its task and no other."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from pgjobs.drivers import Driver, Row
from pgjobs.drivers.documents import DIGITS, Unreadable

log = logging.getLogger("pgjobs.claims")

UNREADABLE = (
    f"The payload cannot be read: it has a number of more than {DIGITS} digits, or is nested too deep"
)


async def readable_claim(
    driver: Driver, verb: str, lease: tuple[str, str], /, **arguments: Any
) -> Sequence[Row]:
    """Claims, fails for good what cannot be read, and claims again when nothing else was claimed.

    `lease` are the columns of the task's number and its token.
    """
    id_name, token_name = lease
    while True:
        rows = await driver.call(verb, **arguments)
        unreadable = [row for row in rows if isinstance(row["payload"], Unreadable)]
        if not unreadable:
            return rows
        readable = [row for row in rows if not isinstance(row["payload"], Unreadable)]
        try:
            await driver.call(
                "fail_tasks",
                task_ids=[row[id_name] for row in unreadable],
                tokens=[UUID(str(row[token_name])) for row in unreadable],
                errors=[UNREADABLE] * len(unreadable),
                kinds=["payload_invalid"] * len(unreadable),
                retryable=[False] * len(unreadable),
            )
        except Exception as error:
            if not readable:
                raise
            # Their leases end by themselves; the others are in the caller's hands.
            log.warning("tasks with payloads that cannot be read: %s: %s", type(error).__name__, error)
        if readable:
            return readable
