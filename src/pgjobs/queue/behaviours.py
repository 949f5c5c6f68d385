"""What some records do beside holding columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, Self
from uuid import UUID

from pgjobs.queue.cron import words


class _Ending(Protocol):
    @property
    def ended_at(self) -> datetime | None: ...


class CanEnd:
    """A task."""

    __slots__ = ()

    @property
    def is_ended(self: _Ending) -> bool:
        return self.ended_at is not None


class _Leased(Protocol):
    @property
    def task_id(self) -> int: ...

    @property
    def token(self) -> UUID: ...


class HeldCleanup:
    """One cleaner's right to clean up after one run."""

    __slots__ = ()

    @property
    def held(self: _Leased) -> tuple[int, UUID]:
        return self.task_id, self.token


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """One run: its task and how that stands, or why there is none."""

    due_at: datetime
    task_uuid: UUID | None
    status: str
    reason: str | None
    is_manual: bool

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> Self:
        return cls(
            datetime.fromisoformat(run["due_at"]),
            UUID(run["task_id"]) if run["task_id"] else None,
            run["status"],
            run["reason"],
            run["is_manual"],
        )


class _Scheduled(Protocol):
    @property
    def cron(self) -> str | None: ...

    @property
    def every(self) -> timedelta | None: ...


class InWords:
    """A schedule."""

    __slots__ = ()

    def __post_init__(self) -> None:
        runs = [ScheduleRun.of(run) for run in self.recent]  # type: ignore[attr-defined]
        object.__setattr__(self, "recent", runs)

    @property
    def words(self: _Scheduled) -> str:
        """When it runs, as people say it."""
        return words(self.cron, self.every)


class ByColumnName(Mapping[str, Any]):
    """A row of the generic manager: `job["id"]` as well as `job.id`."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:  # type: ignore[attr-defined]
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)  # type: ignore[attr-defined]
