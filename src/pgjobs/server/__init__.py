"""The HTTP API under `/v1/joblib`: `install(app)`, or `app.include_router(router)`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, FastAPI

from pgjobs.queue.queue import Queue
from pgjobs.queue.room_names import validate_room_id
from pgjobs.queue.server import ServerQueue
from pgjobs.server import console_files
from pgjobs.server import problem_types as kinds
from pgjobs.server.api import (
    durable,
    events,
    jobs,
    providers,
    reads,
    schedules,
    task_log,
    tasks,
    workers,
    workflows,
)
from pgjobs.server.api.maintenance import router as maintenance_router
from pgjobs.server.auth import sessions
from pgjobs.server.auth.credentials import (
    User,
    current_active_user,
    current_reader,
    current_superuser,
    get_rooms_of,
    session_user,
)
from pgjobs.server.auth.sessions import sign_in_link
from pgjobs.server.bridge import emit
from pgjobs.server.console_api import health as console_health
from pgjobs.server.console_api import operating
from pgjobs.server.console_api import registry as console_registry
from pgjobs.server.console_api import tasks as console_tasks
from pgjobs.server.dependencies import (
    get_queue,
    get_settings,
    get_tsio,
    require_console,
    verify_writable_room,
)
from pgjobs.server.internal import InternalJobs, register_internal
from pgjobs.server.live import close_streams, live, serve_sockets
from pgjobs.server.long_poll import Waiters
from pgjobs.server.methods import refusing_other_methods
from pgjobs.server.openapi import document_briefly
from pgjobs.server.problems import ProblemDetail, ProblemException, problem_exception_handler
from pgjobs.server.reading import reading_from_standby
from pgjobs.server.results import QueueResultBackend, ResultBackend, get_result_backend
from pgjobs.server.settings import ANY, ApiSettings, JobLibSettings
from pgjobs.upkeep.sweeper import cleanup_worker, run_sweeper

__all__ = [
    "ApiSettings",
    "JobLibSettings",
    "ProblemDetail",
    "ProblemException",
    "QueueResultBackend",
    "ResultBackend",
    "User",
    "cleanup_worker",
    "close_queue",
    "console",
    "current_active_user",
    "current_reader",
    "current_superuser",
    "emit",
    "get_queue",
    "get_result_backend",
    "get_rooms_of",
    "get_settings",
    "get_tsio",
    "install",
    "maintenance_router",
    "problem_exception_handler",
    "register_internal",
    "release_waiters",
    "require_rooms",
    "router",
    "run_sweeper",
    "serve_sockets",
    "session_user",
    "sign_in_link",
    "validate_room_id",
    "verify_writable_room",
]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Runs the application's `@internal` jobs, and cleans up what requests have opened."""
    app.state.pgjobs_is_closing = False
    app.state.pgjobs_waiters = {}
    internal: InternalJobs | None = getattr(app.state, "pgjobs_internal", None)
    serving = asyncio.create_task(internal.run(await _queue_of(app))) if internal else None
    if (settings := getattr(app.state, "pgjobs_settings", None) or ApiSettings()).is_closed:
        require_rooms(await _queue_of(app), settings)
    try:
        async with reading_from_standby(app, await _queue_of(app)), live(app, _queue_of):
            yield
    finally:
        await release_waiters(app)
        if serving is not None:
            serving.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await serving
        if not getattr(app.state, "pgjobs_queue_is_hosts", False):
            await close_queue(app)


# Order matters where names may contain slashes: what is longer comes first.
_parts = (
    events.router,
    sessions.router,
    console_health.router,
    console_tasks.router,
    console_registry.router,
    operating.router,
    schedules.router,
    workers.router,
    task_log.router,
    durable.router,
    workflows.router,
    tasks.router,
    jobs.router,
    providers.router,
    reads.router,
    reads.uploads,
)
_refusals = refusing_other_methods(_parts)
router = APIRouter(lifespan=_lifespan)
for _part in (_refusals[0], *_parts, _refusals[1]):
    router.include_router(_part, prefix="/v1/joblib")
router.include_router(kinds.router)

console = APIRouter()
"""The web console under /ui/, for applications that include `router` under the same prefix."""
console.include_router(sessions.login, prefix="/ui")
console.include_router(console_files.router, dependencies=[Depends(require_console)])


def install(app: FastAPI, queue: Queue | None = None, *, settings: ApiSettings | None = None) -> None:
    """Adds the API to an application; without a queue, it uses the environment's database."""
    if queue is not None:
        serving = ServerQueue.of(queue)
        app.dependency_overrides[get_queue] = lambda: serving
    if settings is not None:
        app.state.pgjobs_settings = settings
    app.add_exception_handler(ProblemException, problem_exception_handler)
    app.include_router(router)
    document_briefly(app, partial(_tell_categories, settings) if settings else None)


def _tell_categories(settings: ApiSettings, document: dict[str, Any]) -> None:
    if ANY not in settings.allowed_categories:
        known = document["components"]["schemas"]["JobIn"]["properties"]["category"]
        known["enum"] = settings.allowed_categories


def require_rooms(queue: ServerQueue, settings: ApiSettings) -> None:
    """Refuses to close rooms on a database that cannot."""
    if settings.is_closed:
        queue.confined_to(())


async def release_waiters(app: FastAPI) -> None:
    """Answers every long poll now and ends event streams; later ones do not wait."""
    close_streams(app)
    app.state.pgjobs_is_closing = True
    waiters: dict[Any, Waiters] = getattr(app.state, "pgjobs_waiters", {})
    for room in waiters.values():
        await room.close()


async def close_queue(app: FastAPI) -> None:
    """Closes the queue that was opened for the application."""
    if (queue := getattr(app.state, "pgjobs_queue", None)) is not None:
        app.state.pgjobs_queue = None
        await queue.close()


async def _queue_of(app: FastAPI) -> ServerQueue:
    override = app.dependency_overrides.get(get_queue)
    if override is None:
        if getattr(app.state, "pgjobs_queue", None) is None:
            app.state.pgjobs_queue = await ServerQueue.connect()
        return ServerQueue.of(app.state.pgjobs_queue)
    queue = override()
    return ServerQueue.of(await queue if inspect.isawaitable(queue) else queue)
