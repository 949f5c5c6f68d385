"""Which argument of a refused call cannot be right: asked after the database has refused, never before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pgjobs.drivers.signatures import signature_of
from pgjobs.drivers.sqlite.values import to_argument
from pgjobs.errors import InvalidArgument

# asyncpg: "invalid input for query argument $5: …"; Postgres: "unnamed portal parameter $5 = '…'".
_NUMBERED = re.compile(r"\b(?:argument|parameter) \$(\d+)")
_OF_ASYNCPG = re.compile(r"invalid input for query argument \$\d+: ")


class Call(NamedTuple):
    """A verb and the arguments it was called with; None was not passed on."""

    verb: str
    arguments: Mapping[str, Any]

    def misuse(self) -> InvalidArgument | None:
        """What is wrong with the arguments themselves, if anything."""
        for parameter in signature_of(self.verb).parameters:
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
