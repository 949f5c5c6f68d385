"""`pgjobs sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.exits import ERROR
from pgjobs.cli.output import print_table

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
    print_table(("step", "changed", "error"), ((s.swept, s.changed, s.error) for s in results))
    if any(swept.error for swept in results):
        raise typer.Exit(ERROR)
