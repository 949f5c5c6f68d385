"""Texts that make careless patterns try again at every character."""

from __future__ import annotations

from itertools import product

_BEGINNINGS = ("", "https://", "https://u:p/", "a://u@h/", "x@", "eyJ", "token ")
_PIECES = (
    *("a", ".", "@", ":", "/", " ", "\t", "\n", "\\", "é@", "1.", "+.-a", "word ", "[{(", ":@/?#="),
    *("://", "a://", "://a", "a://u@h/", "a://b:c/", "a://h/p/", "a://h/@", "a://h?q", "a://?#", "a://\\@"),
    *("a@", "(a:", "a:b@[", "key=value&", "password=", "token \t", "token='", "token=\"'", "pgj_0"),
    *("Authorization: ", "authorization:a ", "bearer ", "eyJ", "eyJabcdefgh.a.", "eyJabcdefgh..", "[[{'a':"),
)


def hostile_texts(size: int) -> dict[str, str]:
    """Texts of so many characters, each a piece repeated, by beginning and piece."""
    return {
        f"{beginning!r} then {piece!r}": (beginning + piece * size)[:size]
        for beginning, piece in product(_BEGINNINGS, _PIECES)
    }
