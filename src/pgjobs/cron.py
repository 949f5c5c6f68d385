"""Cron expressions outside Postgres: what SQLite's verbs go by, and what people read.

The rules are those of `sql/postgres/internal/cron.sql`; cronsim knows the same ones.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

_SHORT = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
_NUMBERS = r"(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,3})?"
_WORDS = r"(?:\*|(?:\d{1,2}|[A-Z]{3})(?:-(?:\d{1,2}|[A-Z]{3}))?)(?:/\d{1,3})?"
_FIELDS = tuple(
    re.compile(rf"(?:{item})(?:,(?:{item}))*")
    for item in (
        _NUMBERS,
        _NUMBERS,
        rf"LW?|{_NUMBERS}",
        _WORDS,
        rf"[0-7]L|(?:[0-7]|[A-Z]{{3}})#[1-5]|{_WORDS}",
    )
)
_PLACE = re.compile(r"UTC|Etc/GMT(?:[+-]\d{1,2})?|[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_-]*)+")
_RANGE = re.compile(r"(\w+)-(\w+)/\d+")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NAMED = {name: n for n, name in enumerate(_MONTHS, 1)} | {name: n for n, name in enumerate(_WEEKDAYS)}
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@lru_cache(maxsize=256)
def fields(cron: str) -> str:
    """The five fields of an expression, written as cronsim wants them; ValueError for anything else."""
    words = " ".join(cron.upper().split())
    written = _SHORT.get(words, words).split(" ")
    if len(written) != len(_FIELDS) or not all(map(_is_read, range(len(_FIELDS)), written)):
        raise ValueError(f"{cron[:200]!r} is no cron expression")
    return _RANGE.sub(_without_step_if_one, " ".join(written))


def _without_step_if_one(span: re.Match[str]) -> str:
    """A range of one with a step is that one; cronsim would go on to the highest."""
    first, last = (_NAMED[word] if word in _NAMED else int(word) for word in span.groups())
    return span[1] if first == last else span[0]


def _is_read(place: int, field: str) -> bool:
    """Whether cronsim reads a field, and it says nothing that only cronsim would."""
    alone = ["*"] * len(_FIELDS)
    alone[place] = field
    try:
        CronSim(" ".join(alone), _ANY_TIME)
    except CronSimError:
        return False
    return _FIELDS[place].fullmatch(field) is not None


@lru_cache(maxsize=256)
def zone(timezone: str) -> ZoneInfo:
    """The clocks of a place; ValueError where there is none."""
    try:
        if _PLACE.fullmatch(timezone):
            return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, OSError):
        pass
    raise ValueError(f"There is no time zone {timezone[:200]!r}")


def next_time(cron: str, timezone: str, after: datetime) -> datetime | None:
    """The next time an expression names, None if none comes in fifty years."""
    try:
        times = CronSim(fields(cron), after.astimezone(zone(timezone)))
        # Where clocks are set back, cronsim may name a time that is over.
        return next((utc for time in times if (utc := time.astimezone(UTC)) > after), None)
    except CronSimError:
        return None


@lru_cache(maxsize=256)
def words(cron: str | None, every: timedelta | None) -> str:
    """A schedule as people say it."""
    if cron is not None:
        return CronSim(fields(cron), _ANY_TIME).explain()
    assert every is not None
    seconds = every.total_seconds()
    length, unit = next((pair for pair in _UNITS if seconds % pair[0] == 0), _UNITS[-1])
    count = seconds / length
    return f"Every {unit}" if count == 1 else f"Every {count:g} {unit}s"
