"""`pgjobs top` over several cells: the busiest jobs of all, with the cell each is in."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from pgjobs.cli.output import print_table
from pgjobs.cli.top import columns, drawn, headline, lines_of, watched

if TYPE_CHECKING:
    from pgjobs.queue.cells import Answers, Cells
    from pgjobs.queue.records import Finding, Overview, TopJob
    from pgjobs.queue.server import ServerQueue

_ROWS = 40


class Seen(NamedTuple):
    """One cell at a glance."""

    overview: Overview
    jobs: list[TopJob]
    findings: list[Finding]


async def print_cells(cells: Cells, as_json: bool) -> None:
    """Prints once; a cell that is away is named on stderr."""
    if as_json:
        from pgjobs.server.console_api.answers import OverviewOut

        found = await cells.ask(lambda queue: queue.overview())
        shown = {name: OverviewOut.of(now).model_dump(mode="json") for name, now in found.by_cell.items()}
        typer.echo(json.dumps({"cells": shown, "missing": found.missing}, indent=2))
        told = found.told
    else:
        seen = await cells.ask(_seen)
        print_table(["cell", *columns()], _rows(seen))
        told = seen.told
    if told:
        typer.echo(told, err=True)


async def watch_cells(cells: Cells, interval: float) -> None:
    """Shows all cells until somebody types q."""

    async def screen() -> Any:
        seen = await cells.ask(_seen)
        heads = [f"{name:<12} {headline(one.overview)}" for name, one in seen.by_cell.items()]
        worst = [f"{name}: {line}" for name, one in seen.by_cell.items() for line in lines_of(one.findings)]
        return drawn(
            heads,
            ["cell", *columns()],
            _rows(seen),
            [seen.told, *worst] if seen.told else worst,
        )

    await watched(screen, interval)


async def _seen(queue: ServerQueue) -> Seen:
    return Seen(await queue.overview(), await queue.top(), await queue.findings())


def _rows(seen: Answers[Seen]) -> list[tuple[Any, ...]]:
    """The busiest of all cells, in the order that each cell has them in."""
    from pgjobs.queue.cells import merged

    streams = {name: one.jobs for name, one in seen.by_cell.items()}
    busiest = merged(streams, lambda job: (-job.held, -job.due, -job.done, job.job), _ROWS)
    return [(name, *astuple(job)) for name, job in busiest]
