"""What a cleaner is: it removes what one run left behind, or says why it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Kind = Literal["network", "http", "io", "auth", "config", "unknown"]
"""Why cleaning failed; the job's policy says how soon each is tried again."""

COMPLETE_MARKER = "complete.json"


class CleanupError(Exception):
    """What was left behind could not be removed."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind: Kind = kind


@dataclass(frozen=True, slots=True)
class Run:
    """What to clean up after: where the run wrote, and as what."""

    run_id: str
    job: str
    node_id: str
    target: Mapping[str, Any]

    def path(self) -> tuple[str, str]:
        """The run's place below its target: the job's address, with slashes escaped, and the run's id."""
        job = self.job.replace("%", "%25").replace("/", "%2F")
        return _component(job), _component(self.run_id, "/\\")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How cleaning ended well, with details for the audit trail."""

    outcome: Literal["deleted", "skip_complete", "skip_not_found"]
    details: Mapping[str, Any] = field(default_factory=dict)


class Cleaner(Protocol):
    """Cleans targets of one type. A run that is complete is skipped."""

    async def clean(self, run: Run) -> Outcome: ...


def setting(target: Mapping[str, Any], name: str) -> str:
    """A text the target must have."""
    value = target.get(name)
    if not isinstance(value, str) or not value:
        raise CleanupError("config", f"The target names no {name}")
    return value


def _component(name: str, forbidden: str = "") -> str:
    """A name that stays where it is put."""
    if name in ("", ".", "..") or "\0" in name or any(letter in name for letter in forbidden):
        raise CleanupError("config", f"{name[:100]!r} cannot be the name of a directory")
    return name
