"""Which argument of a refused call cannot be right: asked after the database has refused, never before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from pgjobs.drivers.sqlite.values import to_argument
from pgjobs.errors import InvalidArgument
from pgjobs.schema.release import verb_file

_PIECES = re.compile(r"(?:[^,'(\[]|'[^']*'|\([^)]*\)|\[[^\]]*\])+")
_PARAMETER = re.compile(r"(\w+)\s+(.+?)(?:\s+default\s+(.+))?", re.DOTALL)
# asyncpg: "invalid input for query argument $5: …"; Postgres: "unnamed portal parameter $5 = '…'".
_NUMBERED = re.compile(r"\b(?:argument|parameter) \$(\d+)")
_OF_ASYNCPG = re.compile(r"invalid input for query argument \$\d+: ")


class Parameter(NamedTuple):
    """One parameter of a verb, as its SQL file declares it."""

    name: str
    kind: str
    is_required: bool


class Call(NamedTuple):
    """A verb and the arguments it was called with; None was not passed on."""

    verb: str
    arguments: Mapping[str, Any]

    def misuse(self) -> InvalidArgument | None:
        """What is wrong with the arguments themselves, if anything."""
        parameters = parameters_of(self.verb)
        for parameter in parameters:
            value = self.arguments.get(parameter.name)
            if value is None and parameter.is_required:
                return InvalidArgument(f"{parameter.name} is required")
            if value is not None:
                try:
                    to_argument(parameter.name, parameter.kind, value)
                except InvalidArgument as error:
                    return error
        return None

    def named(self, message: str, context: str | None = None) -> str:
        """The message with the argument's name for its number."""
        numbered = _NUMBERED.search(message) or _NUMBERED.search(context or "")
        given = [name for name, value in self.arguments.items() if value is not None]
        if numbered is None or not 0 < int(numbered[1]) <= len(given):
            return message
        return f"{given[int(numbered[1]) - 1]}: {_OF_ASYNCPG.sub('', message)}"


@cache
def parameters_of(verb: str) -> tuple[Parameter, ...]:
    """What a verb of this release takes; nothing for one that it does not have."""
    path = verb_file(verb)
    if path is None:
        return ()
    declared = rf"^create function pgjobs\.{verb}\((.*?)\)\s*returns\b"
    signature = re.search(declared, path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    pieces = _PIECES.findall(signature[1]) if signature else []
    found = (_PARAMETER.fullmatch(piece.strip()) for piece in pieces)
    return tuple(Parameter(each[1], each[2], each[3] is None) for each in found if each)
