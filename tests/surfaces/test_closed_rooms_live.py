"""Closed rooms over Socket.IO and server-sent events, and who says of which rooms somebody is a member."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr, ValidationError

from pgjobs.errors import InvalidArgument
from pgjobs.live import models as events
from pgjobs.live.models import LiveEvent
from pgjobs.live.sockets import JoinRoom, LeaveRoom
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings, current_active_user, current_reader, get_rooms_of, install
from pgjobs.server.app import create_app
from tests.surfaces.closed_rooms import HIDDEN, OWN, SHARED, Stage, closed_rooms
from tests.surfaces.ears import Ear
from tests.surfaces.rest_server import NO_TLS, SECRET, problem_of, token_of

# How each event that clients send is kept to the rooms of whoever sends it; what is new fails until it is put here.
ASKED = {
    "join_room": "refused outside of one's rooms",
    "join_job_room": "refused outside of one's rooms",
    "join_provider_room": "refused outside of one's rooms",
    "leave_room": "tells nothing",
    "leave_job_room": "tells nothing",
    "leave_provider_room": "tells nothing",
}
# And where each event goes that servers send.
SENT = {
    "jobs_invalidate": "room",
    "task_available": "job",
    "task_status_event": "room",
    "providers_invalidate": "room",
    "provider_request": "provider",
    "provider_result_ready": "room",
}
FORBIDDEN = "/v1/problems/forbidden"


@pytest.fixture
def stage(database_url: str) -> Iterator[Stage]:
    with closed_rooms(database_url) as staged:
        yield staged


@asynccontextmanager
async def hearing(stage: Stage, user: str, rooms: list[str], **claims: Any) -> AsyncIterator[Ear]:
    ear = Ear()
    token = token_of(user, rooms=rooms, **claims)
    await ear.client.connect(stage.base, auth={"token": token}, transports=["websocket"])
    try:
        yield ear
    finally:
        await ear.client.disconnect()


def test_every_event_is_known_to_obey():
    models = {
        model.event_name()
        for _, model in inspect.getmembers(events, inspect.isclass)
        if issubclass(model, LiveEvent) and model is not LiveEvent
    }
    assert models | {JoinRoom.event_name(), LeaveRoom.event_name()} == ASKED.keys() | SENT.keys()


async def test_a_browser_joins_the_rooms_it_is_a_member_of_and_no_other(stage: Stage):
    async with hearing(stage, "ada", ["lab"]) as ear:
        assert await ear.ask("join_room", room_id="lab") == {"status": "ok"}
        used, unused = [await ear.ask("join_room", room_id=room) for room in ("shop", "nowhere")]
        assert used["type"] == FORBIDDEN
        assert used["detail"].replace("shop", "nowhere") == unused["detail"]
        assert (await ear.ask("join_room", room_id="@global"))["type"] == FORBIDDEN
        for event in ASKED:
            if event.startswith("leave"):
                answer = await ear.ask(
                    event, room_id="shop", job_name=HIDDEN, provider_name=HIDDEN, worker_id="x"
                )
                assert answer == {"status": "ok"}, event
    async with hearing(stage, "root", [], is_superuser=True) as ear:
        assert await ear.ask("join_room", room_id="shop") == {"status": "ok"}


async def test_a_worker_hears_of_the_jobs_and_providers_of_its_rooms_and_no_other(stage: Stage):
    own = stage.own["worker_id"]
    async with hearing(stage, "ada", ["lab"]) as ear:
        assert await ear.ask("join_job_room", job_name=OWN, worker_id=own) == {"status": "ok"}
        joined = await ear.ask("join_provider_room", provider_name="lab:files:disk", worker_id=own)
        assert joined == {"status": "ok"}
        for job in (HIDDEN, "shop:modifiers:Nothing", SHARED):
            assert (await ear.ask("join_job_room", job_name=job, worker_id=own))["type"] == FORBIDDEN, job
        answers = [
            await ear.ask("join_provider_room", provider_name=f"shop:files:{name}", worker_id=own)
            for name in ("hidden", "nothing")
        ]
        assert answers[0] == answers[1]
        assert answers[0]["type"] == FORBIDDEN
        unknown = "00000000-0000-4000-8000-000000000000"
        strangers = [
            str(await ear.ask("join_job_room", job_name=OWN, worker_id=worker)).replace(worker, "?")
            for worker in (stage.hidden["worker_id"], unknown)
        ]
        assert strangers[0] == strangers[1]
        assert "worker-not-found" in strangers[0]


async def test_nothing_of_another_room_is_heard(stage: Stage):
    async with hearing(stage, "ada", ["lab"]) as ear:
        await ear.ask("join_room", room_id="lab")
        await ear.ask("join_room", room_id="shop")
        await ear.ask("join_job_room", job_name=SHARED, worker_id=stage.own["worker_id"])
        await asyncio.to_thread(stage.bob.submit, HIDDEN, "shop", word="sesame")
        await asyncio.to_thread(stage.bob.submit, SHARED, "shop", word="sesame")
        shared = await asyncio.to_thread(stage.ada.submit, SHARED, "lab")
        told = await ear.hears_status(shared["id"], "pending")
        own = await asyncio.to_thread(stage.ada.submit, OWN, "lab")
        assert (await ear.hears_status(own["id"], "pending"))["queue_position"] == 2
        assert told["queue_position"] is None
        assert stage.leaks(json.dumps(ear.heard, default=str)) == []


async def test_a_stream_shows_the_events_of_ones_own_rooms(stage: Stage):
    headers = {"Authorization": f"Bearer {token_of('ada', rooms=['lab'])}"}
    async with (
        httpx.AsyncClient(base_url=stage.base, timeout=30, trust_env=False, verify=NO_TLS) as client,
        client.stream("GET", "/v1/joblib/events", headers=headers) as response,
    ):
        lines = response.aiter_lines()
        first = await anext(lines)
        await asyncio.to_thread(stage.bob.submit, HIDDEN, "shop", word="sesame")
        await asyncio.to_thread(stage.bob.submit, SHARED, "shop", word="sesame")
        own = await asyncio.to_thread(stage.ada.submit, SHARED, "lab")
        seen = []
        async with asyncio.timeout(15):
            async for line in lines:
                seen.append(line)
                if own["id"] in line:
                    break
        shown = [json.loads(line[6:]) for line in seen if line.startswith("data: ")]
        assert [(event["kind"], event["room"]) for event in shown] == [("submitted", "lab")]
        assert stage.leaks("".join(seen)) == []
    # From the cursor of before they began, somebody who resumes sees no more.
    resumed = headers | {"Last-Event-ID": first.removeprefix("id: ")}
    async with (
        httpx.AsyncClient(base_url=stage.base, timeout=30, trust_env=False, verify=NO_TLS) as client,
        client.stream("GET", "/v1/joblib/events", headers=resumed) as response,
    ):
        async with asyncio.timeout(15):
            async for line in response.aiter_lines():
                assert stage.leaks(line) == []
                if own["id"] in line:
                    break


def test_a_long_poll_for_another_rooms_task_does_not_wait(stage: Stage):
    answer = stage.ada.get(f"tasks/{stage.hidden['task_id']}", headers={"Prefer": "wait=20"}, timeout=5)
    assert problem_of(answer) == "task-not-found"
    assert "Preference-Applied" not in answer.headers


async def test_a_host_says_who_is_a_member_of_what(database_url: str):
    app = FastAPI()
    async with await Queue.connect(database_url) as queue:
        await queue.register_job("lab", "modifiers", "Rotate", keep=True)
        install(app, queue, settings=ApiSettings(room_access="members"))
        someone = SimpleNamespace(id="ada", is_superuser=False)
        teams = {"ada": ["lab"]}

        async def rooms_of(user: Any) -> list[str]:
            return teams[user.id]

        app.dependency_overrides[current_active_user] = lambda: someone
        app.dependency_overrides[current_reader] = lambda: someone
        app.dependency_overrides[get_rooms_of] = lambda: rooms_of
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://host/v1/joblib/", timeout=30
        ) as client:
            assert (await client.get("rooms/lab/tasks")).status_code == 200
            assert (await client.get("rooms/shop/tasks")).status_code == 403
            assert (await client.post("rooms/lab/tasks/lab:modifiers:Rotate", json={})).status_code == 202
            teams["ada"] = ["shop"]
            assert (await client.post("rooms/lab/tasks/lab:modifiers:Rotate", json={})).status_code == 403


async def test_users_of_a_host_that_says_nothing_are_members_of_nothing(database_url: str):
    app = FastAPI()
    async with await Queue.connect(database_url) as queue:
        install(app, queue, settings=ApiSettings(room_access="members"))
        app.dependency_overrides[current_active_user] = lambda: SimpleNamespace(id="ada", is_superuser=False)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://host/v1/joblib/", timeout=30
        ) as client:
            assert (await client.get("rooms/lab/tasks")).status_code == 401
            body = {"category": "modifiers", "name": "Rotate"}
            assert (await client.put("rooms/lab/jobs", json=body)).status_code == 403


def test_closed_rooms_and_public_reads_exclude_one_another(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValidationError, match="PGJOBS_PUBLIC_READS"):
        ApiSettings(room_access="members", public_reads=True)
    monkeypatch.setenv("PGJOBS_ROOM_ACCESS", "members")
    assert ApiSettings().is_closed
    monkeypatch.setenv("PGJOBS_ROOM_ACCESS", "friends")
    with pytest.raises(ValidationError):
        ApiSettings()


async def test_sqlite_does_not_pretend_to_close_rooms(sqlite_url: str):
    app = create_app(
        url=sqlite_url, settings=ApiSettings(room_access="members", auth_secret=SecretStr(SECRET))
    )
    with pytest.raises(InvalidArgument, match="need Postgres"):
        async with app.router.lifespan_context(app):
            pass
