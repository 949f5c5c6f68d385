"""Several queues looked at together: all are asked, one that is away is named, ordered answers are merged."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import asyncpg

from pgjobs.drivers.transient import TRANSIENT
from pgjobs.errors import DatabaseUnavailable, PgJobsError, SchemaBehind, SchemaChanged
from pgjobs.queue.server import ServerQueue

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Ask = Callable[[str, ServerQueue], Awaitable[Answer]]

PATIENCE_SECONDS = 3.0
"""How long a cell may take to answer a list."""
PAUSE_SECONDS, LONG_PAUSE_SECONDS = 1.0, 10.0
"""How long a cell that was away is not asked; longer where asking took all of that patience."""
_AWAY = (*TRANSIENT, asyncpg.PostgresError, DatabaseUnavailable, SchemaBehind, SchemaChanged)


@dataclass(frozen=True)
class Answers(Generic[Answer]):
    """What the cells said, by name, and why those that are missing said nothing."""

    by_cell: dict[str, Answer]
    missing: dict[str, str]

    @property
    def told(self) -> str:
        """Who is missing, in words; nothing if nobody is."""
        if not self.missing:
            return ""
        said = ", ".join(f"{cell} ({why})" for cell, why in self.missing.items())
        return f"Not shown, because it cannot be asked: {said}"


class Cells:
    """Queues by name; the first is home to whatever names no cell."""

    def __init__(
        self, queues: Mapping[str, ServerQueue], *, away: dict[str, tuple[float, str]] | None = None
    ) -> None:
        self.queues = dict(queues)
        self._away = {} if away is None else away

    @property
    def home(self) -> str:
        return next(iter(self.queues))

    def only(self, cell: str) -> Cells:
        """One of them, asked in the same way."""
        return Cells({cell: self.queues[cell]}, away=self._away)

    def confined_to(self, rooms: Sequence[str] | None) -> Cells:
        """The same cells for a member of these rooms; None is for whoever sees all."""
        if rooms is None:
            return self
        confined = {cell: queue.confined_to(rooms) for cell, queue in self.queues.items()}
        return Cells(confined, away=self._away)

    async def ask(self, ask: Callable[[ServerQueue], Awaitable[Answer]]) -> Answers[Answer]:
        """Asks every cell at once; what one of them refuses is raised if none has an answer."""
        return await self.ask_each(lambda _cell, queue: ask(queue))

    async def ask_each(self, ask: Ask[Answer], patience: float = PATIENCE_SECONDS) -> Answers[Answer]:
        """The same, with the cell's name."""
        outcomes = await asyncio.gather(*(self._one(cell, ask, patience) for cell in self.queues))
        by_cell: dict[str, Answer] = {}
        missing: dict[str, str] = {}
        refusals: list[PgJobsError] = []
        for cell, outcome in zip(self.queues, outcomes, strict=True):
            if isinstance(outcome, _Away):
                missing[cell] = outcome.why
            elif isinstance(outcome, _Refused):
                refusals.append(outcome.refusal)
            else:
                by_cell[cell] = outcome
        # One that cannot be asked might not have refused.
        if refusals and not by_cell and not missing:
            raise refusals[0]
        return Answers(by_cell, missing)

    async def _one(self, cell: str, ask: Ask[Answer], patience: float) -> Answer | _Away | _Refused:
        until, why = self._away.get(cell, (0.0, ""))
        if time.monotonic() < until:
            return _Away(why)
        if why:
            # One finds out for all others, which do not wait.
            self._away[cell] = (time.monotonic() + patience, why)
        try:
            async with asyncio.timeout(patience):
                answer = await ask(cell, self.queues[cell])
        except _AWAY as error:
            # Not its text, which may tell strangers about the database.
            why = type(error).__name__
            pause = LONG_PAUSE_SECONDS if isinstance(error, TimeoutError) else PAUSE_SECONDS
            self._away[cell] = (time.monotonic() + pause, why)
            return _Away(why)
        except PgJobsError as refusal:
            self._away.pop(cell, None)
            return _Refused(refusal)
        self._away.pop(cell, None)
        return answer


@dataclass(frozen=True)
class _Refused:
    refusal: PgJobsError


@dataclass(frozen=True)
class _Away:
    why: str


def merged(
    streams: Mapping[str, Sequence[Item]], key: Callable[[Item], Any], limit: int | None = None
) -> list[tuple[str, Item]]:
    """Items with their cells, in order: each stream must be ordered by the key already."""
    named: Iterable[Iterable[tuple[Any, str, int, Item]]] = (
        # The place keeps apart what the key does not.
        [(key(item), cell, place, item) for place, item in enumerate(items)]
        for cell, items in streams.items()
    )
    return [(cell, item) for _, cell, _, item in heapq.merge(*named)][:limit]
