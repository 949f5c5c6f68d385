"""The functions SQLite lacks, for its verb scripts, views and triggers to call."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from hashlib import md5, sha256
from typing import Any, ClassVar, NoReturn
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

from pgjobs.drivers.documents import decode, encode
from pgjobs.drivers.redaction import redact, redact_document, redact_line
from pgjobs.drivers.sqlite.values import to_time
from pgjobs.drivers.tracing import is_trace_context
from pgjobs.errors import BY_SQLSTATE, PgJobsError

_BY_PROBLEM = {problem.problem: problem for problem in BY_SQLSTATE.values()}
_SIXTY_BITS = (1 << 60) - 1


class Context:
    """What the functions of one connection know of the verb that runs on it.

    It must not refer to the connection: the connection holds its functions where
    the garbage collector does not look, and neither would ever be freed.
    """

    _by_number: ClassVar[WeakValueDictionary[int, Context]] = WeakValueDictionary()

    def __init__(self) -> None:
        self.now = 0
        self.is_verb_running = False
        self.refusal: PgJobsError | None = None

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Context:
        """The connection's own, which is made once: functions cannot be replaced while a statement runs."""
        try:
            number = connection.cursor().execute("select pgjobs_context()").fetchone()[0]
        except sqlite3.OperationalError:
            context = cls()
            cls._by_number[id(context)] = context
            context._register(connection)
            return context
        return cls._by_number[number]

    def refuse(
        self, problem: str, message: str, detail: str | None = None, hint: str | None = None
    ) -> NoReturn:
        # SQLite replaces what a function raises by an error of its own.
        # Left out, the hint is that of the problem.
        given = {} if hint is None else {"hint": hint}
        self.refusal = _BY_PROBLEM[problem](message, detail=detail, **given)
        raise self.refusal

    def _register(self, connection: sqlite3.Connection) -> None:
        connection.create_function("pgjobs_context", 0, lambda: id(self))
        connection.create_function("refuse", -1, self.refuse)
        connection.create_function("is_verb_running", 0, lambda: self.is_verb_running)
        # Deterministic as far as SQLite cares: it does not change within a statement.
        connection.create_function("now", 0, lambda: self.now, deterministic=True)
        connection.create_function("uuid4", 0, lambda: str(uuid4()))
        connection.create_function("task_uuid", 2, task_uuid, deterministic=True)
        connection.create_function("task_id", 2, task_id, deterministic=True)
        connection.create_function("iso_time", 1, iso_time, deterministic=True)
        connection.create_function("is_trace_context", 1, is_trace_context, deterministic=True)
        connection.create_function("redact", 1, _unless_null(redact), deterministic=True)
        connection.create_function("redact_line", 1, _unless_null(redact_line), deterministic=True)
        connection.create_function("redact_document", 1, redact_json, deterministic=True)
        connection.create_function("luck", 2, luck, deterministic=True)
        connection.create_function("matches", 2, matches, deterministic=True)
        connection.create_function("is_json_over", 2, is_json_over, deterministic=True)
        connection.create_function("json_depth", 1, json_depth, deterministic=True)
        connection.create_function(
            "sha256", 1, lambda text: sha256(text.encode()).hexdigest(), deterministic=True
        )
        connection.create_function("md5", 1, key_hash, deterministic=True)
        connection.create_function("is_same_json", 2, is_same_json, deterministic=True)


def _unless_null(function: Callable[[str], str]) -> Callable[[str | None], str | None]:
    return lambda text: None if text is None else function(text)


def task_uuid(number: int, key: bytes) -> str:
    """The public id of a task: a UUIDv8 of 60 masked bits of its number and 62 keyed check bits."""
    check = bytearray(sha256(key + number.to_bytes(8, "big", signed=True)).digest()[:8])
    check[0] = 0x80 | check[0] & 0x3F
    hidden = f"{number ^ _mask(bytes(check), key):015x}"
    return str(UUID(f"{hidden[:12]}8{hidden[12:]}{check.hex()}"))


def task_id(uuid: str | None, key: bytes) -> int | None:
    """The number behind a public id, None for one this queue never issued."""
    if uuid is None:
        return None
    digits = UUID(uuid).hex
    number = int(digits[:12] + digits[13:16], 16) ^ _mask(bytes.fromhex(digits[16:]), key)
    # Anything but a uuid made here fails to come back as itself.
    return number if task_uuid(number, key) == uuid else None


def _mask(check: bytes, key: bytes) -> int:
    return int.from_bytes(sha256(check + key).digest()[:8], "big") & _SIXTY_BITS


def luck(number: int, attempt: int) -> float:
    """Between 0 and 1, always the same for one attempt of one task."""
    return int.from_bytes(sha256(f"{number}/{attempt}".encode()).digest()[:4], "big") / (1 << 32)


def matches(text: str | None, pattern: str) -> bool | None:
    return None if text is None else re.fullmatch(pattern, text, re.DOTALL) is not None


def iso_time(microseconds: int | None) -> str | None:
    return None if microseconds is None else to_time(microseconds).isoformat()


def redact_json(text: str | None) -> str | None:
    """A JSON document without credentials."""
    return None if text is None else encode(redact_document(decode(text)))


def is_json_over(text: str | None, limit: int) -> bool:
    """Whether a document as Postgres writes it, with spaces, has more bytes than that."""
    # A character has at most four bytes, and no more than as many spaces come with it.
    if text is None or len(text) * 5 <= limit:
        return False
    return len(json.dumps(decode(text), ensure_ascii=False).encode()) > limit


def json_depth(text: str | None) -> int:
    """How many levels a document's deepest value lies below its root; 0 stands for a few."""
    if text is None or text.count("[") + text.count("{") <= 32:
        return 0
    depth = -1
    level: list[Any] = [decode(text)]
    while level:
        depth += 1
        level = [child for value in level for child in _children(value)]
    return depth


def key_hash(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def is_same_json(one: str, other: str) -> bool:
    return one == other or bool(_comparable(decode(one)) == _comparable(decode(other)))


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _comparable(value: Any) -> Any:
    # Python takes True for 1; JSON does not.
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return (value,) if isinstance(value, bool) else value
