"""Cron expressions in words, for people to read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cronsim import CronSim

_SHORT = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
_RANGE = re.compile(r"(\w+)-(\w+)/\d+")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NAMED = {name: n for n, name in enumerate(_MONTHS, 1)} | {name: n for n, name in enumerate(_WEEKDAYS)}
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def fields(cron: str) -> str:
    """The five fields of an expression that the database accepts, written as cronsim wants them."""
    written = " ".join(cron.upper().split())
    return _RANGE.sub(_without_step_if_one, _SHORT.get(written, written))


def _without_step_if_one(span: re.Match[str]) -> str:
    """A range of one with a step is that one; cronsim would continue to the highest."""
    first, last = (_NAMED[word] if word in _NAMED else int(word) for word in span.groups())
    return span[1] if first == last else span[0]


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
