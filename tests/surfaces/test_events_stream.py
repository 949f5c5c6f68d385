"""Server-sent events over a real connection, on every driver."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from pgjobs.live.feed import feed_of
from pgjobs.server import ApiSettings
from pgjobs.server.api.events import EventStream, Wanted
from pgjobs.server.app import create_app
from tests.surfaces.rest_server import NO_TLS, SECRET, problem_of, serving, token_of

JOB = "lab:modifiers:Rotate"


class Stream:
    """What an EventSource makes of the lines: events, and the id to resume with."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.last_id = ""
        self._lines = response.aiter_lines()

    async def event(self, patience: float = 15.0) -> dict[str, Any]:
        async with asyncio.timeout(patience):
            while True:
                line = await anext(self._lines)
                if line.startswith("id: "):
                    self.last_id = line[4:]
                elif line.startswith("data: "):
                    return dict(json.loads(line[6:]))

    async def kinds(self, quantity: int) -> list[str]:
        return [(await self.event())["kind"] for _ in range(quantity)]

    async def opened(self) -> None:
        assert (await anext(self._lines)).startswith("id: ")


@asynccontextmanager
async def streaming(base: str, last_id: str | None = None, **filters: str) -> AsyncIterator[Stream]:
    headers = {"Authorization": f"Bearer {token_of('ada')}"} | ({"Last-Event-ID": last_id} if last_id else {})
    async with (
        httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, verify=NO_TLS) as client,
        client.stream("GET", "/v1/joblib/events", params=filters, headers=headers) as response,
    ):
        assert response.status_code == 200
        stream = Stream(response)
        await stream.opened()
        yield stream


async def test_events_are_streamed_as_they_happen(base, ada):
    worker = ada.register()["worker_id"]
    async with streaming(base) as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert "no-cache" in stream.response.headers["cache-control"]
        assert stream.response.headers["x-accel-buffering"] == "no"
        task = await asyncio.to_thread(ada.submit)
        event = await stream.event()
        assert (event["kind"], event["task_id"], event["job"]) == ("submitted", task["id"], JOB)
        assert (event["room"], event["status"]) == ("lab", "pending")
        await asyncio.to_thread(ada.claim, worker)
        event = await stream.event()
        assert (event["kind"], event["worker_id"]) == ("claimed", worker)


async def test_whoever_comes_back_with_the_last_id_missed_nothing(base, ada, queue):
    ada.register()
    async with streaming(base) as stream:
        await queue.submit_tasks(JOB, [{}] * 3)
        seen = [(await stream.event())["task_id"]]
        last_id = stream.last_id
    await queue.submit_tasks(JOB, [{}] * 3)
    async with streaming(base, last_id) as stream:
        seen += [(await stream.event())["task_id"] for _ in range(5)]
        await queue.submit_task(JOB)
        seen.append((await stream.event())["task_id"])
    tasks = [str(task.uuid) for task in reversed(await queue.list_tasks(room="lab"))]
    assert seen == tasks


async def test_a_stream_shows_only_what_was_asked_for(base, ada, queue):
    ada.register()
    ada.register("Bend", room="hall")
    task = ada.submit()
    filters = [{"room": "lab"}, {"job": JOB}, {"task": task["id"]}]
    for wanted in filters:
        async with streaming(base, **wanted) as stream:
            await queue.submit_task("hall:modifiers:Bend")
            await queue.cancel_task((await queue.get_task(task_uuid=task["id"])).id, actor="ada")
            event = await stream.event()
            assert (event["kind"], event["room"]) == ("cancelled", "lab")
        task = ada.submit()
        filters[2]["task"] = task["id"]


async def test_a_quiet_stream_beats_and_moves_on_past_what_it_does_not_show(queue):
    await queue.register_job("lab", "modifiers", "Rotate", events="full")
    stream = EventStream(queue, feed_of(queue), Wanted("hall", None, None), None)
    lines = stream.lines(heartbeat=0.05)
    first = await anext(lines)
    await queue.submit_task(JOB)
    beats = [await anext(lines) for _ in range(2)]
    assert all(beat.startswith(": heartbeat\nid: ") for beat in beats)
    ids = [beat.split("id: ")[1].strip() for beat in beats]
    assert f"id: {ids[-1]}" not in first
    assert await queue.list_events(ids[-1]) == []
    stream.close()
    assert [line async for line in lines] == []
    await feed_of(queue).close()


async def test_what_a_provider_is_asked_is_not_streamed(base, ada):
    name = "lab:filesystem:local"
    async with streaming(base) as stream:
        await asyncio.to_thread(
            ada.put, "rooms/lab/providers", json={"category": "filesystem", "name": "local"}
        )
        await asyncio.to_thread(ada.get, f"rooms/lab/providers/{name}?path=/secret")
        events = [await stream.event() for _ in range(2)]
        assert [event["kind"] for event in events] == ["provider_registered", "provider_request"]
        assert "secret" not in json.dumps(events)


@pytest.mark.parametrize(
    ("address", "headers", "problem"),
    [
        ("events?room=a:b", {}, "invalid-room-id"),
        ("events?job=lab:modifiers:None", {}, "job-not-found"),
        ("events?task=nonsense", {}, "validation-error"),
        ("events", {"Last-Event-ID": "nonsense"}, "validation-error"),
    ],
)
def test_a_stream_that_cannot_be_is_refused(ada, address, headers, problem):
    assert problem_of(ada.get(address, headers=headers)) == problem


def test_a_stream_needs_a_token(nobody):
    assert problem_of(nobody.get("events")) == "unauthorized"


async def test_streams_end_when_the_server_stops(queue_url, queue):
    app = create_app(url=queue_url, settings=ApiSettings(auth_secret=SecretStr(SECRET)))
    with ExitStack() as servers:
        base = servers.enter_context(serving(app))
        async with streaming(base) as stream:
            stopping = asyncio.create_task(asyncio.to_thread(servers.close))
            with pytest.raises(StopAsyncIteration):
                await stream.event()
            await asyncio.wait_for(stopping, 15)
