"""The log lines of a task: read while it runs, and written by whoever holds its lease."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field
from starlette.requests import Request

from pgjobs.errors import LeaseLost
from pgjobs.queue.records import LogLine
from pgjobs.server.api.schemas import JSON_NUMBER, Wire
from pgjobs.server.auth.credentials import ActQueueDep, Reading, ReadQueueDep
from pgjobs.server.dependencies import SettingsDep
from pgjobs.server.openapi import headers, problems
from pgjobs.server.prefer import WaitDep
from pgjobs.server.problems import ProblemRoute

router = APIRouter(route_class=ProblemRoute, tags=["tasks"])

_LOOK_EVERY = 1.0
_WAITED = headers(Preference_Applied="`wait=N`, when lines were waited for.")


class LineOut(Wire):
    """A log line; a gap in the numbers of an attempt is lines that were not kept."""

    position: int = Field(description="Give it as `after`, for the lines that follow.")
    attempt: int
    number: int
    at: datetime
    level: str
    message: str

    @classmethod
    def of(cls, line: LogLine) -> Self:
        return cls(
            position=line.position,
            attempt=line.attempt,
            number=line.number,
            at=line.at,
            level=line.level,
            message=line.message,
        )


class LinesOut(Wire):
    """Log lines in order, and whether more may come."""

    items: list[LineOut]
    is_ended: bool = Field(description="Whether the task has ended: after the last page no more lines come.")


class LineIn(Wire):
    """A log line to keep."""

    message: str = Field(max_length=100_000, pattern=r"^[^\x00]*$", description="Cut after 4,000 characters.")
    level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    ago: Annotated[float, Field(ge=0, le=86400, description="Seconds since it was written."), JSON_NUMBER] = 0
    dropped: Annotated[
        int, Field(ge=0, le=1_000_000, description="Lines before it that were left out."), JSON_NUMBER
    ] = 0


class LinesIn(Wire):
    """Log lines to keep, in order."""

    lines: list[LineIn] = Field(min_length=1, max_length=1000)


@router.get(
    "/tasks/{task_id}/log",
    dependencies=[Reading],
    responses={
        200: {"description": "Lines in order.", "headers": _WAITED},
        **problems("unauthorized", "task-not-found"),
    },
)
async def list_log(
    request: Request,
    task_id: UUID,
    response: Response,
    queue: ReadQueueDep,
    settings: SettingsDep,
    wait: WaitDep,
    attempt: Annotated[int | None, Query(ge=1, lt=2**31, description="Only lines of this attempt.")] = None,
    after: Annotated[int, Query(ge=0, lt=2**63, description="The position of the last line seen.")] = 0,
    newest: Annotated[bool, Query(description="The last lines instead of the first.")] = False,
    limit: Annotated[int, Query(ge=1, le=500, description="Lines on the page.")] = 200,
) -> LinesOut:
    """Log lines of a task; with `Prefer: wait=N` and none yet, those that come meanwhile."""
    wait = min(wait, settings.long_poll_max_wait_seconds)
    until = time.monotonic() + wait
    while True:
        task = await queue.get_task(task_uuid=task_id)
        lines = await queue.list_log(task.id, of_attempt=attempt, after=after, newest=newest, page_size=limit)
        if lines or task.is_ended or time.monotonic() >= until or await request.is_disconnected():
            break
        await asyncio.sleep(min(_LOOK_EVERY, max(until - time.monotonic(), 0)))
    if wait:
        response.headers["Preference-Applied"] = f"wait={wait}"
    return LinesOut(items=[LineOut.of(line) for line in lines], is_ended=task.is_ended)


@router.post(
    "/tasks/{task_id}/log",
    status_code=204,
    responses=problems("unauthorized", "forbidden", "task-not-found", "lease-lost", "payload-too-large"),
)
async def append_log(
    task_id: UUID,
    body: LinesIn,
    queue: ActQueueDep,
    lease_token: Annotated[UUID, Header(description="The lease, as the claim named it.")],
) -> None:
    """Keep log lines with a task: for whoever holds its lease."""
    task = await queue.get_task(task_uuid=task_id)
    lines = [line.model_dump() for line in body.lines]
    (answer,) = await queue.append_log([(task.id, lease_token)], [lines])
    if answer.problem is not None:
        raise LeaseLost(f"Task {task_id} is not held under this token")
