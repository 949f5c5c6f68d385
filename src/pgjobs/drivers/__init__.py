"""Drivers call verbs: one protocol, three ways to reach the SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Row = Mapping[str, Any]
Wake = Callable[[str], None]
"""Called with a notification's payload; with an empty one after notifications may have been missed."""


class Driver(Protocol):
    """Calls verbs by name with named arguments. `None` means SQL's own default."""

    schema: str

    @property
    def dialect(self) -> str:
        """`postgres`, or `sqlite`, which does not have every verb."""
        ...

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]: ...

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        """Calls `wake` on each notification of the channel until the returned function is called."""
        ...

    async def migrate(self) -> None: ...

    async def close(self) -> None: ...
