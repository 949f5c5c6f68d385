"""All commands, and how their errors are told."""

from __future__ import annotations

import asyncpg
import typer

from pgjobs.cli.migrate import migrate
from pgjobs.cli.serve import openapi, serve
from pgjobs.cli.sweep import sweep
from pgjobs.cli.token import token
from pgjobs.cli.worker import worker
from pgjobs.errors import PgJobsError

app = typer.Typer(
    name="pgjobs",
    help="A job system that lives in Postgres.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(migrate)
app.command()(worker)
app.command()(serve)
app.command()(openapi)
app.command()(sweep)
app.add_typer(token, name="token")


@app.callback()
def _commands() -> None:
    pass


def run() -> None:
    try:
        app()
    except PgJobsError as error:
        _stop(error.message, error.detail, error.hint)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        _stop(str(error), None, None)


def _stop(message: str, detail: str | None, hint: str | None) -> None:
    line = ". ".join(part.rstrip(".") for part in (message, detail, hint) if part)
    typer.echo("pgjobs: " + " ".join(line.split()), err=True)
    raise SystemExit(1)
