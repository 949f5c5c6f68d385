"""The state of the queue and its database: the console's first and last page."""

from __future__ import annotations

from asyncio import to_thread
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from pgjobs.server.auth.credentials import ActorDep, ActQueueDep, Reading
from pgjobs.server.console_api.answers import (
    BlockerSeen,
    DatabaseSeen,
    Errors,
    ErrorsSeen,
    Finding,
    Findings,
    OverviewOut,
    Step,
    TableSeen,
    Throughput,
)
from pgjobs.server.openapi import problems
from pgjobs.server.problems import ProblemRoute
from pgjobs.server.reading import LookActQueueDep, LookQueueDep

router = APIRouter(route_class=ProblemRoute, tags=["console"])

STEPS = 96


@router.get("/overview", dependencies=[Reading], responses=problems("unauthorized"))
async def overview(queue: LookQueueDep) -> OverviewOut:
    """Queue status: waiting and running tasks, and those that ended in the last hour."""
    return OverviewOut.of(await queue.overview())


@router.get("/throughput", dependencies=[Reading], responses=problems("unauthorized", "job-not-found"))
async def throughput(
    queue: LookQueueDep,
    minutes: Annotated[int, Query(ge=5, le=10080, description="How far back.")] = 60,
    job: Annotated[str | None, Query(max_length=700, description="Only this job, by full name.")] = None,
) -> Throughput:
    """Tasks that ended in each step of time, with queue latency and run time; the oldest first."""
    step = timedelta(minutes=max(1, -(-minutes // STEPS)))
    steps = await queue.throughput(job, since=timedelta(minutes=minutes), step=step)
    return Throughput(items=[Step.of(row) for row in steps], step_seconds=step.total_seconds())


@router.get("/findings", responses=problems("unauthorized", "forbidden"))
async def findings(queue: LookActQueueDep, _actor: ActorDep) -> Findings:
    """Issues found, the worst first."""
    rows = await queue.driver.call("show_findings")
    return Findings(items=await to_thread(lambda: [Finding.of_row(row) for row in rows]))


@router.get("/errors", responses=problems("unauthorized", "forbidden", "job-not-found"))
async def errors(
    queue: LookActQueueDep,
    _actor: ActorDep,
    job: Annotated[str | None, Query(max_length=700, description="Only of this job, by full name.")] = None,
) -> Errors:
    """Failed attempts of the last week, counted by what they say."""
    rows = await queue.driver.call("errors", of_job=job)
    return Errors(items=await to_thread(lambda: [ErrorsSeen.of_row(row) for row in rows]))


@router.get("/database", responses=problems("unauthorized", "forbidden"))
async def database(queue: ActQueueDep, _actor: ActorDep) -> DatabaseSeen:
    """The database under the queue: table health, and what holds back vacuum."""
    facts = await queue.show_database()
    tables = await queue.storage()
    blockers = await queue.blockers()
    return DatabaseSeen(
        schema_name=facts.schema_name,
        version=facts.version,
        server=facts.server,
        total_bytes=facts.total_bytes,
        notify_queue_share=facts.notify_queue_share,
        tables=[TableSeen.of(row) for row in tables],
        blockers=await to_thread(lambda: [BlockerSeen.of(row) for row in blockers]),
    )
