"""How long the console waits: every request of every page, over HTTP, in a queue of millions."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta

import httpx
import jwt

from benchmarks.database import Bench
from benchmarks.http_cycle import SECRET, serving
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from benchmarks.views import MOST, fill

JOB = "@global:bench:job7"
TASKS_TO_A_FLOW = 20
"""A hundred thousand workflows beside two million tasks."""
CLEANUPS = "/api/maintenance/incomplete-cleanup"
REQUESTS = {
    "overview": "overview",
    "throughput of a day": "throughput?minutes=1440",
    "findings": "findings",
    "tasks": "tasks",
    "tasks of a job": f"tasks?job={JOB}",
    "tasks of a room": "tasks?room=@global",
    "tasks of the last hour": "tasks?since={hour_ago}",
    "waiting tasks": "tasks?status=pending",
    "failed tasks of a job": f"tasks?status=failed&job={JOB}",
    "completed tasks": "tasks?status=completed",
    "cancelled tasks": "tasks?status=cancelled",
    "ignored tasks": "tasks?status=ignored",
    "as many tasks as are asked for at once": "tasks?limit=150",
    "a text": "tasks?text=db1234",
    "a text nobody says": "tasks?text=nothing%20says%20this",
    "an owner nobody is": "tasks?owner=nobody",
    "count of tasks": "tasks/count",
    "count of waiting tasks": "tasks/count?status=pending",
    "count of failed tasks of a job": f"tasks/count?status=failed&job={JOB}",
    "count of a text": "tasks/count?text=db1234",
    "a task": "tasks/{task}/details",
    "why a task waits": "tasks/{task}/why",
    "what a task comes after and before": "tasks/{task}/flow",
    "log lines of a task": "tasks/{task}/log",
    "attempts of a task": "tasks/{task}/attempts",
    "events of a task": "tasks/{task}/events",
    "a task of a workflow": "tasks/{flow_task}/details",
    "why a task of a workflow waits": "tasks/{flow_task}/why",
    "a task by its number": "tasks?text=4711",
    "a text in payloads": "tasks?text=db1234&payloads=true",
    "tasks of a part of a job's name": "tasks?job=job7",
    "workflows": "workflows",
    "a workflow": "workflows/{workflow}",
    "a workflow of a thousand tasks as a graph": "workflows/{workflow}/graph",
    "one of a hundred layers": "workflows/{wide_workflow}/graph",
    "what a task of a hundred layers comes after and before": "tasks/{flow_task}/flow",
    "jobs": "jobs?limit=50",
    "a job": "jobs/{job}/details",
    "errors of a job": f"errors?job={JOB}",
    "workers": "workers/status?limit=200",
    "workers of a job": f"workers/status?job={JOB}&limit=20",
    "a worker": "workers/{worker}/details",
    "providers": "providers/status?limit=200",
    "schedules": "schedules?limit=20",
    "schedules of a job": f"schedules?job={JOB}",
    "a schedule": "schedules/{schedule}",
    "when a schedule would run": "schedules/preview?cron=30%202%20*%20*%20*&timezone=Europe/Berlin",
    "database": "database",
    "cleanups": CLEANUPS,
    "cleanups, a late page": f"{CLEANUPS}?page=400",
    "cleanups that are done": f"{CLEANUPS}?status=done",
    "cleanups of a node that wait": f"{CLEANUPS}?status=queued&node_id=node3",
    "a cleanup": f"{CLEANUPS}/{{run}}",
    "nodes that clean up": f"{CLEANUPS}/nodes",
}


async def console(bench: Bench, scale: Scale, samples: Samples) -> None:
    """95th percentile of each request."""
    tasks = min(MOST, scale.backlog)
    await fill(bench, tasks, flows=tasks // TASKS_TO_A_FLOW)
    [waiting] = (await bench.queue.find_tasks(status="pending", page_size=1)).found
    [schedule] = await bench.queue.list_schedules(page_size=1)
    [cleanup, *_] = await bench.queue.list_cleanups(page_size=1)
    [worker, *_] = await bench.queue.show_workers(page_size=1)
    wide, *_ = await bench.queue.list_workflows(name="wide", page_size=1)
    in_flow, *_ = await bench.queue.list_workflow_tasks(wide.id, page_size=1)
    children = [{"name": f"t{number}", "job": JOB, "after": ["t0"]} for number in range(1, 1000)]
    flow = await bench.queue.submit_workflow("bench", [{"name": "t0", "job": JOB}, *children])
    known = {
        "job": JOB,
        "workflow": flow.uuid,
        "wide_workflow": wide.uuid,
        "flow_task": in_flow.task_uuid,
        "worker": worker.id,
        "task": waiting["id"],
        "schedule": schedule.uuid,
        "run": cleanup.run_id,
        "hour_ago": (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    token = jwt.encode({"sub": "bench", "is_superuser": True}, SECRET, algorithm="HS256")
    command = [sys.executable, "-c", "from pgjobs.cli import main; main()", "serve"]
    environment = {"PGJOBS_DATABASE_URL": bench.url, "PGJOBS_AUTH_SECRET": SECRET}
    async with serving(command, environment) as base:
        client = httpx.AsyncClient(
            base_url=base, headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=60
        )
        async with client:
            for _ in range(scale.rounds):
                slowest = 0.0
                for name, path in REQUESTS.items():
                    address = path if path.startswith("/") else f"/v1/joblib/{path}"
                    p95 = await _p95(client, address.format(**known), scale.repeats)
                    samples.add(name, p95)
                    slowest = max(slowest, p95)
                samples.add("slowest request", slowest)


async def _p95(client: httpx.AsyncClient, address: str, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        answer = await client.get(address)
        taken.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, f"{address}: {answer.text}"
    return sorted(taken)[int(times * 0.95) - 1]


SCENARIOS = [
    Scenario(
        "console",
        "p95 of each request of the console",
        "ms",
        console,
        (
            Bar(
                "slowest request with 2 million tasks and 100,000 workflows, p95",
                "slowest request",
                None,
                50,
                25,
                True,
            ),
        ),
        minutes=16.0,
    ),
]
