"""`pgjobs cleanup`: what runs that did not complete have left behind."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeAlias
from uuid import UUID

import typer

from pgjobs.cli.bulk import Reason
from pgjobs.cli.database import Url, drive, opened, operator, settings_of, with_queue
from pgjobs.cli.output import AsJson, Limit, print_document, print_pairs, print_table, say

if TYPE_CHECKING:
    from pgjobs.queue.records import CleanupEvent, CleanupsFound, CleanupTask
    from pgjobs.queue.server import ServerQueue

cleanup = typer.Typer(
    help="Clean up after incomplete runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

RunRef: TypeAlias = Annotated[UUID, typer.Argument(metavar="RUN", help="The run, by its id.")]

_SHOWN = (
    "run_id", "job_name", "job_id", "node_id", "target_snapshot_json", "status", "attempts", "created_at",
    "updated_at", "last_attempt_at", "next_attempt_at", "last_error_kind", "last_error", "ignored_at",
    "ignored_by_user_id", "ignore_reason",
)  # fmt: skip


@cleanup.command("list")
def list_all(
    *,
    url: Url = None,
    status: Annotated[
        list[str] | None,
        typer.Option(help="queued, running, retrying, blocked, done, ignored or abandoned; repeatable."),
    ] = None,
    target_type: Annotated[list[str] | None, typer.Option(help="local_dir, webdav, …; repeatable.")] = None,
    node: Annotated[str | None, typer.Option(help="Only targets of this node.")] = None,
    job: Annotated[str | None, typer.Option(help="Only runs of this job, by address or id.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List cleanup tasks, next due first."""

    async def ask(queue: ServerQueue) -> CleanupsFound:
        return await queue.find_cleanups(
            statuses=status or None,
            target_types=target_type or None,
            of_node=node,
            of_job=job,
            page_size=limit,
        )

    found = with_queue(url, ask)
    if as_json:
        from pgjobs.server.api.cleanups import CleanupPage

        print_document(CleanupPage.of(found, 1, limit))
        return
    print_table(
        ("run", "job", "node", "target", "status", "attempts", "next", "error"),
        (
            (
                task.run_id,
                task.job_name,
                task.node_id,
                task.target_type,
                task.status,
                task.attempts,
                task.next_attempt_at,
                task.last_error,
            )
            for task in found.tasks
        ),
    )
    if found.total > len(found.tasks):
        say(f"{len(found.tasks)} of {found.total}: --limit")


@cleanup.command()
def show(run: RunRef, url: Url = None, as_json: AsJson = False) -> None:
    """Show a cleanup task and its events."""

    async def ask(queue: ServerQueue) -> tuple[CleanupTask, list[CleanupEvent]]:
        return await queue.get_cleanup(run), await queue.list_cleanup_events(run)

    task, events = with_queue(url, ask)
    if as_json:
        from pgjobs.server.api.cleanups import CleanupDetail

        print_document(CleanupDetail.of(task, events))
        return
    print_pairs((name, getattr(task, name)) for name in _SHOWN)
    typer.echo()
    print_table(
        ("seq", "at", "level", "kind", "message"),
        ((event.seq, event.ts, event.level, event.kind, event.message) for event in events),
    )


@cleanup.command()
def nodes(url: Url = None, as_json: AsJson = False) -> None:
    """List which node cleans up what. Says where no process does."""
    found = with_queue(url, lambda queue: queue.list_cleanup_nodes())
    if as_json:
        from pgjobs.server.api.cleanups import CleanupNodes

        print_document(CleanupNodes.of(found))
        return
    print_table(
        ("node", "target", "open", "waiting", "served by", "last seen", "advice"),
        (
            (
                node.node_id,
                node.target_type,
                node.open,
                node.waiting,
                ", ".join(node.served_by) or "no process",
                node.last_seen_at,
                node.advice,
            )
            for node in found
        ),
    )


@cleanup.command("retry-now")
def retry_now(run: RunRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Retry a cleanup now, with all attempts again."""
    _act(url, lambda queue: queue.retry_cleanup(run, actor=operator(), reason=reason), as_json)


@cleanup.command()
def ignore(run: RunRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Ignore a cleanup until somebody unignores or retries it."""
    _act(url, lambda queue: queue.ignore_cleanup(run, actor=operator(), reason=reason), as_json)


@cleanup.command()
def unignore(run: RunRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Stop ignoring a cleanup."""
    _act(url, lambda queue: queue.unignore_cleanup(run, actor=operator(), reason=reason), as_json)


@cleanup.command()
def run(
    *,
    url: Url = None,
    node: Annotated[
        str | None,
        typer.Option(help="Only targets of this node; else the hub's, and WebDAV targets of every node."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One batch, then exit; for cron.")] = False,
) -> None:
    """Clean up until Ctrl-C. As `pgjobs serve` does; for nodes where no server runs."""
    from pgjobs.contrib.cleanup import CleanupRunner
    from pgjobs.drivers.redaction import RedactingFormatter

    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # Its lines repeat every address in full.
    logging.getLogger("httpx").setLevel(logging.WARNING)

    async def work() -> None:
        async with opened(settings_of(url).url()) as queue:
            runner = CleanupRunner(queue, node_id=node)
            if once:
                say(f"Attempted {await runner.tick()}.")
                return
            await runner.run()

    drive(work())


def _act(url: str | None, call: Callable[[ServerQueue], Awaitable[CleanupTask]], as_json: bool) -> None:
    task = with_queue(url, call)
    if as_json:
        from pgjobs.server.api.cleanups import CleanupOut

        print_document(CleanupOut.of(task))
    say(f"Run {task.run_id} is {task.status}.")
