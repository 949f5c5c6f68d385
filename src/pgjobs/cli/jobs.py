"""`pgjobs jobs`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pgjobs.cli.bulk import DryRun, Reason, Yes, confirm
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import AsJson, Limit, print_document, print_pairs, print_table, progress, say
from pgjobs.cli.selectors import complete_job

if TYPE_CHECKING:
    from pgjobs.queue.queue import Queue
    from pgjobs.queue.records import Job

jobs = typer.Typer(help="Look at jobs and act on them.", no_args_is_help=True, rich_markup_mode=None)

JobRef: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="Address of the job, room:category:name.", autocompletion=complete_job
    ),
]

_SHOWN = (
    "full_name", "uuid", "id", "created_at", "paused_at", "archived_at", "deleted_at", "max_running",
    "max_attempts", "backoff_base", "backoff_cap", "jitter_share", "jitter_cap", "max_age", "events",
    "retain_completed", "retain_failed", "schema",
)  # fmt: skip


@jobs.command("list")
def list_all(
    *,
    url: Url = None,
    room: Annotated[str | None, typer.Option(help="Only jobs visible from this room.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones too.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    found = with_queue(
        url, lambda queue: queue.list_jobs(room, include_archived=archived or None, page_size=limit)
    )
    if as_json:
        from pgjobs.cli.json_output import counted
        from pgjobs.server.api.schemas import JobListed, Page

        print_document(
            Page[JobListed].of([JobListed.of(job) for job in found], counted(found, limit), limit, 0)
        )
        return
    print_table(
        ("job", "workers", "attempts", "paused", "archived"),
        (
            (job.full_name, len(job.workers), job.max_attempts, job.paused_at, job.archived_at)
            for job in found
        ),
    )
    if len(found) == limit:
        say(f"There may be more than {limit}: --limit")


@jobs.command()
def show(job: JobRef, url: Url = None, as_json: AsJson = False) -> None:
    """Show a job, its policy and its workers."""
    _print(with_queue(url, lambda queue: queue.get_job(job)), as_json)


@jobs.command()
def pause(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Stop handing out a job's tasks; what runs goes on."""
    _act(url, lambda queue: queue.pause_job(job, actor=operator(), reason=reason), "is paused", as_json)


@jobs.command()
def resume(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Hand out a paused job's tasks again."""
    _act(url, lambda queue: queue.resume_job(job, actor=operator(), reason=reason), "is resumed", as_json)


@jobs.command()
def limit(
    job: JobRef,
    most: Annotated[
        int | None, typer.Argument(metavar="[MOST]", help="How many; without it, the limit is shown.")
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="Lift the limit.")] = False,
    url: Url = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Show or set how many of a job's tasks may run at once, in all workers together."""
    if none and most is not None:
        raise typer.BadParameter("give a number or --none", param_hint="MOST")
    if most is None and not none:
        _show_limit(with_queue(url, lambda queue: queue.get_job(job)), as_json)
        return
    outcome = "has no limit" if none else f"runs at most {most} at once"
    _act(url, lambda queue: queue.limit_job(job, most, actor=operator(), reason=reason), outcome, as_json)


@jobs.command()
def archive(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Put a job away: nothing is submitted or claimed, history is kept."""
    _act(url, lambda queue: queue.archive_job(job, actor=operator(), reason=reason), "is archived", as_json)


@jobs.command()
def unarchive(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Take an archived job back."""
    _act(url, lambda queue: queue.unarchive_job(job, actor=operator(), reason=reason), "is back", as_json)


@jobs.command()
def retire(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Hide a job that nobody serves and nothing waits for; registering it brings it back."""
    _act(url, lambda queue: queue.retire_job(job, actor=operator(), reason=reason), "is retired", as_json)


@jobs.command()
def delete(
    job: JobRef, *, url: Url = None, reason: Reason = None, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Remove a job with all of its tasks and their history, for good."""

    async def run(queue: Queue) -> int:
        full_name = (await queue.get_job(job)).full_name
        if dry_run:
            return await queue.delete_job(job, dry_run=True)
        if not yes:
            confirm(f"Delete {full_name}, its tasks and their history for ever?")
        with progress("Delete", None):
            return await queue.delete_job(job, actor=operator(), reason=reason)

    removed = with_queue(url, run)
    typer.echo(removed)
    if dry_run:
        say(f"{job} would be deleted, with {removed} tasks; nothing was changed.")
    else:
        say(f"{job} is deleted, with {removed} tasks.")


def _act(url: str | None, call: Callable[[Queue], Awaitable[Job]], outcome: str, as_json: bool) -> None:
    job = with_queue(url, call)
    if as_json:
        _print(job, as_json=True)
    say(f"{job.full_name} {outcome}.")


def _show_limit(job: Job, as_json: bool) -> None:
    if as_json:
        _print(job, as_json=True)
        return
    typer.echo("none" if job.max_running is None else job.max_running)


def _print(job: Job, as_json: bool) -> None:
    if as_json:
        from pgjobs.server.api.schemas import JobOut

        print_document(JobOut.of(job))
        return
    print_pairs((name, getattr(job, name)) for name in _SHOWN)
    print_pairs(("worker", worker) for worker in job.workers)
