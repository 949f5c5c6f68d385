"""`pgjobs sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, with_queue

if TYPE_CHECKING:
    from pgjobs.models import Swept
    from pgjobs.queue import Queue


def sweep(
    url: Url = None,
    step: Annotated[str | None, typer.Option(help="Only this step.", show_default=False)] = None,
) -> None:
    """Do one pass of upkeep and say what changed; for cron, where no server runs."""
    from pgjobs.sweeper import STEPS

    async def run(queue: Queue) -> list[Swept]:
        # Each step in a transaction of its own.
        return [swept for each in ([step] if step else STEPS) for swept in await queue.sweep(each)]

    results = with_queue(url, run)
    for swept in results:
        typer.echo(f"{swept.swept:<10} {swept.error or swept.changed}", err=swept.error is not None)
    if any(swept.error for swept in results):
        raise SystemExit(1)
