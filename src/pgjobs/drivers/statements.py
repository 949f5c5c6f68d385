"""The one kind of SQL text Python writes: calls of verbs, and what their errors mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pgjobs.drivers.documents import encode
from pgjobs.errors import BY_SQLSTATE, Forbidden, InvalidArgument, PgJobsError, SchemaBehind

DOCUMENTS = frozenset({"schema", "payload", "result", "target"})
DOCUMENT_LISTS = frozenset({"payloads", "results", "progress"})
DOCUMENT_COLUMNS = frozenset(
    {"payload", "result", "progress", "schema", "fields", "found", "document", "serves", "holds", "recent"}
    | {"target", "job_target", "target_snapshot_json", "fields_json"}
)


@lru_cache(maxsize=512)
def call_text(schema: str, verb: str, names: tuple[str, ...], placeholder: Callable[[int], str]) -> str:
    """`select * from schema.verb(a => $1, …)`; documents travel as text, whatever codecs a connection has."""
    arguments = ", ".join(
        f"{name} => {placeholder(place)}{_cast(name)}" for place, name in enumerate(names, 1)
    )
    return f"select * from {schema}.{verb}({arguments})"  # noqa: S608


@lru_cache(maxsize=512)
def call_text_in_rooms(schema: str, verb: str, names: tuple[str, ...]) -> str:
    """The same for a member of the rooms in `$1`, which are said for this statement only.

    `offset 0` keeps the planner from calling the verb before they are.
    """
    arguments = ", ".join(f"{name} => ${place}{_cast(name)}" for place, name in enumerate(names, 2))
    return (
        f"select v.* from (select set_config('{schema}.rooms', $1::text[]::text, true) as rooms) as c"  # noqa: S608
        f" cross join lateral (select f.* from {schema}.{verb}({arguments}) as f"
        " where c.rooms is not null offset 0) as v"
    )


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
