"""One LISTEN connection per process: it reconnects by itself and tests itself."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pgjobs.drivers.base import Wake

log = logging.getLogger("pgjobs.listener")


class Listener:
    """Passes notifications on to whoever subscribed. After a gap everybody is woken with an empty payload."""

    def __init__(
        self, connect: Callable[[], Awaitable[Any]], schema: str, *, self_test_seconds: float = 30.0
    ) -> None:
        self._connect = connect
        self._schema = schema
        self._self_test_seconds = self_test_seconds
        self._subscribers: dict[str, set[Wake]] = {}
        self._listened: set[str] = set()
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._echo = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._connection: Any = None

    async def subscribe(self, channel: str, wake: Wake) -> Callable[[], None]:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="pgjobs listener")
        wakes = self._subscribers.setdefault(channel, set())
        wakes.add(wake)
        if channel not in self._listened:
            self._ready.clear()
            self._wanted.set()
        with suppress(TimeoutError):
            # wait_for of Python 3.11 would lose a cancellation that comes together with the event.
            async with asyncio.timeout(5):
                await self._ready.wait()
        return lambda: wakes.discard(wake)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    @property
    def is_alive(self) -> bool:
        """Whether it has its connection, or nobody has asked it to listen yet."""
        return self._task is None or (self._connection is not None and not self._connection.is_closed())

    async def _run(self) -> None:
        delay = 0.1
        while True:
            try:
                await self._serve()
            except Exception as error:
                log.warning("listener lost its connection: %s", type(error).__name__)
            self._ready.clear()
            self._listened.clear()
            await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311
            delay = min(delay * 2, 5.0) if self._connection is None else 0.1
            self._connection = None

    async def _serve(self) -> None:
        connection = await self._connect()
        self._connection = connection
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(f"{self._schema}.echo", lambda *_: self._echo.set())
            while not lost.is_set():
                self._wanted.clear()
                for channel in set(self._subscribers) - self._listened:
                    await connection.add_listener(f"{self._schema}.{channel}", self._pass_on)
                    self._listened.add(channel)
                    self._wake(channel, "")
                # Whoever subscribed during one of these awaits is not listened for yet.
                if not self._wanted.is_set():
                    self._ready.set()
                    await self._idle(connection, lost)
        finally:
            if not connection.is_closed():
                connection.terminate()

    async def _idle(self, connection: Any, lost: asyncio.Event) -> None:
        """Until somebody subscribes anew, the connection goes, or it is time to test it."""
        waits = [asyncio.ensure_future(self._wanted.wait()), asyncio.ensure_future(lost.wait())]
        try:
            done, _ = await asyncio.wait(
                waits, timeout=self._self_test_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for wait in waits:
                wait.cancel()
        if not done:
            # A connection can be dead without anybody having said so.
            self._echo.clear()
            async with asyncio.timeout(5):
                await connection.execute(f'notify "{self._schema}.echo"')
                await self._echo.wait()

    def _pass_on(self, _connection: Any, _pid: int, channel: str, payload: Any) -> None:
        self._wake(channel.partition(".")[2], str(payload))

    def _wake(self, channel: str, payload: str) -> None:
        for wake in list(self._subscribers.get(channel, ())):
            wake(payload)
