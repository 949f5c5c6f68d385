"""`pgjobs doctor`: what is wrong, and the SQL to run."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, connected, drive, opened, settings_of
from pgjobs.cli.exit_codes import BEHIND, UNHEALTHY
from pgjobs.cli.output import AsJson, cell, print_document, print_table, say
from pgjobs.errors import NotOnSqlite

if TYPE_CHECKING:
    from pgjobs.queue.server import ServerQueue
    from pgjobs.settings import Settings

_ORDER = ("error", "warning", "info")
_SKEW = timedelta(seconds=2)
_SUMMARIES = {0: "No issues found.", 1: "1 issue found."}
_CHANGES = {
    "missing": ("error", "It is missing"),
    "changed": ("error", "It is not what this version installs"),
    "foreign": ("info", "It is not from pgjobs"),
}


@dataclass(frozen=True)
class Trouble:
    """One thing to look at."""

    severity: str
    subject: str
    message: str
    advice: str | None


def doctor(
    url: Url = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also count invariant violations; reads every task.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find problems and print the SQL that fixes them; exit code 6 if there are any."""
    settings = settings_of(url)
    is_behind, troubles = drive(_examine(settings, deep))
    troubles.sort(key=lambda trouble: _ORDER.index(trouble.severity))
    is_unhealthy = any(trouble.severity != "info" for trouble in troubles)
    if as_json:
        from pgjobs.server.console_api.answers import Finding, Findings

        print_document(Findings(items=[Finding.of(trouble) for trouble in troubles]))
    elif sys.stdout.isatty():
        _draw(troubles)
    else:
        print_table(
            ("severity", "subject", "message", "sql"),
            ((t.severity, t.subject, t.message, t.advice) for t in troubles),
        )
    from pgjobs.server.settings import ApiSettings

    say(ApiSettings().who_sees_what)
    say(_SUMMARIES.get(len(troubles)) or f"{len(troubles)} issues found.")
    if is_behind:
        raise typer.Exit(BEHIND)
    if is_unhealthy:
        raise typer.Exit(UNHEALTHY)


async def _examine(settings: Settings, deep: bool) -> tuple[bool, list[Trouble]]:
    address = settings.url()
    if address.startswith("sqlite"):
        raise NotOnSqlite("doctor is not on SQLite")
    troubles = [t async for t in _schema(settings)]
    if any(trouble.subject == "schema" and trouble.severity == "error" for trouble in troubles):
        return True, troubles
    async with opened(address) as queue:
        troubles += [
            Trouble(found.severity, found.subject, found.message, found.advice)
            for found in await queue.findings()
        ]
        troubles += [t async for t in _clock(queue)]
        if deep:
            troubles += [
                Trouble(
                    "error",
                    "invariant",
                    f"{rule.rule}: violated {rule.violations} times",
                    "select * from pgjobs.check()",
                )
                for rule in await queue.check()
                if rule.violations
            ]
    return False, troubles


async def _schema(settings: Settings) -> AsyncIterator[Trouble]:
    """Whether what is installed is what this version installs."""
    import asyncpg

    from pgjobs.errors import SchemaAhead
    from pgjobs.schema import drift
    from pgjobs.schema import migrate as migrations
    from pgjobs.schema.router.cluster import is_coordinator

    schema = settings.database_schema
    async with connected(settings) as connection:
        try:
            todo = await migrations.plan(connection, migrations.read_release(schema, roles=False))
        except asyncpg.InsufficientPrivilegeError:
            yield Trouble(
                "info", "schema", "This login may not read what is installed", "-- run it as the owner"
            )
            return
        except SchemaAhead as error:
            yield Trouble("warning", "schema", error.message, "-- upgrade pgjobs-server here")
            return
        if todo:
            message = f"Not installed: {todo.steps[0]} and {len(todo.steps) - 1} more"
            yield Trouble("error", "schema", message, "-- run: pgjobs migrate")
            return
        for loss in await drift.lost_grants(connection, schema):
            yield Trouble("error", f"role {loss.role}", loss.message, loss.repair)
        if await is_coordinator(connection, schema):
            # Its verbs ask nodes, and are not what a queue installs.
            return
        if not await drift.may_compare(connection):
            advice = "grant create on database … to …"
            yield Trouble(
                "info", "schema", "Only checksums were compared: this login may not create schemas", advice
            )
            return
        for difference in await drift.differences(connection, schema):
            severity, message = _CHANGES[difference.change]
            yield Trouble(severity, f"{difference.kind} {difference.name}", message, difference.repair)


async def _clock(queue: ServerQueue) -> AsyncIterator[Trouble]:
    """Leases are kept by the database's clock; times that callers give are by their own."""
    before = datetime.now(UTC)
    there = (await queue.overview()).at
    after = datetime.now(UTC)
    skew = max(before - there, there - after)
    if skew > _SKEW:
        message = f"The clocks of this machine and the database are {skew.total_seconds():.0f} s apart"
        yield Trouble("warning", "clock", message, "select clock_timestamp()")


def _draw(troubles: list[Trouble]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    colours = {"error": "bold red", "warning": "yellow", "info": "dim"}
    for trouble in troubles:
        head = Text(f"{trouble.severity:<8}", style=colours[trouble.severity])
        console.print(head + Text(f"{cell(trouble.subject)}: {cell(trouble.message)}", style="default"))
        console.print(Text(f"        {cell(trouble.advice)}", style="cyan"))
