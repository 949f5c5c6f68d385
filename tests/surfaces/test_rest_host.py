"""The API inside somebody else's application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI, HTTPException, Path
from pydantic import BaseModel

from pgjobs.queue.queue import Queue
from pgjobs.server import (
    ApiSettings,
    JobLibSettings,
    ProblemException,
    current_active_user,
    get_queue,
    get_result_backend,
    get_settings,
    install,
    problem_exception_handler,
    register_internal,
    router,
    validate_room_id,
    verify_writable_room,
)
from pgjobs.upkeep.sweeper import run_sweeper
from tests.surfaces.processes import wait_until
from tests.surfaces.rest_server import Api, problem_of, serving

USER = SimpleNamespace(id=UUID(int=7), is_superuser=True)


def hosting(url: str, **options: Any) -> FastAPI:
    """A host that opens the queue in its own lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with await Queue.connect(url) as queue:
            app.dependency_overrides[get_queue] = lambda: queue
            yield

    app = FastAPI(lifespan=lifespan, **options)
    app.dependency_overrides[current_active_user] = lambda: USER
    return app


def test_the_documented_integration_works(queue_url: str, queue: Queue):
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # The documented change: one queue instead of a session maker.
        async with await Queue.connect(queue_url) as my_queue:
            app.dependency_overrides[get_queue] = lambda: my_queue
            settings = JobLibSettings()
            sweeping = asyncio.create_task(run_sweeper(my_queue, settings))
            yield
            sweeping.cancel()

    app = FastAPI(lifespan=lifespan)
    app.dependency_overrides[current_active_user] = lambda: USER
    app.add_exception_handler(ProblemException, problem_exception_handler)
    app.include_router(router)
    with serving(app) as base, Api(base, None) as api:
        job = api.register(room="@global")
        task = api.submit("@global:modifiers:Rotate", room="room_123", angle=90)
        claimed = api.claim(job["worker_id"])
        assert claimed["id"] == task["id"]
        api.update(claimed, "running")
        assert api.update(claimed, "completed").json()["status"] == "completed"
        assert api.get("/v1/me").json() == {"id": str(USER.id), "is_superuser": True}


def test_the_hosts_own_errors_stay_as_they_are(queue_url: str, queue: Queue):
    app = hosting(queue_url)

    @app.get("/own/{number}")
    async def own(number: int) -> int:
        if number == 1:
            raise HTTPException(418, "teapot")
        raise RuntimeError("the host's own trouble")

    install(app)
    with serving(app) as base, Api(base, None) as api:
        assert api.get("/own/x").json()["detail"][0]["loc"] == ["path", "number"]
        assert (api.get("/own/1").status_code, api.get("/own/1").json()) == (418, {"detail": "teapot"})
        # The server hangs up after such an error; a kept connection would be used once too often.
        assert api.get("/own/2", headers={"Connection": "close"}).text == "Internal Server Error"
        assert api.get("/nowhere").json() == {"detail": "Not Found"}
        assert problem_of(api.get("rooms/a@b/jobs")) == "invalid-room-id"
        assert problem_of(api.get("rooms/lab/jobs", params={"limit": -1})) == "validation-error"


def test_a_guard_locks_rooms_for_registering_and_submitting_only(queue_url: str, queue: Queue):
    app = hosting(queue_url)
    locked: set[str] = set()

    async def guard(room_id: str = Path()) -> str:
        validate_room_id(room_id)
        if room_id in locked:
            raise HTTPException(status_code=423, detail="Room is locked")
        return room_id

    app.dependency_overrides[verify_writable_room] = guard
    install(app)
    with serving(app) as base, Api(base, None) as api:
        job = api.register()
        api.submit()
        locked.add("lab")
        refused = [
            api.put("rooms/lab/jobs", json={"category": "modifiers", "name": "Rotate"}),
            api.post("rooms/lab/tasks/lab:modifiers:Rotate", json={}),
            api.put("rooms/lab/providers", json={"category": "fs", "name": "disk"}),
        ]
        assert {(answer.status_code, problem_of(answer)) for answer in refused} == {(423, "room-locked")}
        assert refused[0].json()["detail"] == "Room is locked"
        task = api.claim(job["worker_id"])
        assert api.update(task, "running").status_code == 200
        assert api.get("rooms/lab/tasks").json()["total"] == 1


def test_unexpected_errors_are_problems_without_details(queue_url: str, queue: Queue):
    app = hosting(queue_url)

    def broken() -> Any:
        raise RuntimeError("the password is swordfish")

    app.dependency_overrides[get_settings] = broken
    install(app)
    with serving(app) as base, Api(base, None) as api:
        answer = api.post("rooms/lab/tasks/a:b:c", json={})
        assert (answer.status_code, problem_of(answer)) == (500, "internal-error")
        assert "swordfish" not in answer.text


class MinimalBackend:
    """The five methods of the older protocol."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def store(self, key: str, data: bytes, ttl: int) -> None:
        self.kept[key] = data

    async def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    async def delete(self, key: str) -> None:
        self.kept.pop(key, None)

    async def acquire_inflight(self, key: str, ttl: int) -> bool:
        return self.kept.setdefault(key, b"1") == b"1" and not self.kept.update({key: b"2"})

    async def release_inflight(self, key: str) -> None:
        self.kept.pop(key, None)


def test_a_host_may_keep_answers_elsewhere(queue_url: str, queue: Queue):
    app = hosting(queue_url)
    backend = MinimalBackend()
    app.dependency_overrides[get_result_backend] = lambda: backend
    install(app)
    with serving(app) as base, Api(base, None) as api:
        provider = api.put("rooms/lab/providers", json={"category": "fs", "name": "disk"}).json()
        request_hash = api.get("rooms/lab/providers/lab:fs:disk").json()["request_hash"]
        api.post(
            f"providers/{provider['id']}/results", content=b"\0", headers={"X-Request-Hash": request_hash}
        )
        assert api.get("rooms/lab/providers/lab:fs:disk").content == b"\0"
        waited = api.get("rooms/lab/providers/lab:fs:disk?a=b", headers={"Prefer": "wait=1"})
        assert problem_of(waited) == "provider-timeout"
    assert b"\0" in backend.kept.values()


def test_settings_come_from_both_names(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ZNDRAW_JOBLIB_LONG_POLL_MAX_WAIT_SECONDS", "7")
    monkeypatch.setenv("ZNDRAW_JOBLIB_ALLOWED_CATEGORIES", '["cooking"]')
    monkeypatch.setenv("ZNDRAW_JOBLIB_PROVIDER_RESULT_TTL_SECONDS", "1")
    monkeypatch.setenv("PGJOBS_PROVIDER_RESULT_TTL_SECONDS", "2")
    settings = ApiSettings()
    assert settings.long_poll_max_wait_seconds == 7
    assert settings.allowed_categories == ["cooking"]
    assert settings.provider_result_ttl_seconds == 2


class Double(BaseModel):
    number: int

    def run(self) -> int:
        if self.number < 0:
            raise ValueError("too small")
        return self.number * 2


def await_job(api: Api, job: str) -> None:
    """A server answers before its own jobs are registered, as it does without a database."""
    wait_until(lambda: api.get(f"rooms/lab/jobs/{job}").status_code == 200)


def test_internal_jobs_run_inside_the_server(queue_url: str, queue: Queue):
    app = hosting(queue_url)

    async def shout(payload: Any, room_id: str, task_id: UUID) -> str:
        return f"{payload['word'].upper()} in {room_id}"

    register_internal(app, {"modifiers:Double": Double, "@internal:modifiers:Shout": shout})
    install(app)
    wait = {"Prefer": "wait=20"}
    with serving(app) as base, Api(base, None) as api:
        await_job(api, "@internal:modifiers:Double")
        await_job(api, "@internal:modifiers:Shout")
        done = api.submit("@internal:modifiers:Double", number=21)
        assert api.get(f"tasks/{done['id']}", headers=wait).json()["result"] == 42
        loud = api.submit("@internal:modifiers:Shout", word="hi")
        assert api.get(f"tasks/{loud['id']}", headers=wait).json()["result"] == "HI in lab"
        bad = api.submit("@internal:modifiers:Double", number=-1)
        failed = api.get(f"tasks/{bad['id']}", headers=wait).json()
        assert (failed["status"], failed["error"]) == ("failed", "too small")
        job = api.get("rooms/lab/jobs/@internal:modifiers:Double").json()
        assert job["schema"] == Double.model_json_schema()


def test_an_internal_task_that_cannot_be_dispatched_fails(queue_url: str, queue: Queue):
    app = hosting(queue_url)
    seen = []

    async def executor(job: str, payload: Any, room_id: str, task_id: UUID) -> None:
        seen.append((job, payload, room_id))
        if payload.get("broken"):
            raise ConnectionError("no broker")

    register_internal(app, {"modifiers:Double": Double}, executor=executor)
    install(app)
    with serving(app) as base, Api(base, None) as api:
        await_job(api, "@internal:modifiers:Double")
        broken = api.submit("@internal:modifiers:Double", broken=True)
        failed = api.get(f"tasks/{broken['id']}", headers={"Prefer": "wait=20"}).json()
        assert (failed["status"], failed["error"]) == ("failed", "Failed to dispatch to internal executor")
        passed = api.submit("@internal:modifiers:Double", number=1)
        for _ in range(100):
            task = api.get(f"tasks/{passed['id']}").json()
            if task["status"] == "claimed":
                break
            api.get(f"tasks/{uuid4()}", headers={"Prefer": "wait=1"})
        assert task["status"] == "claimed"
        assert api.update(task, "running").status_code == 200
        assert api.update(task, "completed", result=2).status_code == 200
    assert ("@internal:modifiers:Double", {"number": 1}, "lab") in seen


def test_internal_jobs_without_an_executor_are_unavailable(queue_url: str, queue: Queue):
    app = hosting(queue_url)
    install(app)
    with serving(app) as base, Api(base, None) as api:
        job = api.register("Orphan", room="@internal")
        # A worker that came over HTTP is never handed such a task: it would wait for ever.
        for _ in range(2):
            answer = api.post("rooms/lab/tasks/@internal:modifiers:Orphan", json={})
            assert (answer.status_code, problem_of(answer)) == (503, "internal-job-not-configured")
            assert answer.headers["retry-after"] == "2"
            api.delete(f"workers/{job['worker_id']}")
        assert problem_of(api.post("rooms/lab/tasks/@internal:modifiers:No", json={})) == "job-not-found"
        assert api.get("rooms/lab/tasks").json()["total"] == 0


async def test_a_worker_beside_the_server_runs_internal_jobs_too(queue_url: str, queue: Queue):
    app = hosting(queue_url)
    install(app)
    await queue.register_job("@internal", "modifiers", "Beside")
    with serving(app) as base, Api(base, None) as api:
        await queue.register_worker("beside", jobs=["@internal:modifiers:Beside"])
        assert api.submit("@internal:modifiers:Beside")["status"] == "pending"
