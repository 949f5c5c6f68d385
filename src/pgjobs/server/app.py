"""The stand-alone server's application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pgjobs import __version__
from pgjobs.contrib import prometheus as metrics
from pgjobs.contrib.cleanup import CleanupRunner
from pgjobs.errors import PgJobsError
from pgjobs.queue.queue import Queue
from pgjobs.queue.server import ServerQueue
from pgjobs.server import (
    ApiSettings,
    close_queue,
    console,
    get_queue,
    install,
    maintenance_router,
    require_rooms,
    serve_sockets,
)
from pgjobs.server.access_log import RequestLog
from pgjobs.server.auth.credentials import Reading
from pgjobs.server.cells.app import Upkeep, add_cells, kept_up, serving_cells
from pgjobs.server.fast_path import FastPath
from pgjobs.server.problems import problem_exception_handler
from pgjobs.server.reading import LookQueueDep, TellWhenWritten
from pgjobs.settings import CellAddress
from pgjobs.upkeep.schedules import run_schedules
from pgjobs.upkeep.sweeper import run_sweeper


def create_app(
    queue: Queue | None = None,
    *,
    settings: ApiSettings | None = None,
    url: str | None = None,
    cells: Sequence[CellAddress] = (),
) -> FastAPI:
    """The API with health checks, request ids and upkeep; opens the environment's queue unless given one.

    With `cells` it serves several databases with a queue each: docs/scale.md.
    """
    settings = settings or ApiSettings()
    if "public_reads" not in settings.model_fields_set:
        settings = settings.model_copy(update={"public_reads": False})

    @asynccontextmanager
    async def over_cells(app: FastAPI) -> AsyncIterator[None]:
        app.state.pgjobs_queue_is_hosts = True
        tsio, upkeep = getattr(app.state, "pgjobs_tsio", None), upkeep_of(settings)
        async with serving_cells(app, cells, settings) as served, kept_up(served, upkeep, settings, tsio):
            yield

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.pgjobs_queue_is_hosts = True
        if queue is None:
            app.state.pgjobs_queue = await ServerQueue.connect(url)
        serving = ServerQueue.of(queue or app.state.pgjobs_queue)
        await require_current(serving)
        require_rooms(serving, settings)
        has_everything = serving.driver.dialect != "sqlite"
        upkeep = [
            asyncio.create_task(keep(serving)) for keep in upkeep_of(settings, has_everything=has_everything)
        ]
        try:
            yield
        finally:
            for task in upkeep:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await close_queue(app)

    app = FastAPI(
        title="pgjobs",
        version=__version__,
        summary="A job system that lives in Postgres.",
        lifespan=over_cells if cells else lifespan,
        exception_handlers={
            HTTPException: problem_exception_handler,
            PgJobsError: problem_exception_handler,
            Exception: problem_exception_handler,
        },
    )
    if cells:
        add_cells(app)
    install(app, queue, settings=settings)
    app.include_router(console)
    app.include_router(maintenance_router)
    _add_health(app)
    _add_metrics(app)
    serve_sockets(app, settings)
    if not cells:
        app.add_middleware(FastPath)
    app.add_middleware(TellWhenWritten)
    app.add_middleware(RequestLog)
    return app


def upkeep_of(settings: ApiSettings, *, has_everything: bool = True) -> list[Upkeep]:
    """What a server does for a queue beside answering; SQLite has not everything."""
    upkeep: list[Upkeep] = [lambda queue: run_sweeper(queue, settings)]
    if settings.run_schedules and has_everything:
        upkeep.append(run_schedules)
    if settings.run_cleanup and has_everything:
        upkeep.append(lambda queue: CleanupRunner(queue, node_id=settings.cleanup_node).run())
    return upkeep


async def require_current(queue: Queue) -> None:
    """Refuses a database that was not migrated to this version."""
    await queue.driver.require_current()


def _add_health(app: FastAPI) -> None:
    @app.get("/livez", include_in_schema=False)
    async def livez() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    async def readyz(request: Request) -> JSONResponse:
        override = app.dependency_overrides.get(get_queue)
        try:
            queue = override() if override else await get_queue(request)
            await require_current(queue)
        except Exception as error:
            # Not its text, which may tell strangers about the database.
            return _unavailable(type(error).__name__)
        return JSONResponse({"status": "ok"}) if queue.driver.is_listening else _unavailable("NotListening")


def _unavailable(reason: str) -> JSONResponse:
    return JSONResponse({"status": "unavailable", "reason": reason}, 503)


def _add_metrics(app: FastAPI) -> None:
    @app.get("/metrics", include_in_schema=False, dependencies=[Reading])
    async def show_metrics(queue: LookQueueDep, response: Response) -> Response:
        """The numbers of every job, for Prometheus; a reader's token opens it, as it does lists."""
        numbers = await metrics.render(queue)
        return Response(numbers, media_type=metrics.CONTENT_TYPE, headers=dict(response.headers))
