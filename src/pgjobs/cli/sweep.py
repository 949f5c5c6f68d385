"""`pgjobs sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.exit_codes import ERROR
from pgjobs.cli.output import print_table

if TYPE_CHECKING:
    from pgjobs.queue.records import SweepResult
    from pgjobs.queue.server import ServerQueue


def sweep(
    url: Url = None,
    step: Annotated[str | None, typer.Option(help="Only this step.", show_default=False)] = None,
) -> None:
    """Run one pass of upkeep and print what changed; for cron, where no server runs."""
    from pgjobs.upkeep.steps import STEPS

    results = with_queue(url, lambda queue: _sweep(queue, [step] if step else STEPS))
    print_table(("step", "changed", "error"), ((s.swept, s.changed, s.error) for s in results))
    if any(swept.error for swept in results):
        raise typer.Exit(ERROR)


async def _sweep(queue: ServerQueue, steps: Sequence[str]) -> list[SweepResult]:
    """Each step in a transaction of its own; retention until it has caught up."""
    from pgjobs.upkeep.steps import BATCH

    results = []
    for step in steps:
        for swept in await queue.sweep(step, batch=BATCH):
            changed = more = swept.changed
            while swept.swept == "retention" and more >= BATCH:
                more = sum(each.changed for each in await queue.sweep("retention", batch=BATCH))
                changed += more
            results.append(replace(swept, changed=changed))
    return results
