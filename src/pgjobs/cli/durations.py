"""Durations as people write them: 90s, 5m, 2h, 7d."""

from __future__ import annotations

import re
from datetime import timedelta

import typer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def duration(text: str) -> timedelta:
    """Reads `1h30m` and the like."""
    if not _DURATION.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a duration such as 90s, 5m, 2h or 7d")
    try:
        return timedelta(**{_UNITS[unit]: float(number) for number, unit in _PART.findall(text)})
    except OverflowError:
        raise typer.BadParameter(f"{text!r} is too long") from None
