"""What a migration locks, as `pgjobs migrate --dry-run` tells before anything is done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgjobs.schema.script import IN_BATCHES, OUTSIDE_TRANSACTION, Script
from pgjobs.schema.statements import split

_QUOTED = re.compile(r"'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_TABLE = r"(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?\w+\.(\w+)"
_CREATED = re.compile(rf"create\s+(?:unlogged\s+)?table\s+{_TABLE}", re.IGNORECASE)
_LOCKED = re.compile(rf"(?:alter|drop)\s+table\s+{_TABLE}", re.IGNORECASE)
_INDEXED = re.compile(
    r"create\s+(?:unique\s+)?index\s+(?!concurrently)[^(]*?\bon\s+\w+\.(\w+)", re.IGNORECASE
)
_DROPPED_INDEX = re.compile(r"drop\s+index\s+(?!concurrently)(?:if\s+exists\s+)?\w+\.(\w+)", re.IGNORECASE)
_REFERENCED = re.compile(r"\breferences\s+\w+\.(\w+)", re.IGNORECASE)
_VALIDATING = re.compile(rf"alter\s+table\s+{_TABLE}\s+validate\s+constraint\s+\w+$", re.IGNORECASE)


def lock_of(script: Script) -> str | None:
    """Whom a migration makes wait, in a few words; nothing if it touches only what it makes."""
    if script.runs == IN_BATCHES:
        return "in batches, which lock only their rows"
    made: set[str] = set()
    everything: dict[str, None] = {}
    writes: dict[str, None] = {}
    for _, text in split(script.sql):
        statement = _QUOTED.sub("''", text)
        made.update(_CREATED.findall(statement))
        everything.update(dict.fromkeys(_locked(statement)))
        writes.update(dict.fromkeys((*_INDEXED.findall(statement), *_REFERENCED.findall(statement))))
    parts = [
        f"{does} {', '.join(tables)} for a moment"
        for does, tables in (
            ("locks", [table for table in everything if table not in made]),
            ("stops writes to", [table for table in writes if table not in made | everything.keys()]),
        )
        if tables
    ]
    if not parts and script.runs == OUTSIDE_TRANSACTION:
        return "while everybody works"
    return ", ".join(parts) or None


def _locked(statement: str) -> Iterator[str]:
    if not _VALIDATING.match(statement):
        yield from _LOCKED.findall(statement)
        yield from (f"the table of index {name}" for name in _DROPPED_INDEX.findall(statement))
