"""What one request or one text asks for never keeps the server from answering others."""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from pgjobs.drivers import redaction
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings, ProblemException, schema_check, validation
from tests.hostile_texts import hostile_texts
from tests.surfaces.conftest import Serve
from tests.surfaces.rest_server import Api, token_of

BOUND = 16_000
"""Characters that an event loop may redact for one request: some milliseconds of work at worst."""


@pytest.fixture
def on_loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long the texts were that event loops have redacted."""
    lengths: list[int] = []
    plain = redaction.is_harmless

    def watched(message: str) -> bool:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return plain(message)
        lengths.append(len(message))
        return plain(message)

    monkeypatch.setattr(redaction, "is_harmless", watched)
    return lengths


@pytest.mark.postgres_only
async def test_pages_with_huge_documents_are_redacted_beside_the_loop(
    serve: Serve, queue: Queue, on_loops: list[int]
):
    texts = list(hostile_texts(8000).values())[:100]
    job = "lab:backups:x"
    await queue.register_job("lab", "backups", "x", schema={"examples": texts[:5]}, events="full")
    start = await queue.watch_events()
    made = await queue.submit_task(job, {"texts": texts}, owner="https://u:p@h/" * 10)
    await queue.register_schedule("x", job, cron="@daily", payload={"texts": texts})
    leases = await queue.claim_tasks(holder="somebody", lease=timedelta(minutes=1), in_room="lab")
    await queue.report_progress(leases, [{"texts": texts[:10]}])
    schedule = (await queue.list_schedules())[0].uuid
    task = (await queue.get_task(made.task_id)).uuid
    places = ["tasks", "jobs", "schedules", f"schedules/{schedule}"]
    places += [f"tasks/{task}/{part}" for part in ("details", "events", "attempts", "why")]
    with Api(serve(), token_of("root", is_superuser=True)) as root:
        on_loops.clear()
        for place in places:
            assert root.get(place).status_code == 200, place
            assert sum(on_loops) <= BOUND, place
        with root.stream("GET", "events", headers={"Last-Event-ID": start}) as stream:
            assert any("submitted" in line for line in stream.iter_lines())
    assert sum(on_loops) <= BOUND


GREEDY = {"properties": {"x": {"pattern": "^(a|b)*a(a|b){500}c"}}}
MANY = {"dependentRequired": {"x": [f"name {number}" for number in range(20_000)]}}
CHAIN = {"$ref": "#/$defs/0", "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(1500)}}
CHAIN["$defs"]["1500"] = {}  # type: ignore[index]


@pytest.mark.parametrize(
    ("schema", "payload", "complaints"),
    [(GREEDY, {"x": "ab" * 30_000}, 1), (MANY, {"x": 1}, 20), (CHAIN, {"x": 1}, 0)],
    ids=["pattern", "many parts", "long chain"],
)
async def test_a_payload_that_is_dear_to_check_is_checked_elsewhere(
    monkeypatch: pytest.MonkeyPatch, schema: Any, payload: Any, complaints: int
):
    def refuse(*_: Any) -> Any:
        raise AssertionError("checked in this process")

    class OneJob:
        async def get_job(self, *_: Any, **__: Any) -> Any:
            return SimpleNamespace(schema=schema)

    monkeypatch.setattr(schema_check, "problems_of", refuse)
    monkeypatch.setattr(validation, "SECONDS", 30.0)
    queue: Any = OneJob()
    with pytest.raises(ProblemException) if complaints else nullcontext() as refused:
        await validation.check_payload(queue, "lab:a:b", "lab", payload, ApiSettings(validate_payloads=True))
    assert refused is None or len(refused.value.problem.errors or []) == complaints


def test_a_schema_of_a_thousand_references_has_a_size():
    assert sys.getrecursionlimit() <= 1500
    assert validation.expanded_size(CHAIN) == validation.ENDLESS
