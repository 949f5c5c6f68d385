"""JSON on its way into the database, refused here when it cannot be stored."""

from __future__ import annotations

import json
import re
from typing import Any

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
    if _NUL.search(text):
        raise PayloadInvalid("A JSON document must not contain NUL characters")
    return text


decode = json.loads
