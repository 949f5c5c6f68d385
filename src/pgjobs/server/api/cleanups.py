"""Cleanup tasks over the wire, and the filters their lists take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self, get_args
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field, StrictBool
from starlette.requests import Request

from pgjobs.queue.records import CleanupEvent, CleanupNode, CleanupsFound, CleanupStatus, CleanupTask
from pgjobs.server.api.schemas import Wire
from pgjobs.server.problems import problem

TARGET_TYPES = ("local_dir", "webdav")
_PLAIN: dict[str, Any] = {"pattern": r"^[^\x00-\x1f\x7f-\x9f]{1,700}$"}


class CleanupOut(Wire):
    """The status of the cleanup after one run."""

    run_id: UUID
    job_id: UUID
    job_name: str
    node_id: str
    target_type: str
    target_snapshot: Any
    status: CleanupStatus
    attempts: int
    created_at: datetime
    updated_at: datetime
    last_attempt_at: datetime | None
    next_attempt_at: datetime | None
    last_error_kind: str | None
    last_error: str | None
    ignored_at: datetime | None
    ignored_by_user_id: str | None
    ignore_reason: str | None

    @classmethod
    def of(cls, task: CleanupTask) -> Self:
        return cls(
            run_id=task.run_id,
            job_id=task.job_id,
            job_name=task.job_name,
            node_id=task.node_id,
            target_type=task.target_type,
            target_snapshot=task.target_snapshot_json,
            status=task.status,
            attempts=task.attempts,
            created_at=task.created_at,
            updated_at=task.updated_at,
            last_attempt_at=task.last_attempt_at,
            next_attempt_at=task.next_attempt_at,
            last_error_kind=task.last_error_kind,
            last_error=task.last_error,
            ignored_at=task.ignored_at,
            ignored_by_user_id=task.ignored_by_user_id,
            ignore_reason=task.ignore_reason,
        )


class CleanupEventOut(Wire):
    """Something that happened to a cleanup task."""

    seq: int
    ts: datetime
    level: str
    kind: str
    message: str
    fields: Any

    @classmethod
    def of(cls, event: CleanupEvent) -> Self:
        return cls(
            seq=event.seq,
            ts=event.ts,
            level=event.level,
            kind=event.kind,
            message=event.message,
            fields=event.fields_json,
        )


class CleanupPage(Wire):
    """A page of cleanup tasks, next due first."""

    items: list[CleanupOut]
    page: int
    page_size: int
    total: int

    @classmethod
    def of(cls, found: CleanupsFound, page: int, page_size: int) -> Self:
        items = [CleanupOut.of(task) for task in found.tasks]
        return cls(items=items, page=page, page_size=page_size, total=found.total)


class CleanupDetail(Wire):
    """A cleanup task and what happened to it."""

    task: CleanupOut
    events: list[CleanupEventOut]

    @classmethod
    def of(cls, task: CleanupTask, events: Sequence[CleanupEvent]) -> Self:
        return cls(task=CleanupOut.of(task), events=[CleanupEventOut.of(event) for event in events])


class CleanupNodeOut(Wire):
    """Who cleans up targets of one type on one node, and how many cleanups are open there."""

    node_id: str
    target_type: str
    open: int
    waiting: int
    is_served: bool
    served_by: list[str]
    last_seen_at: datetime | None
    advice: str | None


class CleanupNodes(Wire):
    """Which node cleans up what."""

    items: list[CleanupNodeOut]

    @classmethod
    def of(cls, nodes: Sequence[CleanupNode]) -> Self:
        return cls(items=[CleanupNodeOut(**asdict(node)) for node in nodes])


class IgnoreIn(Wire):
    """Why a cleanup task is ignored."""

    reason: str | None = Field(default=None, examples=["The disk is gone"])


class CleanupBulk(Wire):
    """An action for many cleanups, named by their runs."""

    verb: Literal["retry", "ignore"]
    run_ids: list[UUID] = Field(min_length=1, max_length=500)
    reason: str | None = Field(default=None, max_length=200, pattern=r"^[^\x00]*$")
    dry_run: StrictBool = False


class CleanupBulkDone(Wire):
    """How many cleanups changed, and how many were skipped."""

    changed: int
    refused: int


@dataclass(frozen=True)
class Wanted:
    """Which cleanup tasks, and which page of them; values that cannot be are refused."""

    statuses: list[str] | None
    target_types: list[str] | None
    node_id: str | None
    job_id: str | None
    error_kind: str | None
    page: int
    page_size: int


def _several(known: Sequence[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "enum": list(known)}}


def _numbered(default: int, largest: int) -> dict[str, Any]:
    """What is read as text, so that its refusal is one of a filter, and documented as the number it is."""
    return {"type": "integer", "minimum": 1, "maximum": largest, "default": default}


def wanted(
    request: Request,
    status: Annotated[
        list[str] | None,
        Query(
            description=f"One or more of {', '.join(get_args(CleanupStatus))}.",
            json_schema_extra=_several(get_args(CleanupStatus)),
        ),
    ] = None,
    target_type: Annotated[
        list[str] | None,
        Query(
            description="`local_dir`, `webdav`, or a type of yours.", json_schema_extra=_several(TARGET_TYPES)
        ),
    ] = None,
    node_id: Annotated[str | None, Query(description="Only this node's.", json_schema_extra=_PLAIN)] = None,
    job_id: Annotated[
        str | None, Query(description="Only this job's, by id or by address.", json_schema_extra=_PLAIN)
    ] = None,
    error_kind: Annotated[
        str | None,
        Query(description="Only those that failed with this kind of error.", json_schema_extra=_PLAIN),
    ] = None,
    page: Annotated[
        str | None, Query(description="From 1.", json_schema_extra=_numbered(1, 1_000_000))
    ] = None,
    page_size: Annotated[
        str | None, Query(description="From 1 to 100.", json_schema_extra=_numbered(20, 100))
    ] = None,
) -> Wanted:
    types = getattr(request.app.state, "pgjobs_target_types", TARGET_TYPES)
    for value in (node_id, job_id, error_kind):
        if value is not None and not _is_plain(value):
            raise problem(
                "invalid-filter",
                "node_id, job_id and error_kind have 1 to 700 characters, none of them a control character",
            )
    return Wanted(
        _among("status", status, get_args(CleanupStatus)),
        _among("target_type", target_type, types),
        node_id,
        job_id,
        error_kind,
        _number("page", "1" if page is None else page, 1_000_000),
        _number("page_size", "20" if page_size is None else page_size, 100),
    )


WantedDep = Annotated[Wanted, Depends(wanted)]


def _is_plain(value: str) -> bool:
    return re.fullmatch(_PLAIN["pattern"], value) is not None


def _among(name: str, values: list[str] | None, known: Sequence[str]) -> list[str] | None:
    for value in values or ():
        if value not in known:
            raise problem("invalid-filter", f"{name} must be one of {', '.join(known)}")
    return values


def _number(name: str, value: str, largest: int) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:10]) <= largest:
        raise problem("invalid-filter", f"{name} must be between 1 and {largest}")
    return int(value)
