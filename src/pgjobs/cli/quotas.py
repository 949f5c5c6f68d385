"""`pgjobs quotas`: what owners may have in a room."""

from __future__ import annotations

from typing import Annotated

import typer

from pgjobs.cli.bulk import Reason
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import print_table, say

quotas = typer.Typer(
    help="Limit what owners may have in a room.", no_args_is_help=True, rich_markup_mode=None
)


@quotas.command("set")
def set_one(
    *,
    url: Url = None,
    room: Annotated[str | None, typer.Option(help="The room; without it, every room by itself.")] = None,
    owner: Annotated[str | None, typer.Option(help="The owner; without it, each by itself.")] = None,
    waiting: Annotated[int | None, typer.Option(help="How many tasks may wait; 0 lifts it.")] = None,
    per_minute: Annotated[int | None, typer.Option(help="How many submits in any minute.")] = None,
    running: Annotated[int | None, typer.Option(help="How many tasks may run.")] = None,
    reason: Reason = None,
) -> None:
    """Set a quota. What is left out stays as it is, 0 lifts it."""
    with_queue(
        url,
        lambda queue: queue.set_quota(
            room,
            owner,
            max_waiting=waiting,
            per_minute=per_minute,
            max_running=running,
            actor=operator(),
            reason=reason,
        ),
    )
    say(f"The quota of {owner or 'each owner'} in {room or 'every room'} is set.")


@quotas.command("list")
def list_all(url: Url = None) -> None:
    """List quotas, those that decide first."""
    found = with_queue(url, lambda queue: queue.list_quotas())
    print_table(
        ("room", "owner", "waiting", "per minute", "running"),
        ((q.room or "every", q.owner or "each", q.max_waiting, q.per_minute, q.max_running) for q in found),
    )
