"""All commands, put together."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pgjobs.cli.exit_codes import errors_told
from pgjobs.cli.lazy import Later, lazy_group

COMMANDS = {
    "dev": Later(
        "dev", "Run everything in one process: a Postgres of its own, server, worker, upkeep, demo jobs."
    ),
    "migrate": Later("migrate", "Install the schema or bring it up to date."),
    "worker": Later("worker", "Run the tasks of some jobs until SIGTERM or Ctrl-C."),
    "serve": Later("serve", "Serve the HTTP API."),
    "enqueue": Later("enqueue", "Submit a task and print its number."),
    "tasks": Later("tasks", "Look at tasks and act on them."),
    "jobs": Later("jobs", "Look at jobs and act on them."),
    "schedules": Later("schedules", "Have jobs run by themselves, and look at those that do."),
    "workers": Later("workers", "Look at workers and take them away."),
    "cleanup": Later("cleanup", "Look after what runs that did not complete have left behind."),
    "top": Later("top", "Watch the busiest jobs; q ends it."),
    "doctor": Later("doctor", "Look for what is wrong and print the SQL that mends it."),
    "sweep": Later("sweep", "Do one pass of upkeep and say what changed."),
    "psql": Later("psql", "Open psql on the queue's database, with shortcuts.", is_passing=True),
    "bench": Later("bench", "Measure throughput on this machine.", is_passing=True),
    "token": Later("token", "API tokens."),
    "rooms": Later("rooms", "Which logins are confined to which rooms."),
    "openapi": Later("serve", "Print the OpenAPI document of the HTTP API."),
}
"""Every command, and the beginning of its help."""

_EXITS = (
    "Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 refused, 5 schema behind, 6 unhealthy, "
    "7 awaited task failed, 124 timed out, 130 interrupted."
)

app = typer.Typer(
    name="pgjobs",
    cls=lazy_group(COMMANDS),
    help="A job system that lives in Postgres.",
    epilog=_EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
        app(prog_name="pgjobs")
