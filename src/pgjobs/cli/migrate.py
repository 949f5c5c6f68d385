"""`pgjobs migrate`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pgjobs.cli.database import Url, connected, settings_of
from pgjobs.drivers import migrations
from pgjobs.drivers.migrations import Plan
from pgjobs.drivers.scripts import Release
from pgjobs.settings import Settings


def migrate(
    url: Url = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")] = False,
    dump: Annotated[bool, typer.Option("--dump", help="Print the SQL instead; needs no database.")] = False,
    after: Annotated[int, typer.Option(help="With --dump: leave out migrations up to this number.")] = 0,
    roles: Annotated[bool, typer.Option("--roles/--no-roles", help="Create roles and grant to them.")] = True,
) -> None:
    """Install the schema or bring it up to date."""
    settings = settings_of(url)
    release = migrations.read_release(
        settings.database_schema, settings.role_prefix, roles=roles and settings.manage_roles
    )
    if dump:
        typer.echo(migrations.dump(release, after=after), nl=False)
        return
    plan = asyncio.run(_run(settings, release, dry_run))
    for step in plan.steps:
        typer.echo(step)
    typer.echo(_summary(plan, release, dry_run), err=True)


async def _run(settings: Settings, release: Release, dry_run: bool) -> Plan:
    async with connected(settings) as connection:
        run = migrations.plan if dry_run else migrations.migrate
        return await run(connection, release)


def _summary(plan: Plan, release: Release, dry_run: bool) -> str:
    if not plan:
        return f"Schema {release.schema} is up to date."
    verb = "needs" if dry_run else "applied"
    return f"Schema {release.schema}: {verb} {len(plan.steps)} steps."
