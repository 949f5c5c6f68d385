"""The one kind of SQL text Python writes: calls of verbs, and what their errors mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pgjobs.drivers.documents import decode, decode_parts, encode
from pgjobs.errors import BY_SQLSTATE, Forbidden, InvalidArgument, PgJobsError, SchemaBehind

DOCUMENTS = frozenset({"schema", "payload", "result", "target"})
DOCUMENT_LISTS = frozenset({"payloads", "results", "progress"})
_GIVEN = ("payload", "result", "progress", "schema", "target", "job_target", "target_snapshot_json")
_WRITTEN = ("fields", "found", "document", "serves", "holds", "recent", "fields_json")
DECODERS: Mapping[str, Callable[[str], Any]] = dict.fromkeys(_GIVEN, decode) | dict.fromkeys(
    _WRITTEN, decode_parts
)
"""How columns with documents are read: those that callers gave, and those that SQL wrote around them."""


@lru_cache(maxsize=512)
def call_text(schema: str, verb: str, names: tuple[str, ...], placeholder: Callable[[int], str]) -> str:
    """`select * from schema.verb(a => $1, …)`; documents travel as text, whatever codecs a connection has."""
    arguments = ", ".join(
        f"{name} => {placeholder(place)}{_cast(name)}" for place, name in enumerate(names, 1)
    )
    return f"select * from {schema}.{verb}({arguments})"  # noqa: S608


def encoded(name: str, value: Any) -> Any:
    """An argument as it is sent: documents become JSON text."""
    if name in DOCUMENTS:
        return encode(value)
    if name in DOCUMENT_LISTS:
        return [None if item is None else encode(item) for item in value]
    return value


def problem_of(
    sqlstate: str | None, message: str, detail: str | None, hint: str | None
) -> PgJobsError | None:
    """The exception a SQLSTATE stands for; None for what is not the caller's doing."""
    code = sqlstate or ""
    if known := BY_SQLSTATE.get(code):
        return known(message, detail=detail or None, hint=hint or None)
    if code[:2] in ("22", "23"):
        return InvalidArgument(message, detail=detail or None, hint=hint or None)
    if code == "42501":
        return Forbidden(message, detail=detail or None, hint="Grant the login one of the queue's roles.")
    if code in ("42883", "3F000", "42P01"):
        return SchemaBehind(message, detail=detail or None, hint="Run: pgjobs migrate")
    return None


def _cast(name: str) -> str:
    if name in DOCUMENTS:
        return "::text::jsonb"
    return "::text[]::jsonb[]" if name in DOCUMENT_LISTS else ""
