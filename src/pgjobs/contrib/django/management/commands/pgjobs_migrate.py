"""`manage.py pgjobs_migrate`: installs the queue beside Django's tables, or brings it up to date."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pgjobs.contrib.django.addresses import url_of
from pgjobs.contrib.django.backend import PgjobsBackend
from pgjobs.contrib.django.framework import task_backends
from pgjobs.errors import PgJobsError
from pgjobs.settings import Settings


class Command(BaseCommand):
    help = "Install the queue into the database of a task backend, or bring it up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--backend", default="default", help="Which of TASKS.")
        parser.add_argument("--no-roles", action="store_true", help="Create no roles.")

    def handle(self, *_: Any, **options: Any) -> None:
        backend = task_backends[options["backend"]]
        if not isinstance(backend, PgjobsBackend):
            raise CommandError(f"TASKS[{options['backend']!r}] is not a PgjobsBackend")
        try:
            steps = asyncio.run(_migrate(url_of(backend.database), roles=not options["no_roles"]))
        except PgJobsError as error:
            raise CommandError(str(error)) from error
        for queue_name in sorted(backend.queues):
            backend.register(queue_name)
        self.stdout.write(f"Applied {len(steps)} steps." if steps else "Up to date.")


async def _migrate(url: str, *, roles: bool) -> list[str]:
    from pgjobs.drivers.postgres.hosts import connector
    from pgjobs.schema.migrate import migrate, read_release

    settings = Settings()
    release = read_release(
        settings.database_schema, settings.role_prefix, roles=roles and settings.manage_roles
    )
    connection = await connector(url)(url, statement_cache_size=0)
    try:
        return (await migrate(connection, release)).steps
    finally:
        await connection.close()
