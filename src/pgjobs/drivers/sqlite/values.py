"""Values on their way into SQLite and back: what Postgres has types for is numbers and text there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pgjobs.drivers.documents import decode, decode_parts, encode
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


def to_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Mapping[str, Any]]:
    """Rows as asyncpg would give them; a column's name says what it holds."""
    converters = [(place, convert) for place, name in enumerate(names) if (convert := _COLUMNS.get(name))]
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


def _to_id(value: Any) -> Any:
    # Workers are known by uuid, jobs and tasks by number.
    return UUID(value) if isinstance(value, str) else value


def _to_holder(value: str) -> UUID | str:
    # The generic manager's workers are known by name.
    try:
        return UUID(value)
    except ValueError:
        return value


def _to_token(value: str) -> UUID | str:
    # Leases have uuids, callers of the API have longer ones.
    return value if value.startswith("pgj_") else UUID(value)


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
    "id": _to_id,
    "job_id": _to_id,
    "is_done": bool,
    "token": _to_token,
    **dict.fromkeys(("uuid", "task_uuid", "linked_worker_id", "provider_id"), UUID),
    "worker_id": _to_holder,
    "workers": _to_uuids,
    **dict.fromkeys(
        (
            "payload",
            "result",
            "progress",
            "schema",
            "tags",
        ),
        decode,
    ),
    **dict.fromkeys(("fields",), decode_parts),
    **dict.fromkeys(
        (
            "keep",
            "is_new",
            "is_alive",
            "is_first",
            "is_superuser",
            "cancel_requested",
        ),
        bool,
    ),
    **dict.fromkeys(
        (
            "backoff_base",
            "backoff_cap",
            "jitter_cap",
            "max_age",
            "retain_completed",
            "retain_failed",
        ),
        _to_interval,
    ),
    **dict.fromkeys(
        (
            "at",
            "until",
            "created_at",
            "due_at",
            "run_at",
            "next_due_at",
            "claimed_at",
            "started_at",
            "ended_at",
            "cancel_requested_at",
            "registered_at",
            "last_heartbeat_at",
            "paused_at",
            "archived_at",
            "deleted_at",
            "available_at",
            "leased_until",
            "acquired_at",
            "cancelled_at",
            "updated_at",
            "completed_at",
            "expires_at",
            "revoked_at",
        ),
        to_time,
    ),
}
