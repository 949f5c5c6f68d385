"""Verb scripts: what a verb is on SQLite, read from `sql/sqlite/verbs/<verb>.sql`.

A script's first comment names its arguments with their types and defaults. A line
`-- include name` stands for `sql/sqlite/helpers/name.sql`. Columns whose name starts
with `v_` become parameters of the statements that follow; the last statement answers.
A comment `-- call verb(argument => :value, ...) into v_rows` runs another verb, whose
rows become a JSON array of objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pgjobs.drivers.sqlite.migrations import statements
from pgjobs.drivers.sqlite.values import to_argument
from pgjobs.errors import InvalidArgument, NotOnSqlite, PgJobsError
from pgjobs.schema.release import sql_directory, verb_file

_HEADER = re.compile(r"((?:--.*\n)+)")
_SIGNATURE = re.compile(r"(\w+)\s*\((.*?)\)\s*(?:\n|$)", re.DOTALL)
_ARGUMENT = re.compile(r"(\w+) (\w+(?:\[\])?)(?: = (.+))?")
_INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)
_CHANGE = re.compile(r"^(?:insert|update|delete)\b", re.MULTILINE)
_LOCAL = re.compile(r"\bas v_\w+")
_CALL_COMMENT = re.compile(r"^-- (call \w+\([^)]*\) into v_\w+)$", re.MULTILINE)
_CALL = re.compile(r"call (\w+)\(([^)]*)\) into (v_\w+);")
_PASSED = re.compile(r"(\w+) => :(\w+)")


@dataclass(frozen=True)
class Argument:
    """One argument of a verb, with its default as written, if any, and as SQLite takes it."""

    name: str
    kind: str
    literal: str | None
    default: Any


@dataclass(frozen=True)
class Call:
    """Another verb, the parameters that become its arguments, and the one its rows become."""

    verb: Verb
    passed: tuple[tuple[str, str], ...]
    into: str

    def values(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The other verb's arguments, null standing for its default."""
        given = {argument: known[name] for argument, name in self.passed}
        return {
            argument.name: argument.default if given.get(argument.name) is None else given[argument.name]
            for argument in self.verb.arguments
        }


@dataclass(frozen=True)
class Step:
    """One statement, and whether what it finds is needed later; or a call of another verb."""

    sql: str
    has_locals: bool
    call: Call | None = None


@dataclass(frozen=True)
class Verb:
    """A script, ready to run."""

    name: str
    arguments: tuple[Argument, ...]
    steps: tuple[Step, ...]
    is_reading: bool

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all arguments; None means the script's default."""
        unknown = given.keys() - {argument.name for argument in self.arguments}
        if unknown:
            raise InvalidArgument(f"{self.name} has no argument {min(unknown)}")
        return {argument.name: _bound(argument, given.get(argument.name)) for argument in self.arguments}


@cache
def read_verb(name: str) -> Verb:
    """The script of one verb."""
    path = sql_directory("sqlite") / "verbs" / f"{name}.sql"
    if not name.isidentifier():
        raise InvalidArgument(f"There is no verb {name}")
    if not path.is_file():
        raise _missing(name)
    return parse_verb(path)


def _missing(name: str) -> PgJobsError:
    if verb_file(name) is not None:
        return NotOnSqlite(f"{name} is not on SQLite")
    return InvalidArgument(f"There is no verb {name}")


def parse_verb(path: Path) -> Verb:
    text = path.read_text(encoding="utf-8")
    whole = _included(text, path.parents[1] / "helpers")
    body = _COMMENT.sub("", _CALL_COMMENT.sub(lambda call: call[1].replace("\n--", "") + ";", whole))
    steps = tuple(_step(sql) for sql in statements(body))
    is_reading = not _CHANGE.search(body) and all(step.call is None for step in steps)
    return Verb(path.stem, _arguments(text, path.stem), steps, is_reading)


def _step(sql: str) -> Step:
    if found := _CALL.fullmatch(sql):
        call = Call(read_verb(found[1]), tuple(_PASSED.findall(found[2])), found[3])
        return Step(sql, has_locals=True, call=call)
    return Step(sql, bool(_LOCAL.search(sql)))


def _included(text: str, directory: Path) -> str:
    return _INCLUDE.sub(
        lambda found: _included((directory / f"{found[1]}.sql").read_text(encoding="utf-8"), directory), text
    )


def _arguments(text: str, name: str) -> tuple[Argument, ...]:
    header = _HEADER.match(text)
    comment = re.sub(r"^--\s*", "", header[1], flags=re.MULTILINE) if header else ""
    signature = _SIGNATURE.match(comment)
    if not signature or signature[1] != name:
        raise InvalidArgument(f"{name}.sql does not begin with the verb's arguments")
    pieces = (piece.strip() for piece in signature[2].split(","))
    return tuple(_argument(piece) for piece in pieces if piece)


def _argument(piece: str) -> Argument:
    found = _ARGUMENT.fullmatch(piece)
    if not found:
        raise InvalidArgument(f"Cannot read the argument {piece!r}")
    name, kind, literal = found.groups()
    return Argument(name, kind, literal, _default(kind, literal))


def _default(kind: str, literal: str | None) -> Any:
    if literal is None or literal == "null":
        return None
    if literal in ("true", "false"):
        return literal == "true"
    if not literal.startswith("'"):
        return float(literal) if kind == "real" else int(literal)
    if kind != "interval":
        return literal[1:-1]
    quantity, unit = literal[1:-1].split()
    return to_argument("default", kind, timedelta(**{f"{unit.rstrip('s')}s": int(quantity)}))


def _bound(argument: Argument, value: Any) -> Any:
    if value is not None:
        return to_argument(argument.name, argument.kind, value)
    if argument.literal is None:
        raise InvalidArgument(f"{argument.name} is required")
    return argument.default
