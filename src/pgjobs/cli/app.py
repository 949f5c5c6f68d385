"""All commands, put together."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pgjobs.cli.bench import bench
from pgjobs.cli.cleanup import cleanup
from pgjobs.cli.dev import dev
from pgjobs.cli.doctor import doctor
from pgjobs.cli.enqueue import enqueue
from pgjobs.cli.exits import errors_told
from pgjobs.cli.jobs import jobs
from pgjobs.cli.migrate import migrate
from pgjobs.cli.psql import psql
from pgjobs.cli.serve import openapi, serve
from pgjobs.cli.sweep import sweep
from pgjobs.cli.tasks import tasks
from pgjobs.cli.token import token
from pgjobs.cli.top import top
from pgjobs.cli.worker import worker
from pgjobs.cli.workers import workers

_EXITS = (
    "Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 refused, 5 schema behind, 6 unhealthy, "
    "7 awaited task failed, 124 timed out, 130 interrupted."
)

# Plain help: what draws boxes costs more time to import than everything else here.
app = typer.Typer(
    name="pgjobs",
    help="A job system that lives in Postgres.",
    epilog=_EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(dev)
app.command()(migrate)
app.command()(worker)
app.command()(serve)
app.command()(enqueue)
app.add_typer(tasks, name="tasks")
app.add_typer(jobs, name="jobs")
app.add_typer(workers, name="workers")
app.add_typer(cleanup, name="cleanup")
app.command()(top)
app.command()(doctor)
app.command()(sweep)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(psql)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(bench)
app.add_typer(token, name="token")
app.command()(openapi)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from pgjobs import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _commands(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version."),
    ] = False,
) -> None:
    del version


def run() -> None:
    # The library looks for a traceback style of its own in the environment.
    os.environ.setdefault("TYPER_STANDARD_TRACEBACK", "1")
    with errors_told():
        app()
