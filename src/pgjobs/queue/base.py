"""What every record is, and the words that columns hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, make_dataclass
from typing import Any, ClassVar, Literal, Self

Json = Any
Status = Literal["pending", "claimed", "running", "completed", "failed", "cancelled", "ignored"]
ShownStatus = Literal["pending", "claimed", "running", "completed", "failed", "cancelled"]
GenericStatus = Literal["queued", "processing", "completed", "failed", "cancelled"]
CleanupStatus = Literal["queued", "running", "retrying", "blocked", "done", "ignored", "abandoned"]
Severity = Literal["error", "warning", "info"]
JobState = Literal["open", "paused", "archived"]


class Record:
    """A frozen dataclass made from a row; columns it does not name are left out."""

    __slots__ = ()

    _names: ClassVar[tuple[str, ...]]
    _writable: ClassVar[Callable[..., Any]]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls.each((row,))[0]

    @classmethod
    def each(cls, rows: Sequence[Mapping[str, Any]]) -> list[Self]:
        if not rows:
            return []
        if "_writable" not in cls.__dict__:
            _prepare(cls)
        names, writable = cls._names, cls._writable
        # A server that is older or newer may answer with other columns, or in another order.
        if tuple(rows[0].keys()) == names:
            records = [writable(*row.values()) for row in rows]
        else:
            records = [writable(*[row[name] for name in names]) for row in rows]
        for record in records:
            record.__class__ = cls
        return records


def _prepare(cls: Any) -> None:
    """Gives a record a twin that is not frozen: filling one costs a tenth, and then it becomes the record.

    Python allows that for classes with the same bases and slots only.
    """
    cls._names = tuple(field.name for field in fields(cls))
    filled = make_dataclass(cls.__name__, cls._names)
    members = {
        "__slots__": cls.__dict__["__slots__"],
        "__init__": filled.__dict__["__init__"],
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    finish = getattr(cls, "__post_init__", None)
    writable = type(cls)(cls.__name__, cls.__bases__, members)
    cls._writable = writable if finish is None else _finished(writable, finish)


def _finished(writable: Callable[..., Any], finish: Callable[[Any], None]) -> Callable[..., Any]:
    def made(*values: Any) -> Any:
        record = writable(*values)
        finish(record)
        return record

    return made
