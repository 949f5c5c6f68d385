"""JSON on its way into the database, refused here when it cannot be stored, and on its way back."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pydantic_core import from_json

from pgjobs.errors import PayloadInvalid

_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

DIGITS = 4300
"""So many may a number have: Python refuses to read more."""
_ANY_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 309
"""A number shorter than this can be read as an integer and as a fraction."""
_DEEPEST = 200
"""Levels that every reader of ours can go down."""
_SHOWN = 200


class Encoded(str):
    """JSON text that was checked already."""

    __slots__ = ()


class Unreadable(str):
    """Stands for a document, or a part of one, that Python cannot hold: the beginning of its text.

    Only what was stored around the verbs is so; those refuse it.
    """

    __slots__ = ()


def encode(value: Any) -> str:
    """JSON text of a value; refuses NaN, NUL, lone surrogates, endless numbers and what JSON cannot hold."""
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
    """The value of JSON text, or `Unreadable` as a whole."""
    if not _may_have_long_number(text):
        try:
            return from_json(text)
        except ValueError:
            pass
    value, is_whole = _parsed(text)
    return value if is_whole else _unreadable(text)


def decode_parts(text: str | bytes) -> Any:
    """The value of JSON text that SQL wrote around what others gave: only those parts are `Unreadable`."""
    if not _may_have_long_number(text):
        try:
            return from_json(text)
        except ValueError:
            pass
    return _parsed(text)[0]


def _may_have_long_number(text: str | bytes) -> bool:
    if len(text) < len(_LONG):
        return False
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _LONG in data.translate(_ANY_DIGIT)


def _parsed(text: str | bytes) -> tuple[Any, bool]:
    """The value, and whether all of it could be read."""
    unread: list[str] = []

    def number(written: str) -> Any:
        if len(written.lstrip("-")) <= DIGITS:
            return int(written)
        unread.append(written)
        return _unreadable(written)

    def fraction(written: str) -> Any:
        value = float(written)
        if math.isfinite(value):
            return value
        unread.append(written)
        return _unreadable(written)

    try:
        value = json.loads(text, parse_int=number, parse_float=fraction)
    except (ValueError, RecursionError):
        return _unreadable(text), False
    pruned = _pruned(value)
    return pruned, pruned is value and not unread


def _pruned(value: Any) -> Any:
    """The value without what lies deeper than readers go; the same one where nothing does."""
    level, depth = [value], 0
    while level and depth < _DEEPEST:
        level = [child for item in level for child in _children(item)]
        depth += 1
    return _cut(value, _DEEPEST - 1) if level else value


def _cut(value: Any, levels: int) -> Any:
    if isinstance(value, (dict, list)) and levels == 0:
        return Unreadable("…")
    if isinstance(value, dict):
        return {name: _cut(item, levels - 1) for name, item in value.items()}
    return [_cut(item, levels - 1) for item in value] if isinstance(value, list) else value


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _unreadable(text: str | bytes) -> Unreadable:
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return Unreadable(shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}… ({len(shown)} characters)")
