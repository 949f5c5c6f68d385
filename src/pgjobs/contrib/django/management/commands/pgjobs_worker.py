"""`manage.py pgjobs_worker`: runs Django's tasks until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pgjobs.contrib.django.addresses import url_of
from pgjobs.contrib.django.backend import PgjobsBackend
from pgjobs.contrib.django.framework import task_backends
from pgjobs.contrib.django.running import jobs_of
from pgjobs.jobs.jobs import Jobs
from pgjobs.queue.queue import Queue
from pgjobs.worker import Worker


class Command(BaseCommand):
    help = "Run the tasks of a backend until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--backend", default="default", help="Which of TASKS.")
        parser.add_argument("--queue", action="append", dest="queues", help="Only this; may be repeated.")
        parser.add_argument("--concurrency", type=int, default=8, help="How many tasks run at once.")
        parser.add_argument("--grace", type=float, default=30, help="Seconds tasks get after SIGTERM.")
        parser.add_argument("--name", help="What lists call this worker.")
        parser.add_argument("--until-empty", action="store_true", help="End when no task is due.")

    def handle(self, *_: Any, **options: Any) -> None:
        backend = task_backends[options["backend"]]
        if not isinstance(backend, PgjobsBackend):
            raise CommandError(f"TASKS[{options['backend']!r}] is not a PgjobsBackend")
        unknown = set(options["queues"] or ()) - backend.queues
        if unknown and backend.queues:
            raise CommandError(f"TASKS[{options['backend']!r}] has no queue {', '.join(sorted(unknown))}")
        if not (options["queues"] or backend.queues):
            raise CommandError("This backend takes any queue, so name those to serve: --queue")
        asyncio.run(_work(backend, jobs_of(backend, options["queues"]), options))


async def _work(backend: PgjobsBackend, jobs: Jobs, options: dict[str, Any]) -> None:
    async with await Queue.connect(url_of(backend.database), min_size=0) as queue:
        jobs.use(queue)
        worker = Worker(
            queue,
            jobs,
            concurrency=options["concurrency"],
            grace=timedelta(seconds=options["grace"]),
            name=options["name"],
        )
        if options["until_empty"]:
            await worker.run_until_empty()
        else:
            await worker.run(signals=True)
