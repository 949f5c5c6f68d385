"""Where one SQL statement ends and the next begins; a body is between dollars, never `begin atomic`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""--[^\n]*                       # a comment to the end of the line
      | /\*.*?\*/                      # a comment
      | '(?:[^']|'')*'                 # a string
      | "[^"]*"                        # a quoted name
      | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$  # a body
      | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)
_LEADING = re.compile(r"\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*", re.DOTALL)


def split(sql: str) -> Iterator[tuple[int, str]]:
    """The statements of a script with their first lines, without comments before them and semicolons."""
    start = 0
    for token in _TOKEN.finditer(f"{sql}\n;"):
        if not token["end"]:
            continue
        leading = _LEADING.match(sql, start)
        start = leading.end() if leading else start
        if statement := sql[start : token.start()].strip():
            yield sql.count("\n", 0, start) + 1, statement
        start = token.end()
