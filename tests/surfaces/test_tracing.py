"""One trace from a submit to its run, where the application has a tracer; nothing at all where it has none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pgjobs.queue.queue import Queue
from tests.surfaces.cli.commands import ROOT, environment
from tests.surfaces.rest_server import Api

HERE = Path(__file__).parent
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNTRACED = """
import asyncio, sys
from datetime import timedelta
from pgjobs import Jobs, Queue, Worker

jobs = Jobs(category="mail")

@jobs.task
async def welcome(to: str) -> str:
    return to

async def main():
    async with await Queue.connect(sys.argv[1]) as queue:
        jobs.use(queue)
        handle = await welcome.submit("ada")
        assert await Worker(queue, jobs).run_until_empty() == 1
        print(await handle.result(), *(name for name in sys.modules if name.startswith("opentelemetry")))

asyncio.run(main())
"""


def program(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def spans(queue_url: str) -> dict[str, Any]:
    """What a traced program tells, by name."""
    pytest.importorskip("opentelemetry.sdk", reason="pip install opentelemetry-sdk")
    told = json.loads(program(str(HERE / "traced_program.py"), queue_url))
    assert len({span["name"] for span in told}) == len(told) == 11
    return {span["name"]: span for span in told}


def test_a_run_is_in_the_trace_of_its_submit_and_linked_to_it(spans: dict[str, Any]):
    request, submit = spans["request"], spans["submit @global:mail:welcome"]
    run = spans["process @global:mail:welcome"]
    assert {span["context"]["trace_id"] for span in spans.values()} == {request["context"]["trace_id"]}
    assert submit["parent_id"] == request["context"]["span_id"]
    assert run["parent_id"] == submit["context"]["span_id"]
    assert [link["context"]["span_id"] for link in run["links"]] == [submit["context"]["span_id"]]
    assert (submit["kind"], run["kind"]) == ("SpanKind.PRODUCER", "SpanKind.CONSUMER")
    assert (
        run["attributes"].items()
        >= {
            "messaging.system": "pgjobs",
            "messaging.operation.type": "process",
            "messaging.destination.name": "@global:mail:welcome",
            "pgjobs.room": "@global",
            "pgjobs.attempt": 1,
            "pgjobs.max_attempts": 1,
        }.items()
    )
    assert run["attributes"]["messaging.message.id"].isdigit()
    assert submit["attributes"]["messaging.batch.message_count"] == 1


def test_what_a_handler_does_is_inside_its_span(spans: dict[str, Any]):
    run = spans["process @global:mail:welcome"]["context"]["span_id"]
    assert spans["smtp to ada"]["parent_id"] == run
    assert spans["submit @global:mail:thank"]["parent_id"] == run
    in_thread = spans["process @global:mail:thank"]["context"]["span_id"]
    assert spans["in a thread"]["parent_id"] == in_thread


def test_a_span_tells_how_its_run_ended_without_what_gives_access(spans: dict[str, Any]):
    failed = spans["process @global:mail:stumble"]
    assert failed["status"]["status_code"] == "ERROR"
    assert failed["status"]["description"].endswith("db/x is away")
    assert failed["attributes"]["error.type"] == "ConnectionError"
    assert "hush" not in json.dumps(spans)
    for calm in ("welcome", "thank", "doze"):
        assert spans[f"process @global:mail:{calm}"]["status"]["status_code"] == "UNSET"


def test_without_a_tracer_nothing_is_imported(queue_url: str):
    assert program("-c", UNTRACED, queue_url) == "ada\n"


@pytest.mark.parametrize("way", ["fast path", "framework"])
@pytest.mark.parametrize(
    ("sent", "carried"),
    [
        ({"traceparent": TRACEPARENT}, TRACEPARENT),
        ({"traceparent": TRACEPARENT, "tracestate": "shop=1,mail=2"}, f"{TRACEPARENT} shop=1,mail=2"),
        ({"traceparent": TRACEPARENT, "tracestate": "x" * 513}, TRACEPARENT),
        ({"traceparent": "anything"}, None),
        ({"tracestate": "shop=1"}, None),
        ({}, None),
    ],
)
async def test_a_task_submitted_by_http_carries_the_trace_of_its_request(
    ada: Api, queue: Queue, way: str, sent: dict[str, str], carried: str | None
):
    worker = ada.register()["worker_id"]
    # A type with a parameter is not plain, so the framework looks at it.
    kind = "application/json" if way == "fast path" else "application/json; charset=utf-8"
    answer = ada.post(
        "rooms/lab/tasks/lab:modifiers:Rotate", content=b"{}", headers={"content-type": kind, **sent}
    )
    assert answer.status_code == 202, answer.text
    (lease,) = await queue.claim_tasks(worker)
    assert lease.trace_context == carried
    # What is released can be claimed over HTTP, whose answer has the same headers.
    await queue.release_task(lease)
    claimed = ada.post("tasks/claim", content=f'{{"worker_id": "{worker}"}}', headers={"content-type": kind})
    told = [claimed.headers[name] for name in ("traceparent", "tracestate") if name in claimed.headers]
    assert " ".join(told) == (carried or "")
