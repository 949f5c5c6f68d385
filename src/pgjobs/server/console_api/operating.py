"""What operators change from the console: policies, payloads, many cleanups, upkeep."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field, StrictBool

from pgjobs.server.api.schemas import JSON_NUMBER, Wire
from pgjobs.server.api.tasks import IdempotencyKey
from pgjobs.server.auth.credentials import OperatorDep
from pgjobs.server.console_api.schemas import Because
from pgjobs.server.dependencies import QueueDep, SettingsDep
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.validation import check_payload

router = APIRouter(route_class=ProblemRoute, tags=["console"])

Seconds = Annotated[float, Field(ge=0, le=3_155_760_000), JSON_NUMBER]


class PolicyWanted(Because):
    """How a job is retried and recorded; what is left out keeps its value."""

    max_attempts: Annotated[int, Field(ge=1, le=10_000), JSON_NUMBER] | None = None
    backoff_base_seconds: Seconds | None = None
    backoff_cap_seconds: Seconds | None = None
    events: Literal["failures", "full"] | None = None


class Resubmission(Because):
    """Another payload for a copy of a task; hidden secrets that are left as shown are kept."""

    payload: dict[str, Any]
    replace: StrictBool = Field(default=False, description="Ignore the first task: the copy replaces it.")


class Resubmitted(Wire):
    """The new task."""

    task_id: UUID


class SweepWanted(Wire):
    """One step of upkeep; all of them if none is named."""

    step: (
        Literal[
            "leases",
            "workers",
            "internal",
            "schedules",
            "scheduled",
            "reads",
            "rollups",
            "errors",
            "retention",
            "storage",
        ]
        | None
    ) = None


class StepSwept(Wire):
    """How many rows a step of upkeep changed."""

    step: str
    changed: int
    error: str | None


class Swept(Wire):
    """What upkeep did."""

    items: list[StepSwept]


def _duration(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


@router.post(
    "/jobs/{job_id}/policy",
    status_code=204,
    responses=problems("unauthorized", "forbidden", "job-not-found", "payload-too-large"),
)
async def set_job_policy(job_id: UUID, body: PolicyWanted, queue: QueueDep, operator: OperatorDep) -> None:
    """Change how a job is retried and recorded. For superusers."""
    await queue.driver.call(
        "set_job_policy",
        job=str(job_id),
        max_attempts=body.max_attempts,
        backoff_base=_duration(body.backoff_base_seconds),
        backoff_cap=_duration(body.backoff_cap_seconds),
        events=body.events,
        actor=operator.id,
        reason=body.reason,
    )


@router.post(
    "/tasks/{task_id}/resubmit",
    status_code=201,
    responses=problems(
        "unauthorized",
        "forbidden",
        "task-not-found",
        "job-not-found",
        "job-unavailable",
        "invalid-task-transition",
        "payload-too-large",
        "payload-invalid",
        "quota-exceeded",
    ),
)
async def resubmit_task(
    task_id: UUID,
    body: Resubmission,
    queue: QueueDep,
    operator: OperatorDep,
    settings: SettingsDep,
    idempotency_key: IdempotencyKey = None,
) -> Resubmitted:
    """Submit a copy of a task with another payload, in place of it or beside it. For superusers."""
    [kept] = await queue.driver.call("restore_payload", task_uuid=task_id, payload=body.payload)
    await check_payload(queue, kept["job"], kept["room"], kept["restored"], settings)
    [task] = await queue.driver.call(
        "resubmit_task",
        task_id=(await queue.get_task(task_uuid=task_id)).id,
        payload=kept["restored"],
        replace=body.replace,
        actor=operator.id,
        reason=body.reason,
        idempotency_key=idempotency_key,
    )
    return Resubmitted(task_id=task["uuid"])


@router.post("/sweep", responses=problems("unauthorized", "forbidden"))
async def sweep(body: SweepWanted, queue: QueueDep, _operator: OperatorDep) -> Swept:
    """Run upkeep now. For superusers."""
    rows = await queue.driver.call("sweep", step=body.step)
    return Swept(
        items=[StepSwept(step=row["swept"], changed=row["changed"], error=row["error"]) for row in rows]
    )
