"""Every name that hosts and workers of the older package import, where this one keeps it."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
import socketio
from fastapi import FastAPI, Request

from pgjobs import cleanup_worker, emit, get_settings, run_sweeper
from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import JobLibSettings, get_queue, get_tsio, install
from tests.surfaces.ears import eventually, listening
from tests.surfaces.rest_server import serving

NAMES = {
    "pgjobs": """
        cleanup_worker emit get_settings run_sweeper validate_room_id verify_writable_room
    """,
    "pgjobs.server": """
        router ProblemException problem_exception_handler run_sweeper JobLibSettings get_queue
        current_active_user current_superuser verify_writable_room validate_room_id get_tsio
        get_result_backend ResultBackend get_settings cleanup_worker emit
    """,
    "pgjobs.upkeep.sweeper": "run_sweeper cleanup_worker",
    "pgjobs.live.models": """
        JobsInvalidate TaskAvailable TaskStatusEvent JoinJobRoom LeaveJobRoom ProvidersInvalidate ProviderRequest
        ProviderResultReady JoinProviderRoom LeaveProviderRoom Emission
    """,
    "pgjobs.errors": "JobNotFound SchemaConflict InvalidCategory WorkerNotFound TaskNotFound ProviderNotFound",
    "pgjobs.client": "ApiManager ClaimedTask TaskStream JobManager Extension Category Provider",
}
JOB = "lab:modifiers:Rotate"


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in NAMES.items() for name in names.split()]
)
def test_the_name_is_where_it_is_looked_for(module: str, name: str):
    found = getattr(import_module(module), name)
    assert inspect.getdoc(found) or name == "router"


def test_looking_for_names_costs_nothing_until_they_are_used():
    program = "import sys, json, pgjobs; print(json.dumps([m for m in sys.modules if 'fastapi' in m or 'httpx' in m]))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(loaded.stdout) == []


def test_settings_have_the_documented_defaults():
    settings = JobLibSettings()
    assert settings.allowed_categories == ["modifiers", "selections", "analysis"]
    assert (settings.worker_timeout_seconds, settings.sweeper_interval_seconds) == (60, 30)
    assert (settings.internal_task_timeout_seconds, settings.long_poll_max_wait_seconds) == (3600, 120)
    assert (settings.provider_result_ttl_seconds, settings.provider_inflight_ttl_seconds) == (300, 30)
    assert isinstance(get_settings(), JobLibSettings)


@pytest.mark.parametrize("name", ["PGJOBS_", "ZNDRAW_JOBLIB_"])
def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setenv(f"{name}ALLOWED_CATEGORIES", '["analysis"]')
    for setting in ("WORKER_TIMEOUT", "SWEEPER_INTERVAL", "LONG_POLL_MAX_WAIT", "PROVIDER_RESULT_TTL"):
        monkeypatch.setenv(f"{name}{setting}_SECONDS", "7")
    settings = JobLibSettings()
    assert settings.allowed_categories == ["analysis"]
    assert {settings.worker_timeout_seconds, settings.sweeper_interval_seconds} == {7}
    assert {settings.long_poll_max_wait_seconds, settings.provider_result_ttl_seconds} == {7}


def test_each_application_reads_the_environment_once(monkeypatch: pytest.MonkeyPatch):
    def asked_by(app: FastAPI) -> int:
        request = Request({"type": "http", "app": app})
        return get_settings(request).worker_timeout_seconds

    first, second = FastAPI(), FastAPI()
    monkeypatch.setenv("PGJOBS_WORKER_TIMEOUT_SECONDS", "7")
    assert asked_by(first) == 7
    monkeypatch.setenv("PGJOBS_WORKER_TIMEOUT_SECONDS", "8")
    assert (asked_by(first), asked_by(second)) == (7, 8)


async def test_a_hosts_own_disconnect_handler_cleans_up_and_its_clients_hear_of_it(
    queue_url: str, queue: Queue
):
    """The host's rooms, sessions and handlers; the documented change is the queue instead of a database session."""
    tsio = socketio.AsyncServer(async_mode="asgi")
    hosts: dict[str, Queue] = {}

    async def on_connect(sid: str, _environ: Any, auth: Any) -> None:
        await tsio.enter_room(sid, "room:lab")

    async def handle_join(sid: str, data: Any) -> dict[str, str]:
        await tsio.enter_room(sid, f"jobs:{data['job_name']}")
        await tsio.save_session(sid, {"worker_id": data["worker_id"]})
        return {"status": "ok"}

    async def on_disconnect(sid: str, reason: str) -> None:
        session = await tsio.get_session(sid)
        if worker_id := (session or {}).get("worker_id"):
            emissions = await cleanup_worker(hosts["queue"], UUID(worker_id))
            await emit(tsio, emissions)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with await Queue.connect(queue_url) as hosts["queue"]:
            app.dependency_overrides[get_queue] = lambda: hosts["queue"]
            yield

    for name, handler in {
        "connect": on_connect,
        "join_job_room": handle_join,
        "disconnect": on_disconnect,
    }.items():
        tsio.on(name, handler)
    app = FastAPI(lifespan=lifespan)
    app.dependency_overrides[get_tsio] = lambda: tsio
    install(app)
    app.mount("/socket.io", socketio.ASGIApp(tsio))
    await queue.register_job("lab", "modifiers", "Rotate", events="full")
    worker = await queue.register_worker(jobs=[JOB])
    with serving(app) as base:
        async with listening(base) as browser:
            async with listening(base) as gone:
                await gone.ask("join_job_room", job_name=JOB, worker_id=str(worker.id))
                task = await queue.submit_task(JOB)
                await queue.claim_tasks(worker.id)
            failed = await browser.hears_status(str((await queue.get_task(task.task_id)).uuid), "failed")
            assert failed["error"] == "Worker disconnected"
            await eventually(lambda: browser.named("jobs_invalidate"))
    assert await queue.list_workers() == []


async def test_the_sweeper_is_started_as_hosts_do(queue: Queue):
    await queue.register_job("lab", "modifiers", "Rotate")
    worker = await queue.register_worker(jobs=[JOB])
    settings = JobLibSettings(worker_timeout_seconds=1, sweeper_interval_seconds=0.05)
    sweeping = asyncio.create_task(run_sweeper(queue, settings=settings, tsio=None))

    async def is_gone() -> bool:
        return worker.id not in {known.id for known in await queue.list_workers()}

    await eventually(is_gone)
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping
