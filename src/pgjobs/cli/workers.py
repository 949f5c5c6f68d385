"""`pgjobs workers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias
from uuid import UUID

import typer

from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import AsJson, Limit, print_document, print_pairs, print_table, say
from pgjobs.errors import WorkerNotFound

if TYPE_CHECKING:
    from pgjobs.queue.records import Retirement, WorkerSummary
    from pgjobs.queue.server import ServerQueue

workers = typer.Typer(help="List, inspect and remove workers.", no_args_is_help=True, rich_markup_mode=None)

WorkerRef: TypeAlias = Annotated[UUID, typer.Argument(metavar="WORKER", help="Id of the worker.")]

_PAGE = 500


@workers.command("list")
def list_all(
    *,
    url: Url = None,
    room: Annotated[str | None, typer.Option(help="Only workers of jobs visible from this room.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List workers, newest first."""
    found = with_queue(url, lambda queue: queue.list_workers(room, page_size=limit))
    if as_json:
        from pgjobs.cli.json_output import counted
        from pgjobs.server.api.schemas import Page, WorkerListed

        listed = [WorkerListed.of(worker) for worker in found]
        print_document(Page[WorkerListed].of(listed, counted(found, limit), limit, 0))
        return
    print_table(
        ("id", "name", "owner", "jobs", "alive", "last heartbeat", "registered"),
        (
            (w.id, w.name, w.owner, w.job_count, w.is_alive, w.last_heartbeat_at, w.registered_at)
            for w in found
        ),
    )
    if len(found) == limit:
        say(f"There may be more than {limit}: --limit")


@workers.command()
def show(worker: WorkerRef, url: Url = None, as_json: AsJson = False) -> None:
    """Show a worker and the jobs it serves."""

    async def run(queue: ServerQueue) -> None:
        found = await _find(queue, worker)
        if as_json:
            from pgjobs.server.api.schemas import WorkerListed

            print_document(WorkerListed.of(found))
            return
        names = ("id", "name", "owner", "is_alive", "last_heartbeat_at", "registered_at", "job_count")
        print_pairs((name, getattr(found, name)) for name in names)
        served = await queue.list_jobs(include_archived=True, page_size=_PAGE)
        print_pairs(("serves", job.full_name) for job in served if worker in job.workers)

    with_queue(url, run)


@workers.command()
def retire(worker: WorkerRef, url: Url = None) -> None:
    """Remove a worker. Its tasks are retried or fail; jobs that no other worker serves are retired."""

    async def run(queue: ServerQueue) -> Retirement:
        return await queue.retire_worker(worker, actor=operator(), is_superuser=True)

    gone = with_queue(url, run)
    say(
        f"Worker {worker} was removed: {gone.retried} tasks are retried, {gone.failed} failed, "
        f"{gone.retired_jobs} jobs were retired."
    )


async def _find(queue: ServerQueue, worker_id: UUID) -> WorkerSummary:
    offset = 0
    while page := await queue.list_workers(page_size=_PAGE, page_offset=offset):
        for worker in page:
            if worker.id == worker_id:
                return worker
        offset += len(page)
    raise WorkerNotFound(f"There is no worker {worker_id}")
