"""Of each verb what drivers need to know of its arguments and columns: their SQL types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pgjobs.drivers._generated.signatures import RELATIONS, SIGNATURES
from pgjobs.drivers.documents import decode, decode_parts, encode
from pgjobs.errors import InvalidArgument

Convert = Callable[[Any], Any]


class Parameter(NamedTuple):
    """One parameter of a verb."""

    name: str
    kind: str
    is_required: bool


class Signature(NamedTuple):
    """What a verb takes and answers; nothing is known of one that this release does not have."""

    parameters: tuple[Parameter, ...]
    columns: Mapping[str, str]
    encoders: tuple[tuple[str, Convert], ...]
    """How arguments with documents are sent."""
    decoders: Mapping[str, Convert]
    """How columns with documents are read: those that callers gave, and those that SQL wrote around them."""
    casts: Mapping[str, str]
    """Documents travel as text, whatever codecs a connection has."""


@cache
def signature_of(verb: str) -> Signature:
    arguments, _, answer = SIGNATURES.get(verb, "").partition("-> ")
    parameters = tuple(_parameter(*each) for each in _pairs(arguments))
    kinds = dict(_pairs(RELATIONS.get(answer, answer)))
    return Signature(
        parameters,
        {name: kind.removesuffix("~") for name, kind in kinds.items()},
        tuple((each.name, _encoder(each)) for each in parameters if each.kind in _CASTS),
        {name: _DECODERS[kind] for name, kind in kinds.items() if kind in _DECODERS},
        {each.name: _CASTS[each.kind] for each in parameters if each.kind in _CASTS},
    )


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for piece in filter(None, text.strip().split(", ")):
        name, _, kind = piece.partition(" ")
        yield name, kind


def _parameter(name: str, kind: str) -> Parameter:
    return Parameter(name, kind.removesuffix("?"), not kind.endswith("?"))


_CASTS = {"jsonb": "::text::jsonb", "jsonb[]": "::text[]::jsonb[]"}
_DECODERS: Mapping[str, Convert] = {"jsonb": decode, "jsonb~": decode_parts}


def _encoder(parameter: Parameter) -> Convert:
    if parameter.kind == "jsonb":
        return encode

    def encoded(value: Any) -> list[str | None]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise InvalidArgument(
                f"{parameter.name} must be a list of JSON documents", detail=f"Got {value!r:.200}."
            )
        return [None if item is None else encode(item) for item in value]

    return encoded
