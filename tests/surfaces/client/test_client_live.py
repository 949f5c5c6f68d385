"""The SDK's side of a connection: rooms that are joined, left and joined again, and a server that comes and goes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from pgjobs.contrib.joblib import Api, ClaimedTask, JobManager
from pgjobs.live.models import JoinJobRoom, JoinProviderRoom, LeaveJobRoom, LeaveProviderRoom
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.client.test_client_providers import Echo
from tests.surfaces.processes import wait_until
from tests.surfaces.rest_server import token_of

ECHO = "@global:echo:upper"


@pytest.fixture
def queue_url(sqlite_url: str) -> str:
    """What the SDK does is the same on every driver."""
    return sqlite_url


class Line:
    """A Socket.IO client that is always connected and can be made to connect again."""

    connected = True

    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, str]]] = []
        self.handlers: dict[str, dict[str, Callable[..., Any]]] = {"/": {}}

    def on(self, event: str, handler: Callable[..., Any]) -> None:
        self.handlers["/"][event] = handler

    def emit(self, event: str, data: dict[str, str]) -> None:
        self.said.append((event, data))


def test_rooms_are_joined_again_after_every_connect_and_left_in_the_end(sdk):
    line, greeted = Line(), []
    line.on("connect", lambda: greeted.append("hello"))
    with JobManager(sdk, line) as manager:
        manager.register(Rotate)
        manager.register_provider(Echo, name="upper", handler=str.upper)
        worker = {"worker_id": str(manager.worker_id)}
        job, provider = {"job_name": ROTATE, **worker}, {"provider_name": ECHO, **worker}
        joined = [(JoinJobRoom.event_name(), job), (JoinProviderRoom.event_name(), provider)]
        assert line.said == joined
        line.handlers["/"]["connect"]()
        assert line.said == joined * 2
        assert greeted == ["hello"], "the host's own handler goes on working"
    left = [(LeaveProviderRoom.event_name(), provider), (LeaveJobRoom.event_name(), job)]
    assert line.said[4:] == left


def test_managers_may_share_a_connection(sdk, base, token, tsio, root):
    other = Api(base, token)
    with (
        JobManager(sdk, tsio, execute=lambda _: "first", polling_interval=600) as first,
        JobManager(other, tsio, execute=lambda _: "second", polling_interval=600) as second,
    ):
        first.register(Rotate, room="lab")
        first.register_provider(Echo, name="upper", handler=str.upper)
        second.register(Rotate, room="hall")
        for room, answer in (("lab", "first"), ("hall", "second"), ("lab", "first")):
            task = root.submit(f"{room}:modifiers:Rotate", room)
            shown = root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()
            assert shown["result"] == answer
        read = root.get(f"rooms/lab/providers/{ECHO}?word=hi", headers={"Prefer": "wait=15"})
        assert read.json() == "HI"


async def test_tasks_may_be_coroutines_of_the_programs_own_event_loop(sdk, root):
    """As docs/live.md says."""
    loop, ran_in = asyncio.get_running_loop(), []

    async def turn(task: ClaimedTask) -> float:
        ran_in.append(asyncio.get_running_loop())
        return float(task.extension.angle)

    def execute(task: ClaimedTask) -> float:
        return asyncio.run_coroutine_threadsafe(turn(task), loop).result()

    manager = JobManager(sdk, execute=execute, polling_interval=0.1)
    await asyncio.to_thread(manager.register, Rotate)
    task = await asyncio.to_thread(manager.submit, Rotate(angle=5), "lab")
    ended = await asyncio.to_thread(root.get, f"tasks/{task}", headers={"Prefer": "wait=15"})
    await asyncio.to_thread(manager.disconnect)
    assert (ended.json()["result"], ran_in) == (5, [loop])


def test_a_connection_that_cannot_speak_does_not_keep_a_worker_from_leaving(sdk, root):
    class Cut(Line):
        def emit(self, event: str, data: dict[str, str]) -> None:
            raise ConnectionError("the line is cut")

    manager = JobManager(sdk, Cut())
    manager.register(Rotate)
    manager.disconnect()
    assert root.get("workers").json()["items"] == []


@pytest.mark.parametrize("other", [token_of("somebody else"), "nonsense"])
def test_a_worker_the_server_no_longer_knows_as_ours_stops(sdk, other, caplog):
    with JobManager(sdk, execute=print, heartbeat_interval=0.05, polling_interval=0.1) as manager:
        manager.register(Rotate)
        assert not manager.stopping.wait(0.3)
        with caplog.at_level(logging.ERROR, "pgjobs.client"):
            sdk.get_headers = lambda: {"Authorization": f"Bearer {other}"}
            assert manager.stopping.wait(15)
        assert "refuses" in caplog.text


def test_a_worker_without_jobs_yet_is_kept_alive(sdk, root):
    with JobManager(sdk, execute=lambda task: task.extension.angle, heartbeat_interval=0.05) as manager:
        worker_id = str(manager.create_worker())

        def heard() -> str:
            (worker,) = root.get("workers").json()["items"]
            assert worker["id"] == worker_id
            return str(worker["last_heartbeat"])

        first = heard()
        wait_until(lambda: heard() > first)
        # Its loop is at rest by now; what it serves from here on is not kept waiting.
        manager.register(Rotate)
        task = manager.submit(Rotate(angle=7), "lab")
        assert root.get(f"tasks/{task}", headers={"Prefer": "wait=15"}).json()["result"] == 7


def test_startup_waits_for_a_server_that_comes_late(sdk, root, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr("pgjobs.contrib.joblib.api.time.sleep", waits.append)
    request, refusals = sdk.http.request, iter([httpx.ConnectError("not yet"), httpx.ReadError("nearly")])

    def refuse_at_first(*arguments: Any, **options: Any) -> httpx.Response:
        for refusal in refusals:
            raise refusal
        answer: httpx.Response = request(*arguments, **options)
        return answer

    monkeypatch.setattr(sdk.http, "request", refuse_at_first)
    with JobManager(sdk) as manager:
        manager.register(Rotate)
        assert root.get(f"rooms/lab/jobs/{ROTATE}").json()["workers"] == [str(manager.worker_id)]
    assert len(waits) == 2
    assert waits[1] > waits[0] > 0


def test_a_host_whose_token_cannot_be_had_for_a_while_is_waited_for_and_not_for_ever(sdk, root):
    broken = threading.Event()

    class Host(Api):
        def get_headers(self) -> dict[str, str]:
            if broken.is_set():
                raise OSError("the key store is locked")
            return super().get_headers()

    host = Host(sdk.base_url, token_of("root", is_superuser=True))
    with JobManager(
        host,
        execute=lambda _: "done",
        heartbeat_interval=0.05,
        polling_interval=0.1,
        max_unreachable_seconds=2,
    ) as manager:
        manager.register(Rotate)
        broken.set()
        task = root.submit(ROTATE)
        assert not manager.stopping.wait(0.5)
        broken.clear()
        assert root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()["result"] == "done"
        broken.set()
        assert manager.stopping.wait(15)


def test_a_claim_waits_longer_than_other_calls_may_take(base, token, root, caplog):
    impatient = Api(base, token, timeout=0.5)
    claimed: list[ClaimedTask] = []
    with (
        caplog.at_level(logging.WARNING, "pgjobs.client"),
        JobManager(impatient, execute=claimed.append, polling_interval=30) as manager,
    ):
        manager.register(Rotate)
        assert not manager.stopping.wait(1)
        task = root.submit(ROTATE)
        assert root.get(f"tasks/{task['id']}", headers={"Prefer": "wait=15"}).json()["status"] == "completed"
        root.delete(f"workers/{manager.worker_id}")
    assert [each.task_id for each in claimed] == [task["id"]]
    assert "cannot be reached" not in caplog.text


def test_a_task_may_go_to_a_job_of_any_room(manager, root):
    manager.register(Rotate, room="lab")
    with pytest.raises(KeyError):
        manager.submit(Rotate(), "lab")
    task_id = manager.submit(Rotate(angle=3), "lab", job_room="lab")
    assert root.get(f"tasks/{task_id}").json()["job_name"] == "lab:modifiers:Rotate"
