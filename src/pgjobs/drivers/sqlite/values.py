"""Values on their way into SQLite and back: what Postgres has types for is numbers and text there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pgjobs.drivers.documents import decode, encode
from pgjobs.drivers.signatures import signature_of
from pgjobs.errors import InvalidArgument

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND

Convert = Callable[[Any], Any]


def to_argument(name: str, kind: str, value: Any) -> Any:
    """A verb's argument as SQLite takes it: arrays as JSON, times and durations in microseconds."""
    try:
        if not kind.endswith("[]"):
            return _ARGUMENTS[kind](value)
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise TypeError("not a list")
        convert = _ARGUMENTS[kind[:-2]]
        return json.dumps([None if item is None else convert(item) for item in value], ensure_ascii=False)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidArgument(
            f"{name} must be {_word(kind)}", detail=f"Got {value!r:.200}: {error}."
        ) from error


def _word(kind: str) -> str:
    if kind.endswith("[]"):
        return f"a list, each {_word(kind[:-2])}"
    return _WORDS.get(kind, kind)


def to_rows(verb: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Mapping[str, Any]]:
    """Rows as asyncpg would give them: as Postgres types the columns of this verb's answer."""
    signature = signature_of(verb)
    kinds, decoders = signature.columns, signature.decoders
    converters = [
        (place, convert)
        for place, name in enumerate(names)
        if (convert := decoders.get(name) or _COLUMNS.get(kinds.get(name, "")))
    ]
    answer: list[Mapping[str, Any]] = []
    for row in rows:
        values = list(row)
        for place, convert in converters:
            if values[place] is not None:
                values[place] = convert(values[place])
        answer.append(dict(zip(names, values, strict=True)))
    return answer


def to_microseconds(time: datetime) -> int:
    return (time.astimezone(UTC) - EPOCH) // MICROSECOND


def to_time(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=min(microseconds, _LAST))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    value.encode()
    if "\0" in value:
        raise ValueError("contains a NUL character")
    return value


def _integer(bits: int) -> Convert:
    limit = 1 << (bits - 1)

    def convert(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError("not an integer")
        if not -limit <= value < limit:
            raise ValueError("out of range")
        return int(value)

    return convert


def _real(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError("not a number")
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("not a boolean")
    return value


def _interval(value: Any) -> int:
    microseconds = value // MICROSECOND
    return int(_integer(64)(microseconds))


def _time(value: datetime) -> int:
    if value.tzinfo is None:
        raise ValueError("has no time zone")
    return to_microseconds(value)


def _uuid(value: Any) -> str:
    return str(value if isinstance(value, UUID) else UUID(_text(value)))


def _to_interval(microseconds: int) -> timedelta:
    return timedelta(microseconds=microseconds)


def _to_uuids(value: str) -> list[UUID]:
    return [UUID(item) for item in decode(value)]


_ARGUMENTS: Mapping[str, Convert] = {
    "text": _text,
    "integer": _integer(32),
    "bigint": _integer(64),
    "real": _real,
    "boolean": _boolean,
    "uuid": _uuid,
    "interval": _interval,
    "timestamptz": _time,
    "jsonb": encode,
    "bytea": bytes,
}

_WORDS = {
    "integer": "a whole number",
    "bigint": "a whole number",
    "real": "a number",
    "boolean": "true or false",
    "uuid": "a UUID",
    "interval": "a timedelta",
    "timestamptz": "a datetime with a time zone",
    "jsonb": "a JSON document",
    "bytea": "bytes",
}

_COLUMNS: Mapping[str, Convert] = {
    "boolean": bool,
    "interval": _to_interval,
    "text[]": decode,
    "timestamptz": to_time,
    "uuid": UUID,
    "uuid[]": _to_uuids,
}
