"""Hosts that bring their own Socket.IO server, or none."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import socketio
from fastapi import FastAPI, HTTPException
from socketio.exceptions import ConnectionError as Refused

from pgjobs.errors import Unauthorized
from pgjobs.live.feed import feed_of
from pgjobs.live.models import Emission, JobsInvalidate
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import get_tsio, install
from pgjobs.server.auth.credentials import User
from pgjobs.server.bridge import Bridge, attach, bridge_of, emit
from tests.surfaces.ears import Ear, eventually
from tests.surfaces.rest_server import NO_TLS, SECRET, Api, serving, token_of

JOB = "lab:modifiers:Rotate"


class Recorder:
    """A Socket.IO server as far as emitting goes."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any, str]] = []

    async def emit(self, event: str, data: Any = None, *, room: str, **_: Any) -> None:
        self.sent.append((event, data, room))


async def whoever_says_so(token: str | None) -> User:
    if not token:
        raise Unauthorized("Say who you are")
    return User(token)


async def test_a_host_keeps_its_own_handlers(queue_url, queue):
    sio = socketio.AsyncServer(async_mode="asgi")
    calls: list[str] = []

    async def connect(sid: str, environ: Any) -> None:
        calls.append("connect")
        await sio.save_session(sid, {"of": "the host"})

    async def disconnect(sid: str, reason: str) -> None:
        calls.append(f"disconnect: {reason}")

    async def greet(sid: str, data: Any) -> str:
        return f"hello {data}"

    async def who(sid: str) -> dict[str, str]:
        return dict(await sio.get_session(sid))

    for handler in (connect, disconnect, greet, who):
        sio.on(handler.__name__, handler)

    async def may_read(user: Any, room_id: str) -> bool:
        return bool(user.id == "ada" and room_id == "lab")

    host = FastAPI()
    host.mount("/socket.io", socketio.ASGIApp(sio))
    opened: list[Queue] = []

    async def queue_of_host() -> Queue:
        if not opened:
            opened.append(await Queue.connect(queue_url))
            attach(sio, opened[0], authenticate=whoever_says_so, may_read=may_read)
        return opened[0]

    @host.get("/ready")
    async def ready() -> None:
        await queue_of_host()

    with serving(host) as base:
        async with httpx.AsyncClient(trust_env=False, verify=NO_TLS) as client:
            (await client.get(f"{base}/ready")).raise_for_status()
        ear = Ear()
        await ear.client.connect(base, auth={"token": "ada"}, transports=["websocket"], wait_timeout=10)
        assert await ear.client.call("greet", "ada") == "hello ada"
        assert (await ear.ask("join_room", room_id="hall"))["status"] == 403
        await ear.join("lab")
        await queue.register_job("lab", "modifiers", "Rotate", events="full")
        await ear.hears("jobs_invalidate")
        assert feed_of(opened[0]).is_running
        worker = await queue.register_worker(jobs=[JOB], actor="ada")
        await ear.ask("join_job_room", job_name=JOB, worker_id=str(worker.id))
        assert await ear.client.call("who") == {"of": "the host", "worker_id": str(worker.id)}
        await ear.client.disconnect()
        await eventually(lambda: len(calls) == 2)
        assert not feed_of(opened[0]).is_running, "nobody is there to be told"
        assert [call.partition(":")[0] for call in calls] == ["connect", "disconnect"]


@contextmanager
def hosting(queue_url: str, sio: socketio.AsyncServer, opened: list[Queue], **options: Any) -> Iterator[str]:
    """A host with nothing but its own Socket.IO server, attached to a queue when it starts."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with await Queue.connect(queue_url) as queue:
            opened.append(queue)
            attach(sio, queue, **options)
            yield

    host = FastAPI(lifespan=lifespan)
    host.mount("/socket.io", socketio.ASGIApp(sio))
    with serving(host) as base:
        yield base


async def test_unless_told_otherwise_a_host_takes_the_tokens_of_the_http_api(queue_url, queue):
    token = await queue.create_token("ada")
    with hosting(queue_url, socketio.AsyncServer(async_mode="asgi"), []) as base:
        with pytest.raises(Refused):
            await Ear().client.connect(
                base, auth={"token": "nonsense"}, transports=["websocket"], retry=False
            )
        ear = Ear()
        await ear.client.connect(base, auth={"token": token.token}, transports=["websocket"], wait_timeout=10)
        await ear.join("lab")
        await queue.register_job("lab", "modifiers", "Rotate")
        await ear.hears("jobs_invalidate")
        await ear.client.disconnect()


async def test_a_host_that_cannot_tell_who_connects_refuses_them_whatever_it_raises(queue_url, queue):
    answers: list[Any] = []

    async def authenticate(_token: str | None) -> User:
        raise HTTPException(401, "Not you")

    with hosting(queue_url, socketio.AsyncServer(async_mode="asgi"), [], authenticate=authenticate) as base:
        ear = Ear()
        ear.client.on("connect_error", answers.append)
        with pytest.raises(Refused):
            await ear.client.connect(
                base, auth={"token": "ada"}, transports=["websocket"], retry=False, wait_timeout=15
            )
    assert [answer["data"]["status"] for answer in answers] == [401]


async def test_a_connection_that_is_lost_while_its_worker_joins_takes_it_away_too(queue_url, queue):
    await queue.register_job("lab", "modifiers", "Rotate")
    worker = await queue.register_worker(jobs=[JOB], actor="ada")
    sio = socketio.AsyncServer(async_mode="asgi")
    is_lost, is_joining = threading.Event(), threading.Event()

    async def disconnect(_sid: str, _reason: str) -> None:
        is_lost.set()

    sio.on("disconnect", disconnect)
    opened: list[Queue] = []
    with hosting(queue_url, sio, opened, authenticate=whoever_says_so) as base:
        heartbeat = opened[0].heartbeat_worker

        async def heartbeat_slowly(worker_id: UUID, **connected: Any) -> Any:
            shown = await heartbeat(worker_id, **connected)
            is_joining.set()
            await eventually(is_lost.is_set)
            return shown

        opened[0].heartbeat_worker = heartbeat_slowly  # type: ignore[method-assign]
        ear = Ear()
        await ear.client.connect(base, auth={"token": "ada"}, transports=["websocket"], wait_timeout=10)
        await ear.client.emit("join_job_room", {"job_name": JOB, "worker_id": str(worker.id)})
        await eventually(is_joining.is_set)
        await ear.client.disconnect()

        async def is_gone() -> bool:
            return not await queue.list_workers()

        await eventually(is_gone)


async def test_a_router_forwards_to_the_injected_server(queue_url, queue, monkeypatch):
    monkeypatch.setenv("PGJOBS_DATABASE_URL", queue_url)
    sio = Recorder()
    host = FastAPI()
    host.dependency_overrides[get_tsio] = lambda: sio
    install(host)
    with serving(host):
        await queue.register_job("lab", "modifiers", "Rotate", events="full")
        await eventually(lambda: sio.sent)
        assert sio.sent[0][0] == "jobs_invalidate"
        assert sio.sent[0][2] == "room:lab"
        task = await queue.submit_task(JOB)
        await eventually(lambda: len(sio.sent) >= 3)
        assert [sent[0] for sent in sio.sent] == ["jobs_invalidate", "task_available", "task_status_event"]
        assert sio.sent[1][1]["task_id"] == str((await queue.get_task(task.task_id)).uuid)


async def test_a_router_without_a_server_says_nothing_and_works(queue_url, queue, monkeypatch, caplog):
    monkeypatch.setenv("PGJOBS_DATABASE_URL", queue_url)
    monkeypatch.setenv("PGJOBS_AUTH_SECRET", SECRET)
    host = FastAPI()
    host.dependency_overrides[get_tsio] = lambda: None
    install(host)
    with serving(host) as base, Api(base, token_of("ada")) as ada:
        worker = ada.register()["worker_id"]
        task = ada.submit()
        ada.claim(worker)
        assert ada.update(task, "cancelled").is_success
        assert ada.delete(f"workers/{worker}").status_code == 204
    assert [record.message for record in caplog.records if record.name.startswith("pgjobs")] == []


async def test_without_a_server_nothing_is_sent_and_nothing_breaks(queue):
    await emit(None, [Emission(JobsInvalidate(), "room:lab")])
    bridge = Bridge(queue, None)
    await bridge.start()
    await queue.register_job("lab", "modifiers", "Rotate", events="full")
    await bridge.close()


async def test_emit_sends_what_it_is_given(queue):
    sio = Recorder()
    await emit(sio, {Emission(JobsInvalidate(), "room:lab")})
    assert sio.sent == [("jobs_invalidate", {}, "room:lab")]


async def test_a_server_has_one_bridge_however_often_it_is_attached(queue):
    sio = Recorder()
    assert bridge_of(sio, queue) is bridge_of(sio, queue)
    for _ in range(2):
        await bridge_of(sio, queue).start()
    await queue.register_job("lab", "modifiers", "Rotate", events="full")
    await eventually(lambda: sio.sent)
    await queue.submit_task(JOB)
    await eventually(lambda: len(sio.sent) >= 3)
    assert [name for name, _, _ in sio.sent] == ["jobs_invalidate", "task_available", "task_status_event"]
    await bridge_of(sio, queue).close()


async def test_a_worker_that_is_lost_here_but_joined_elsewhere_is_left_alone(queue):
    await queue.register_job("lab", "modifiers", "Rotate")
    worker = await queue.register_worker(jobs=[JOB], actor="ada")
    sio = socketio.AsyncServer(async_mode="asgi")
    handlers = attach(sio, queue, authenticate=whoever_says_so)
    here, elsewhere = uuid4(), uuid4()
    await queue.heartbeat_worker(worker.id, connection_id=elsewhere)
    await handlers.retire(worker.id, here)
    assert [left.id for left in await queue.list_workers()] == [worker.id]
    handlers.close()
    await handlers.retire(worker.id, elsewhere)
    assert [left.id for left in await queue.list_workers()] == [worker.id]
    handlers.is_closing = False
    await handlers.retire(worker.id, elsewhere)
    assert await queue.list_workers() == []
