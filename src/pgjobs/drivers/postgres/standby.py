"""Reads from a standby while it is there and near enough, from the primary otherwise."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pgjobs.drivers.base import Driver, Row, Wake
from pgjobs.drivers.postgres.driver import PostgresDriver
from pgjobs.drivers.transient import is_away
from pgjobs.errors import PgJobsError, SchemaBehind
from pgjobs.settings import Settings

log = logging.getLogger("pgjobs.standby")

PROBE_SECONDS = 0.5
ANSWER_SECONDS = 3.0
MOST_MARKS = 1000
_UNKNOWN = "the standby was not asked yet"


@dataclass(frozen=True)
class ReadFrom:
    """Who answered, how old the answer can be, and why it was not the standby."""

    is_standby: bool
    lag_seconds: float = 0.0
    reason: str | None = None

    def __str__(self) -> str:
        if self.is_standby:
            return f"standby; lag={self.lag_seconds:.1f}"
        return f'primary; reason="{self.reason}"'

    @property
    def words(self) -> str:
        """For people."""
        if self.is_standby:
            return f"Read from a standby, up to {self.lag_seconds:.1f} s behind."
        return f"Read from the primary: {self.reason}."


class Standby:
    """A standby, and what is known of it: up to which moment it shows all that was committed.

    Moments are those of this process. Now and then the primary is asked how far its log has come;
    once the standby has come as far, it shows what was committed when the question was asked.
    So an idle primary makes no standby look late, and no two clocks are compared.
    """

    def __init__(self, primary: Driver, driver: PostgresDriver, *, max_lag_seconds: float) -> None:
        self.primary, self.driver = primary, driver
        self.trouble: str | None = _UNKNOWN
        self._max_lag = max_lag_seconds
        self._marks: deque[tuple[float, int]] = deque(maxlen=MOST_MARKS)
        self._shows_until: float | None = None
        self._is_primary_away = False
        self._watching: asyncio.Task[None] | None = None

    @property
    def lag_seconds(self) -> float | None:
        """For how long at most the standby lacks what is committed; None if that is not known."""
        return None if self._shows_until is None else max(0.0, time.time() - self._shows_until)

    def choose(self, written_at: float | None = None) -> ReadFrom:
        """Who answers a reader who has written at this moment last."""
        lag = self.lag_seconds
        if self.trouble is not None or lag is None or self._shows_until is None:
            return ReadFrom(False, reason=self.trouble or _UNKNOWN)
        if written_at is not None and self._shows_until <= written_at:
            return ReadFrom(False, reason="you have just written")
        if lag > self._max_lag and not self._is_primary_away:
            return ReadFrom(False, reason=f"the standby is {lag:.1f} s behind")
        return ReadFrom(True, lag)

    async def start(self) -> None:
        """Looks once, so that the first reader is answered well, and then from time to time."""
        await self.look()
        self._watching = asyncio.create_task(self._watch(), name="pgjobs standby")

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        await self.driver.close()

    async def look(self) -> None:
        """Asks both how far they are."""
        asked_at = time.time()
        try:
            primary = await self._position(self.primary)
            self._marks.append((asked_at, primary["written"]))
            self._is_primary_away = False
        except Exception as error:
            # Without it nobody can say how late the standby is: it is better than no answer.
            self._is_primary_away = is_away(error)
        try:
            standby = await self._position(self.driver)
        except Exception as error:
            self.fail(error)
            return
        if not standby["is_standby"]:
            # A new primary, or an old one that follows nobody any more: the next connection may be right.
            await self.driver.forget_connections()
            self._say("PGJOBS_READ_URL leads to no standby")
            return
        while self._marks and self._marks[0][1] <= standby["written"]:
            self._shows_until = self._marks.popleft()[0]
        self._say(None)

    def fail(self, error: BaseException) -> None:
        """The standby cannot answer."""
        self._say(
            "the standby needs pgjobs migrate" if isinstance(error, SchemaBehind) else "the standby is away"
        )

    def _say(self, trouble: str | None) -> None:
        if self.trouble not in (trouble, _UNKNOWN):
            log.warning("%s", trouble or "the standby answers again")
        self.trouble = trouble

    async def _position(self, driver: Driver) -> Row:
        async with asyncio.timeout(ANSWER_SECONDS):
            return (await driver.call("replication_position"))[0]

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PROBE_SECONDS)
            await self.look()


class ReadDriver(Driver):
    """Asks a standby for one reader: the primary answers what the standby may not know, or cannot answer."""

    can_confine = True

    def __init__(
        self,
        standby: Standby,
        *,
        written_at: float | None = None,
        answered: Callable[[ReadFrom], None] | None = None,
    ) -> None:
        self.schema = standby.primary.schema
        self._standby = standby
        self._written_at = written_at
        self._answered = answered or (lambda _: None)

    async def call(self, verb: str, /, **arguments: Any) -> Sequence[Row]:
        return await self._ask(lambda driver: driver.call(verb, **arguments))

    async def call_in_rooms(self, rooms: Sequence[str], verb: str, /, **arguments: Any) -> Sequence[Row]:
        return await self._ask(lambda driver: driver.call_in_rooms(rooms, verb, **arguments))

    async def _ask(self, question: Callable[[Driver], Any]) -> Sequence[Row]:
        chosen = self._standby.choose(self._written_at)
        rows: Sequence[Row]
        if chosen.is_standby:
            try:
                rows = await question(self._standby.driver)
            except PgJobsError as error:
                # What is not there yet may be there on the primary, and any other refusal is repeated.
                if isinstance(error, SchemaBehind):
                    self._standby.fail(error)
                chosen = ReadFrom(False, reason="the standby refused")
            except Exception as error:
                # Cut off, or taken back: what the primary has removed may not wait for a long question.
                if not is_away(error):
                    raise
                chosen = ReadFrom(False, reason="the standby gave no answer")
            else:
                self._answered(chosen)
                return rows
        rows = await question(self._standby.primary)
        self._answered(chosen)
        return rows

    async def listen(self, channel: str, wake: Wake) -> Callable[[], None]:
        """Nobody is notified on a standby: whoever waits looks again from time to time."""
        return lambda: None

    async def close(self) -> None:
        """The connections belong to the standby."""


async def open_standby(primary: Driver, settings: Settings) -> Standby:
    """The standby of `PGJOBS_READ_URL`, whether it can be reached now or not."""
    assert settings.read_url is not None
    driver = await PostgresDriver.connect(
        settings.read_url.get_secret_value(), schema=primary.schema, min_size=0, is_pooled=settings.is_pooled
    )
    return Standby(primary, driver, max_lag_seconds=settings.read_max_lag_seconds)
