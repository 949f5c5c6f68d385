"""What the server may answer: refusals that end a worker, and trouble that passes."""

from __future__ import annotations

import inspect
import threading
from typing import Any
from uuid import uuid4

import httpx
import pytest

from pgjobs.contrib.joblib import Api, JobManager
from tests.surfaces.client.rotate import ROTATE, Rotate
from tests.surfaces.processes import wait_until
from tests.surfaces.rest_server import token_of

PATIENT = {"Prefer": "wait=15"}
HEARTBEAT, CLAIM, START, COMPLETE = "heartbeat", "claim", "running", "completed"


@pytest.fixture
def queue_url(sqlite_url: str) -> str:
    """What the SDK does is the same on every driver."""
    return sqlite_url


class Detour(httpx.BaseTransport):
    """Passes requests on, unless somebody on the way answers them."""

    def __init__(self) -> None:
        self.answered: dict[str, httpx.Response] = {}
        self.quantity = 0
        self._way = httpx.HTTPTransport(trust_env=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if (answer := self.answered.get(_kind_of(request))) is None:
            return self._way.handle_request(request)
        self.quantity += 1
        return answer

    def close(self) -> None:
        self._way.close()


def _kind_of(request: httpx.Request) -> str:
    if "/workers/" in request.url.path and request.method == "PATCH":
        return HEARTBEAT
    if request.url.path.endswith("/tasks/claim"):
        return CLAIM
    return next((status for status in (START, COMPLETE) if status.encode() in request.read()), "")


@pytest.fixture
def detour(sdk: Api) -> Detour:
    detour = Detour()
    sdk.http = httpx.Client(transport=detour, timeout=30)
    return detour


def test_a_manager_is_made_as_documented():
    parameters = list(inspect.signature(JobManager).parameters.values())
    assert [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD] == ["api", "tsio"]
    assert {each.name: each.default for each in parameters[1:]} == {
        "tsio": None,
        "execute": None,
        "heartbeat_interval": 30,
        "polling_interval": 2,
        "max_unreachable_seconds": 120,
        "max_startup_retries": 5,
    }


@pytest.mark.parametrize(
    ("user", "method", "path", "body", "error"),
    [
        ("root", "GET", f"/tasks/{uuid4()}", None, KeyError),
        ("root", "PATCH", f"/workers/{uuid4()}", None, KeyError),
        (None, "POST", "/workers", None, PermissionError),
        ("ada", "PUT", "/rooms/@global/jobs", {"category": "modifiers", "name": "Other"}, PermissionError),
        ("root", "PUT", "/rooms/@global/jobs", {"category": "modifiers", "name": "Rotate"}, ValueError),
        ("root", "GET", "/tasks/nonsense", None, ValueError),
        ("root", "POST", f"/rooms/lab/tasks/{ROTATE}", {"payload": "x" * 2_000_000}, ValueError),
        ("root", "PUT", "/rooms/lab/jobs", {"category": "odd", "name": "Other"}, ValueError),
    ],
    ids=["404", "404 worker", "401", "403", "409", "422", "413", "400"],
)
def test_each_refusal_is_its_exception(
    base: str, manager: JobManager, *, user: str | None, method: str, path: str, body: Any, error: type
):
    manager.register(Rotate)
    token = token_of(user, is_superuser=user == "root") if user else None
    calls = JobManager(Api(base, token)).calls
    with pytest.raises(error) as refused:
        calls.call(method, path, **({"json": body} if body else {}))
    assert type(refused.value) is error
    assert str(refused.value).strip("'\""), "it says why"


@pytest.mark.parametrize("step", [HEARTBEAT, CLAIM])
@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
def test_a_refusal_stops_the_worker(sdk: Api, detour: Detour, step: str, status: int):
    with JobManager(sdk, execute=print, heartbeat_interval=0.05, polling_interval=0.1) as manager:
        manager.register(Rotate)
        detour.answered[step] = httpx.Response(status, json={"title": "No"})
        assert manager.stopping.wait(15)


@pytest.mark.parametrize("step", [HEARTBEAT, CLAIM, START, COMPLETE])
@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(500, json={"title": "Oh"}),
        httpx.Response(503, text="Deploying"),
        httpx.Response(429),
        httpx.Response(302, headers={"Location": "/elsewhere"}),
        httpx.Response(200, html="<h1>Back soon</h1>"),
    ],
    ids=lambda trouble: str(trouble.status_code),
)
def test_trouble_passes(sdk: Api, detour: Detour, root: Any, *, step: str, trouble: httpx.Response):
    with JobManager(sdk, execute=lambda _: "done", heartbeat_interval=0.05, polling_interval=0.1) as manager:
        manager.register(Rotate)
        detour.answered[step] = trouble
        task = root.submit(ROTATE)
        wait_until(lambda: detour.quantity >= 2 or manager.stopping.is_set())
        detour.answered.clear()
        assert root.get(f"tasks/{task['id']}", headers=PATIENT).json()["result"] == "done"
        assert not manager.stopping.is_set()


@pytest.mark.parametrize("step", [START, COMPLETE])
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_worker_whose_reports_are_refused_stops_and_one_that_may_not_start_does_not_run(
    sdk: Api, detour: Detour, root: Any, *, step: str, status: int
):
    ran: list[Any] = []
    with JobManager(sdk, execute=ran.append, polling_interval=0.1) as manager:
        manager.register(Rotate)
        detour.answered[step] = httpx.Response(status, json={"title": "No"})
        root.submit(ROTATE)
        assert manager.stopping.wait(15)
    assert len(ran) == (step == COMPLETE)


def test_a_task_that_is_no_longer_ours_ends_nothing_else(sdk: Api, detour: Detour, root: Any):
    with JobManager(sdk, execute=lambda _: "done", polling_interval=0.1) as manager:
        manager.register(Rotate)
        detour.answered[COMPLETE] = httpx.Response(409, json={"title": "Lease lost"})
        root.submit(ROTATE)
        wait_until(lambda: detour.quantity)
        detour.answered.clear()
        task = root.submit(ROTATE)
        assert root.get(f"tasks/{task['id']}", headers=PATIENT).json()["result"] == "done"


def test_a_manager_has_one_worker_however_often_it_is_created(manager: JobManager, root: Any):
    manager.register(Rotate)
    first = manager.worker_id
    assert manager.create_worker() == manager.create_worker() == first
    task_id = manager.submit(Rotate(angle=1), "lab")
    task = manager.claim()
    assert task is not None
    assert task.task_id == task_id
    assert [worker["id"] for worker in root.get("workers").json()["items"]] == [str(first)]


def test_heartbeats_are_sent_without_anything_to_execute_too(sdk: Api, root: Any):
    def heard() -> str:
        (worker,) = root.get("workers").json()["items"]
        return str(worker["last_heartbeat"])

    with JobManager(sdk, heartbeat_interval=0.05) as manager:
        manager.register(Rotate)
        first = heard()
        wait_until(lambda: heard() > first)


def test_a_heartbeat_that_fails_is_repeated_soon(sdk: Api, detour: Detour):
    class Hurried(threading.Event):
        """Remembers how long heartbeats were to wait, and does not."""

        def __init__(self) -> None:
            super().__init__()
            self.pauses: list[float | None] = []

        def wait(self, timeout: float | None = None) -> bool:
            if threading.current_thread().name == "pgjobs-heartbeat":
                self.pauses.append(timeout)
                timeout = 0.02
            return super().wait(timeout)

    with JobManager(sdk, heartbeat_interval=30) as manager:
        manager.stopping = hurried = Hurried()
        detour.answered[HEARTBEAT] = httpx.Response(503)
        manager.register(Rotate)
        wait_until(lambda: detour.quantity >= 2)
        detour.answered.clear()
        wait_until(lambda: len(hurried.pauses) > 3 and hurried.pauses[-1] == 30)
        assert hurried.pauses[:3] == [30, 3, 3]
