"""What every driver can do, and the error that says so where one cannot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

from pgjobs.errors import InvalidArgument

Row = Mapping[str, Any]
Wake = Callable[[str], None]
"""Called with a notification's payload; with an empty one after notifications may have been missed."""


class Driver(ABC):
    """Calls verbs by name with named arguments. `None` means SQL's own default."""

    schema: str
    can_confine: bool = False
    """Whether it has `call_in_rooms`."""

    @property
    def dialect(self) -> str:
        """`postgres`, or `sqlite`, which does not have every verb."""
        return "postgres"

    @abstractmethod
    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]: ...

    async def call_in_rooms(self, rooms: Sequence[str], verb: str, /, **arguments: Any) -> Sequence[Row]:
        """One verb on behalf of a member of these rooms, who is shown and changes nothing of the others."""
        raise InvalidArgument("Closed rooms need Postgres", hint="Set PGJOBS_ROOM_ACCESS=open.")

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        """Calls `wake` on each notification of the channel until the returned function is called."""
        raise InvalidArgument("This queue's driver cannot listen", hint="Wait on another queue.")

    @property
    def is_listening(self) -> bool:
        """Whether notifications come, unless nobody waits for any."""
        return True

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """A connection with an open transaction, for work that must commit together with a verb."""
        raise InvalidArgument("This queue's driver has no transactions to share")

    async def twin(self, home: asyncio.AbstractEventLoop) -> Driver:
        """Another driver for the same database, for another thread's event loop; this one lives in `home`."""
        from pgjobs.drivers.borrowed import BorrowedDriver

        return BorrowedDriver(self, home)

    async def require_current(self) -> None:
        """Refuses a database that was not migrated."""
        await self.call("list_workers", page_size=0)

    async def migrate(self) -> None:
        raise InvalidArgument("This queue's driver does not migrate", hint="Run: pgjobs migrate")

    async def close(self) -> None:  # noqa: B027
        """Gives back what it opened; a connection of the caller's stays open."""
