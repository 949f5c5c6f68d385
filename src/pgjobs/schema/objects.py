"""What a release's code is made of: functions, views, triggers, each with its comments and a checksum.

Names are identities: no function is overloaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from pgjobs.errors import MigrationFailed
from pgjobs.schema.script import Script
from pgjobs.schema.statements import split

Key: TypeAlias = tuple[str, str]

_CREATE = re.compile(
    r"create\s+(?:(?P<kind>function|view)\s+\w+\.(?P<name>\w+)"
    r"|trigger\s+(?P<trigger>\w+)\s.*?\bon\s+\w+\.(?P<table>\w+))",
    re.DOTALL,
)
_LOCKLESS = re.compile(r"\A(?:revoke|grant)\b|\bexecute format\('alter function\b")
"""Scripts that nobody waits for: rights, and how functions are planned."""
_COMMENT = re.compile(r"comment\s+on\s+(?P<kind>function|view|column)\s+\w+\.(?P<name>\w+)")


@dataclass(frozen=True)
class Object:
    """A function, view or trigger; or a script, which runs when it or anything that it names has changed."""

    kind: str
    name: str
    statements: tuple[str, ...]
    schema: str
    file: str
    line: int
    checksum: str = ""

    @property
    def key(self) -> Key:
        return self.kind, self.name

    @property
    def title(self) -> str:
        if self.kind == "trigger":
            name, table = self.name.split(" on ")
            return f"trigger {name} on {self.schema}.{table}"
        return f"script in {self.file}" if self.kind == "script" else f"{self.kind} {self.schema}.{self.name}"

    @property
    def making(self) -> str:
        """Makes what is not there. Functions are born executable by everyone."""
        return _joined(*self.statements, *self._closing())

    @property
    def script(self) -> Script:
        return Script(self.file, self.making, self.checksum, self.line)

    @property
    def replacing(self) -> str:
        """Makes it anew in its place, with its grants and whatever depends on it."""
        first = re.sub(r"^create\s", "create or replace ", self.statements[0])
        return _joined(first, *self.statements[1:])

    @property
    def takes_locks(self) -> bool:
        """Whether replacing it makes anybody wait. A function never does, nor what is said of it."""
        return self.kind in ("view", "trigger") or (
            self.kind == "script" and not _LOCKLESS.search(self.statements[0])
        )

    def mentions(self, functions: Set[str]) -> bool:
        """Whether this is a script that says something of one of these."""
        return self.kind == "script" and not functions.isdisjoint(self.words)

    @property
    def words(self) -> frozenset[str]:
        """Everything that it may name."""
        return frozenset(re.findall(r"\w+", _joined(*self.statements)))

    def _closing(self) -> Iterator[str]:
        if self.kind in ("function", "view"):
            kind = "function" if self.kind == "function" else "table"
            yield f"revoke all on {kind} {self.schema}.{self.name} from public"


def read_objects(schema: str, files: Iterable[tuple[str, str]]) -> tuple[Object, ...]:
    """The objects in these files (name, SQL), in their order."""
    objects: dict[Key, Object] = {}
    for file, sql in files:
        for line, statement in split(sql):
            if comment := _COMMENT.match(statement):
                key = ("function" if comment["kind"] == "function" else "view", comment["name"])
                if key not in objects:
                    raise MigrationFailed(
                        f"{file}: a comment on {comment['name']}, which is not made before it"
                    )
                objects[key] = replace(objects[key], statements=(*objects[key].statements, statement))
                continue
            new = _object(statement, schema, file, line)
            if new.key in objects:
                raise MigrationFailed(f"{file}: {new.title} is made twice")
            objects[new.key] = new
    return tuple(_with_checksums(objects))


def _object(statement: str, schema: str, file: str, line: int) -> Object:
    if made := _CREATE.match(statement):
        kind = made["kind"] or "trigger"
        name = made["name"] or f"{made['trigger']} on {made['table']}"
        return Object(kind, name, (statement,), schema, file, line)
    # Numbered by what it says, not by where it stands: a new one must not rename those behind it.
    return Object("script", f"{file}#{_sha256(statement)[:8]}", (statement,), schema, file, line)


def _with_checksums(objects: dict[Key, Object]) -> Iterator[Object]:
    sums = {key: _sha256(_joined(*item.statements)) for key, item in objects.items()}
    functions = {name: checksum for (kind, name), checksum in sums.items() if kind == "function"}
    for key, item in objects.items():
        named = ""
        if item.kind == "script":
            named = "".join(functions[name] for name in sorted(item.words & functions.keys()))
        yield replace(item, checksum=_sha256(sums[key] + named) if named else sums[key])


def _joined(*statements: str) -> str:
    return "".join(f"{statement};\n" for statement in statements)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
