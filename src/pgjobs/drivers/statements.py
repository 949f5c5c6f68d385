"""The one kind of SQL text Python writes: calls of verbs, and what their errors mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pgjobs.drivers.arguments import Call
from pgjobs.drivers.signatures import signature_of
from pgjobs.errors import (
    BY_SQLSTATE,
    Forbidden,
    InvalidArgument,
    PgJobsError,
    SchemaBehind,
    SchemaChanged,
)


@lru_cache(maxsize=512)
def call_text(schema: str, verb: str, names: tuple[str, ...], placeholder: Callable[[int], str]) -> str:
    """`select * from schema.verb(a => $1, …)`; documents travel as text, whatever codecs a connection has."""
    casts = signature_of(verb).casts
    arguments = ", ".join(
        f"{name} => {placeholder(place)}{casts.get(name, '')}" for place, name in enumerate(names, 1)
    )
    return f"select * from {schema}.{verb}({arguments})"  # noqa: S608


@lru_cache(maxsize=512)
def call_text_in_rooms(schema: str, verb: str, names: tuple[str, ...]) -> str:
    """The same for a member of the rooms in `$1`, which are said for this statement only.

    `offset 0` keeps the planner from calling the verb before they are.
    """
    casts = signature_of(verb).casts
    arguments = ", ".join(f"{name} => ${place}{casts.get(name, '')}" for place, name in enumerate(names, 2))
    return (
        f"select v.* from (select set_config('{schema}.rooms', $1::text[]::text, true) as rooms) as c"  # noqa: S608
        f" cross join lateral (select f.* from {schema}.{verb}({arguments}) as f"
        " where c.rooms is not null offset 0) as v"
    )


def given(verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they are sent: those that were passed on, documents as JSON text."""
    sent = {name: value for name, value in arguments.items() if value is not None}
    for name, encode in signature_of(verb).encoders:
        if name in sent:
            sent[name] = encode(sent[name])
    return sent


_BAD_INPUT = ("22", "23", "54", "0A")
"""Classes of SQLSTATEs: data exceptions, broken constraints, limits of Postgres, what it does not support."""

_MISMATCHES = ("42883", "42725", "42804", "42846", "42P18")
"""No function takes such arguments: too few of them, of other types, or the function is not there."""

_OTHERWISE: Mapping[str, tuple[type[PgJobsError], str]] = {
    "42501": (Forbidden, "Grant the login one of the queue's roles."),
    **dict.fromkeys(("42883", "3F000", "42P01"), (SchemaBehind, "Run: pgjobs migrate")),
}
"""What else has a cure that can be named."""


class Refusal(NamedTuple):
    """What the database said."""

    sqlstate: str | None
    message: str
    detail: str | None = None
    hint: str | None = None
    context: str | None = None


def problem_of(refusal: Refusal, call: Call) -> PgJobsError | None:
    """The exception a refusal stands for; None for what is not the caller's doing."""
    code, message, detail = refusal.sqlstate or "", refusal.message, refusal.detail or None
    if known := BY_SQLSTATE.get(code):
        return known(message, detail=detail, hint=refusal.hint or None)
    if code == "0A000" and "cached plan" in message:
        return SchemaChanged("The schema was upgraded during the transaction", hint="Run it again.")
    if (code[:2] in _BAD_INPUT or code in _MISMATCHES) and (problem := _bad_input(refusal, call)):
        return problem
    if otherwise := _OTHERWISE.get(code):
        return otherwise[0](message, detail=detail, hint=otherwise[1])
    return None


def _bad_input(refusal: Refusal, call: Call) -> InvalidArgument | None:
    """What is wrong with the arguments; None when the database cannot say, and they look right."""
    code = refusal.sqlstate or ""
    if misuse := call.misuse():
        return misuse
    if code.startswith("54"):
        # Its hint is for those who configure the server.
        return InvalidArgument("An argument is too large or too deep", detail=f"{refusal.message}.")
    if code[:2] not in _BAD_INPUT:
        return None
    message = call.named(refusal.message, refusal.context)
    return InvalidArgument(message, detail=refusal.detail or None, hint=refusal.hint or None)
