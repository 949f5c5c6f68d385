"""`pgjobs jobs`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pgjobs.cli.bulk import DryRun, Reason, Yes, confirm
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import AsJson, Limit, print_document, print_pairs, print_table, progress, say
from pgjobs.cli.policy import policy
from pgjobs.cli.selectors import complete_job
from pgjobs.errors import NotOnSqlite

if TYPE_CHECKING:
    from pgjobs.queue.records import Job
    from pgjobs.queue.server import ServerQueue

_SHARING = ("max_running_per_key", "rate", "rate_per_key", "fair", "ordered", "on_failure", "weights")

jobs = typer.Typer(help="List, inspect and change jobs.", no_args_is_help=True, rich_markup_mode=None)

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
    """Stop handing out a job's tasks; running tasks continue."""
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
    none: Annotated[bool, typer.Option("--none", help="Remove the limit.")] = False,
    per_key: Annotated[
        int | None, typer.Option(metavar="MOST", help="How many of one key at once; 0 removes the limit.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="How many in how long, such as 100/min, or none.")
    ] = None,
    rate_per_key: Annotated[str | None, typer.Option(metavar="RATE", help="The same of each key.")] = None,
    fair: Annotated[bool | None, typer.Option("--fair/--unfair", help="Whether keys take turns.")] = None,
    ordered: Annotated[
        bool | None,
        typer.Option("--ordered/--unordered", help="One at a time of a key, in order of submission."),
    ] = None,
    on_failure: Annotated[
        str | None, typer.Option(metavar="wait|skip", help="What an ordered key does before a retry.")
    ] = None,
    weight: Annotated[
        list[str] | None, typer.Option(metavar="KEY=TASKS", help="How many tasks a key has in a turn.")
    ] = None,
    url: Url = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Show or set a job's concurrency limit and rates, in all workers together, and by key."""
    if none and most is not None:
        raise typer.BadParameter("give a number or --none", param_hint="MOST")
    wanted: dict[str, Any] = {
        "max_running_per_key": per_key, "rate": rate, "rate_per_key": rate_per_key, "fair": fair,
        "ordered": ordered, "on_failure": on_failure, "weights": _weights(weight),
    }  # fmt: skip
    sharing = {name: value for name, value in wanted.items() if value is not None}
    if most is None and not none and not sharing:
        _show_limit(url, job, as_json)
        return
    if none and sharing:
        raise typer.BadParameter("lift the limit in a call of its own", param_hint="--none")
    outcome = "has no limit" if none else f"runs at most {most} at once" if not sharing else "is limited"
    _act(
        url,
        lambda queue: queue.limit_job(job, most, actor=operator(), reason=reason, **sharing),
        outcome,
        as_json,
    )


@jobs.command()
def keys(
    job: JobRef,
    *,
    url: Url = None,
    after: Annotated[str | None, typer.Option(help="Only keys after this one.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List the keys of a job: how many tasks of each wait and run, and what stops them."""
    found = with_queue(url, lambda queue: queue.list_keys(job, after=after, page_size=limit))
    if as_json:
        from pydantic import RootModel

        from pgjobs.server.console_api.job_schemas import KeySeen

        print_document(RootModel([KeySeen.model_validate(key, from_attributes=True) for key in found]))
        return
    print_table(
        ("key", "waiting", "running", "weight", "stopped by", "holders"),
        (
            (key.key, key.waiting, key.running, key.weight, key.stopped_by, ", ".join(key.holders or ()))
            for key in found
        ),
    )
    if len(found) == limit:
        say(f"There may be more: --after {found[-1].key!r}")


@jobs.command()
def archive(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Archive a job. Nothing is submitted or claimed, history is kept."""
    _act(url, lambda queue: queue.archive_job(job, actor=operator(), reason=reason), "is archived", as_json)


@jobs.command()
def unarchive(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Restore an archived job."""
    _act(url, lambda queue: queue.unarchive_job(job, actor=operator(), reason=reason), "is restored", as_json)


@jobs.command()
def retire(job: JobRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Hide a job that nobody uses. It has no workers and no pending tasks; registering it restores it."""
    _act(url, lambda queue: queue.retire_job(job, actor=operator(), reason=reason), "is retired", as_json)


@jobs.command()
def delete(
    job: JobRef, *, url: Url = None, reason: Reason = None, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Delete a job with its tasks and their history, permanently."""

    async def run(queue: ServerQueue) -> int:
        full_name = (await queue.get_job(job)).full_name
        if dry_run:
            return await queue.delete_job(job, dry_run=True)
        if not yes:
            confirm(f"Delete {full_name}, its tasks and their history permanently?")
        with progress("Delete", None):
            return await queue.delete_job(job, actor=operator(), reason=reason)

    removed = with_queue(url, run)
    typer.echo(removed)
    if dry_run:
        say(f"{job} would be deleted, with {removed} tasks; nothing was changed.")
    else:
        say(f"{job} is deleted, with {removed} tasks.")


jobs.command()(policy)


def _act(url: str | None, call: Callable[[ServerQueue], Awaitable[Job]], outcome: str, as_json: bool) -> None:
    job = with_queue(url, call)
    if as_json:
        _print(job, as_json=True)
    say(f"{job.full_name} {outcome}.")


def _weights(pairs: list[str] | None) -> dict[str, int] | None:
    """`acme=3` as it is written."""
    split = [pair.rpartition("=") for pair in pairs or ()]
    if any(not key or not weight.isdecimal() for key, _, weight in split):
        raise typer.BadParameter("write KEY=TASKS, such as acme=3", param_hint="--weight")
    return {key: int(weight) for key, _, weight in split} or None


def _show_limit(url: str | None, ref: str, as_json: bool) -> None:
    job = with_queue(url, lambda queue: queue.get_job(ref))
    if as_json:
        _print(job, as_json=True)
        return
    typer.echo("none" if job.max_running is None else job.max_running)
    try:
        sharing = with_queue(url, lambda queue: queue.get_sharing(ref))
    except NotOnSqlite:
        return
    if sharing is not None:
        shown = (
            name
            for name in _SHARING
            if getattr(sharing, name) not in (None, False, {}) and (name != "on_failure" or sharing.ordered)
        )
        print_pairs((name, getattr(sharing, name)) for name in shown)


def _print(job: Job, as_json: bool) -> None:
    if as_json:
        from pgjobs.server.api.schemas import JobOut

        print_document(JobOut.of(job))
        return
    print_pairs((name, getattr(job, name)) for name in _SHOWN)
    print_pairs(("worker", worker) for worker in job.workers)
