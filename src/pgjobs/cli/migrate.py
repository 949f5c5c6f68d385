"""`pgjobs migrate`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, connected, drive, settings_of, warned
from pgjobs.cli.output import progress, say
from pgjobs.errors import InvalidArgument

if TYPE_CHECKING:
    from pgjobs.schema.migrate import Plan
    from pgjobs.schema.release import Release
    from pgjobs.settings import Settings

_FEW = 20
"""How many functions are named one by one after they were installed; `--dry-run` names all before."""


def migrate(  # noqa: PLR0917
    url: Url = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would change, and which locks it takes.")
    ] = False,
    dump: Annotated[bool, typer.Option("--dump", help="Print the SQL instead; needs no database.")] = False,
    after: Annotated[int, typer.Option(help="With --dump: leave out migrations up to this number.")] = 0,
    recreate: Annotated[
        bool,
        typer.Option(
            "--recreate",
            help="Drop and create all functions, views and triggers; stops the queue for a moment.",
        ),
    ] = False,
    roles: Annotated[bool, typer.Option("--roles/--no-roles", help="Create roles and grant to them.")] = True,
    node: Annotated[
        int | None,
        typer.Option(min=0, max=511, help="Make this queue, which has no tasks yet, that node of a cluster."),
    ] = None,
    key_of: Annotated[
        str | None,
        typer.Option(
            "--key-of",
            callback=warned,
            metavar="URL",
            help="With --node: take the key of public ids from this node of the cluster.",
        ),
    ] = None,
) -> None:
    """Install the schema or upgrade it."""
    from pgjobs.schema import migrate as migrations

    settings = settings_of(url)
    if not dump and settings.url().startswith("sqlite"):
        _tell(_migrate_file(settings.url(), dry_run), "The SQLite file", dry_run)
        return
    release = migrations.read_release(
        settings.database_schema, settings.role_prefix, roles=roles and settings.manage_roles
    )
    if dump:
        typer.echo(migrations.dump(release, after=after), nl=False)
        return
    plan = drive(_run(settings, release, dry_run, recreate))
    _tell(plan.steps, f"Schema {release.schema}", dry_run)
    if node is not None and not dry_run:
        is_new = drive(_become_node(settings, node, key_of))
        say(f"Schema {release.schema} is {'now' if is_new else 'already'} node {node}.")


async def _run(settings: Settings, release: Release, dry_run: bool, recreate: bool) -> Plan:
    from pgjobs.schema import migrate as migrations
    from pgjobs.schema.router.cluster import is_coordinator

    async with connected(settings) as connection:
        if await is_coordinator(connection, release.schema):
            raise InvalidArgument(
                "This database is a coordinator", hint="Run: pgjobs cluster init, with its nodes"
            )
        if dry_run:
            return await migrations.plan(connection, release)
        with progress("Migrate", None) as bar:
            return await migrations.migrate(connection, release, recreate=recreate, watch=bar.reach)


async def _become_node(settings: Settings, node: int, key_of: str | None) -> bool:
    from pgjobs.schema.nodes import become_node, key_of_public_ids

    key = None
    if key_of is not None:
        other = settings_of(key_of)
        async with connected(other) as connection:
            key = await key_of_public_ids(connection, other.database_schema)
    async with connected(settings) as connection:
        return await become_node(connection, settings.database_schema, node, key)


def _migrate_file(url: str, dry_run: bool) -> list[str]:
    from pgjobs.drivers.sqlite.driver import open_file
    from pgjobs.drivers.sqlite.migrations import migrate_sqlite, pending_sqlite

    with closing(open_file(url)) as connection:
        names = pending_sqlite(connection) if dry_run else migrate_sqlite(connection)
    return [f"migrations/{name}" for name in names]


def _tell(steps: list[str], place: str, dry_run: bool) -> None:
    migrations = [step for step in steps if step.startswith("migrations/")]
    is_long = not dry_run and len(steps) > len(migrations) + _FEW
    for step in migrations if is_long else steps:
        typer.echo(step)
    if is_long:
        rest = len(steps) - len(migrations)
        say(f"{place}: applied {len(migrations)} migrations, {rest} functions, views and triggers.")
    elif steps:
        say(f"{place}: {'needs' if dry_run else 'applied'} {len(steps)} steps.")
    else:
        say(f"{place} is up to date.")
