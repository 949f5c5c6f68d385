"""JSON on its way into the database, refused here when it cannot be stored."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import from_json

from pgjobs.errors import PayloadInvalid

_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class Encoded(str):
    """JSON text that was checked already."""

    __slots__ = ()


def encode(value: Any) -> str:
    """JSON text of a value; refuses NaN, NUL, lone surrogates and what JSON cannot hold."""
    if type(value) is Encoded:
        return value
    try:
        text = _text(value)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise PayloadInvalid("Not a JSON document", detail=str(error)) from error
    # The expression is right but slow, and almost no text has what it looks for.
    if "\\u0000" in text and _NUL.search(text):
        raise PayloadInvalid("A JSON document must not contain NUL characters")
    return text


def decode(text: str | bytes) -> Any:
    """The value of JSON text."""
    try:
        return from_json(text)
    except ValueError:
        # Nested deeper than the fast parser goes.
        return json.loads(text)
