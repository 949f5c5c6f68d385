"""Times as Postgres has them and Python has not: before the year 1, after 9999, infinite.

No verb writes one, but whoever writes around the verbs can; one such row must not keep
anybody from reading the others. They are read as the first or last day that Python knows,
with room for every time zone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

FIRST = datetime(1, 1, 2, tzinfo=UTC)
LAST = datetime(9999, 12, 31, tzinfo=UTC)

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (FIRST - _EPOCH) // _MICROSECOND
_LAST = (LAST - _EPOCH) // _MICROSECOND
_LONGEST = timedelta(days=3_650_000)

Init = Callable[[Any], Awaitable[None]]


def reading_any_time(init: Init | None) -> Init:
    """What a pool does with a new connection: `init`, and then it can read any time."""

    async def initialised(connection: Any) -> None:
        if init is not None:
            await init(connection)
        # Known to asyncpg, so this asks the database nothing. It costs a tenth of a microsecond a value.
        await connection.set_type_codec(
            "timestamptz", schema="pg_catalog", format="tuple", encoder=_to_tuple, decoder=_from_tuple
        )
        await connection.set_type_codec(
            "interval", schema="pg_catalog", format="tuple", encoder=_to_parts, decoder=_from_parts
        )

    return initialised


def _from_tuple(value: tuple[int]) -> datetime:
    microseconds = value[0]
    if microseconds > _LAST:
        return LAST
    return FIRST if microseconds < _FIRST else _EPOCH + timedelta(0, 0, microseconds)


def _to_tuple(time: datetime) -> tuple[int]:
    return (((time if time.tzinfo else time.astimezone()) - _EPOCH) // _MICROSECOND,)


def _from_parts(value: tuple[int, int, int]) -> timedelta:
    """As asyncpg does it: a year of 365 days, a month of 30."""
    months, days, microseconds = value
    years, months = (months // 12, months % 12) if months >= 0 else (-(-months // 12), -(-months % 12))
    days += 365 * years + 30 * months
    if abs(days) > _LONGEST.days:
        return _LONGEST if days > 0 else -_LONGEST
    return timedelta(days, 0, microseconds)


def _to_parts(duration: timedelta) -> tuple[int, int, int]:
    return 0, duration.days, duration.seconds * 1_000_000 + duration.microseconds
