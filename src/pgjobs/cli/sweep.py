"""`pgjobs sweep`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pgjobs.cli.database import Url, settings_of
from pgjobs.models import Swept


def sweep(
    url: Url = None,
    step: Annotated[str | None, typer.Option(help="Only this step.", show_default=False)] = None,
) -> None:
    """Do one pass of upkeep and say what changed; for cron, where no server runs."""
    results = asyncio.run(_sweep(settings_of(url).url(), step))
    for swept in results:
        typer.echo(f"{swept.swept:<10} {swept.error or swept.changed}", err=swept.error is not None)
    if any(swept.error for swept in results):
        raise SystemExit(1)


async def _sweep(url: str, step: str | None) -> list[Swept]:
    from pgjobs.queue import Queue
    from pgjobs.sweeper import STEPS

    async with await Queue.connect(url) as queue:
        # Each step in a transaction of its own.
        return [swept for each in ([step] if step else STEPS) for swept in await queue.sweep(each)]
