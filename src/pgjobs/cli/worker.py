"""`pgjobs worker module:jobs`."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgjobs.cli.cells import opened_apart
from pgjobs.cli.database import Urls, cells_of, drive, opened, settings_of, url_of
from pgjobs.cli.exit_codes import INTERRUPTED
from pgjobs.drivers.redaction import RedactingFormatter
from pgjobs.errors import InvalidArgument

if TYPE_CHECKING:
    from pgjobs.jobs.jobs import Jobs
    from pgjobs.worker import CellsWorker, Worker

_FORMAT = "%(asctime)s %(levelname)s %(name)s task=%(task_id)s job=%(job)s attempt=%(attempt)s %(message)s"


def worker(
    jobs: Annotated[str, typer.Argument(help="The jobs, as module:name.", metavar="MODULE:JOBS")],
    *,
    url: Urls = None,
    concurrency: Annotated[int, typer.Option(min=1, help="How many tasks run at once, in each cell.")] = 32,
    processes: Annotated[int | None, typer.Option(min=1, help="Processes for mode='process' jobs.")] = None,
    lease: Annotated[float, typer.Option(min=0.1, help="Seconds a lease lasts between renewals.")] = 30,
    grace: Annotated[float, typer.Option(min=0, help="Seconds running tasks get after SIGTERM.")] = 30,
    name: Annotated[str | None, typer.Option(help="Name of this worker in lists.")] = None,
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "INFO",
    keep_log: Annotated[
        str,
        typer.Option(
            envvar="PGJOBS_KEEP_LOG",
            help="Keep lines of task.log from this level on: debug, info, warning, error or off.",
        ),
    ] = "info",
) -> None:
    """Run the tasks of some jobs until SIGTERM or Ctrl-C."""
    served = load(jobs)
    _log_to_stderr(log_level)
    options: dict[str, Any] = {
        "concurrency": concurrency,
        "processes": processes,
        "lease": timedelta(seconds=lease),
        "grace": timedelta(seconds=grace),
        "name": name,
        "keep_log": keep_log,
    }
    cells = cells_of(url)
    settings = settings_of(url_of(url)) if not cells else None
    # One connection for each transaction() that may be open, and some for the worker itself.
    connections = max(settings.pool_max_size if settings else 0, concurrency + 4)

    async def run() -> None:
        from pgjobs.worker import CellsWorker, Worker

        if settings is None:
            async with opened_apart(cells, max_size=connections) as queues:
                await _until_stopped(CellsWorker(queues, served, **options))
            return
        address = settings.url()
        pool = {} if address.startswith("sqlite") else {"max_size": connections}
        async with opened(address, waits=True, **pool) as queue:
            served.use(queue)
            await _until_stopped(Worker(queue, served, **options))

    drive(run())


async def _until_stopped(worker: Worker | CellsWorker) -> None:
    await worker.run(signals=True)
    if worker.stopped_by is signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


def load(place: str) -> Jobs:
    """The `Jobs` at `module:name`; the current directory counts as installed."""
    from pgjobs.jobs.jobs import Jobs

    module_name, _, name = place.partition(":")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found = importlib.import_module(module_name)
        for part in (name or "jobs").split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise InvalidArgument(f"There is no module {error.name}", hint="Write module:jobs.") from None
    except (AttributeError, ValueError) as error:
        raise InvalidArgument(f"{place} cannot be loaded", detail=str(error)) from None
    if not isinstance(found, Jobs):
        raise InvalidArgument(f"{place} is a {type(found).__name__}, not Jobs")
    return found


def _log_to_stderr(level: str) -> None:
    from pgjobs.jobs.context import TaskContextFilter

    handler = logging.StreamHandler()
    handler.addFilter(TaskContextFilter())
    handler.setFormatter(RedactingFormatter(_FORMAT))
    try:
        logging.basicConfig(level=level.upper(), handlers=[handler])
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
