"""All commands, put together."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pgjobs.cli.exit_codes import errors_told
from pgjobs.cli.lazy import Later, lazy_group

COMMANDS = {
    "dev": Later("dev", "Run everything in one process."),
    "migrate": Later("migrate", "Install the schema or upgrade it."),
    "worker": Later("worker", "Run the tasks of some jobs until SIGTERM or Ctrl-C."),
    "serve": Later("serve", "Serve the HTTP API."),
    "enqueue": Later("enqueue", "Submit a task and print its number."),
    "tasks": Later("tasks", "List, inspect and change tasks."),
    "jobs": Later("jobs", "List, inspect and change jobs."),
    "workflows": Later("workflows", "List, inspect, cancel and retry workflows."),
    "schedules": Later("schedules", "Recurring jobs: add, list, pause and run schedules."),
    "workers": Later("workers", "List, inspect and remove workers."),
    "cleanup": Later("cleanup", "Clean up after incomplete runs."),
    "top": Later("top", "Watch the busiest jobs; q quits."),
    "doctor": Later("doctor", "Find problems and print the SQL that fixes them."),
    "sweep": Later("sweep", "Run one pass of upkeep and print what changed."),
    "psql": Later("psql", "Open psql on the queue's database, with shortcuts.", is_passing=True),
    "bench": Later("bench", "Measure throughput on this machine.", is_passing=True),
    "token": Later("token", "Create, list and revoke API tokens."),
    "rooms": Later("rooms", "Limit logins to rooms."),
    "quotas": Later("quotas", "Limit what owners may have in a room."),
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
