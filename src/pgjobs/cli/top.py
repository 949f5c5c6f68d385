"""`pgjobs top`: the queue, live."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgjobs.cli.database import Urls, cells_of, url_of
from pgjobs.cli.output import cell, print_document, print_table
from pgjobs.cli.reading import Look, with_reader

if TYPE_CHECKING:
    import asyncio

    from pgjobs.queue.records import Finding, Overview

_STYLES = {
    "busy": "green",
    "idle": "dim",
    "paused": "yellow",
    "archived": "dim",
    "overdue": "red",
    "unserved": "red",
}
_PER_MINUTE = {"done": "done/min", "failed": "failed/min"}


def top(
    url: Urls = None,
    interval: Annotated[float, typer.Option(min=0.2, help="Refresh interval in seconds.")] = 2,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit, as in a pipe.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole queue's numbers once, as HTTP answers them.")
    ] = False,
) -> None:
    """Watch the busiest jobs; q quits."""
    is_live = sys.stdout.isatty() and not (once or as_json)
    if cells := cells_of(url):
        from pgjobs.cli.cells import with_cells
        from pgjobs.cli.top_of_cells import print_cells, watch_cells

        with_cells(cells, lambda all_: watch_cells(all_, interval) if is_live else print_cells(all_, as_json))
        return
    with_reader(url_of(url), lambda look: _watch(look, interval) if is_live else _print_once(look, as_json))


async def _print_once(look: Look, as_json: bool) -> None:
    queue = look.queue
    if as_json:
        from pgjobs.server.console_api.answers import OverviewOut

        print_document(OverviewOut.of(await queue.overview()))
    else:
        print_table(columns(), [astuple(job) for job in await queue.top()])
    if told := look.source():
        typer.echo(told, err=True)


async def _watch(look: Look, interval: float) -> None:
    async def screen() -> Any:
        queue = look.queue
        overview, jobs, findings = await queue.overview(), await queue.top(), await queue.findings()
        rows = [astuple(job) for job in jobs]
        return drawn([headline(overview)], columns(), rows, lines_of(findings), source=look.source())

    await watched(screen, interval)


async def watched(screen: Callable[[], Awaitable[Any]], interval: float) -> None:
    """Draws again and again until somebody types q."""
    import asyncio

    from rich.console import Console
    from rich.live import Live

    leaving = asyncio.Event()
    with _keys(leaving), Live(console=Console(), screen=True, auto_refresh=False) as live:
        while not leaving.is_set():
            live.update(await screen(), refresh=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(interval):
                    await leaving.wait()


@contextmanager
def _keys(leaving: asyncio.Event) -> Iterator[None]:
    """Letters count as they are typed; q leaves."""
    import asyncio
    import termios
    import tty

    if not sys.stdin.isatty():
        yield
        return
    loop, stdin = asyncio.get_running_loop(), sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    tty.setcbreak(stdin)

    def typed() -> None:
        # Not by sys.stdin, which would keep to itself what comes after the first letter.
        keys = os.read(stdin, 1024)
        if not keys or b"q" in keys.lower():
            leaving.set()

    loop.add_reader(stdin, typed)
    try:
        yield
    finally:
        loop.remove_reader(stdin)
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)


def drawn(
    headlines: list[str], names: list[str], rows: list[tuple[Any, ...]], worst: list[str], *, source: str = ""
) -> Any:
    """A screen of jobs."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for name in names:
        is_text = name in ("cell", "job", "state")
        table.add_column(_PER_MINUTE.get(name, name), justify="left" if is_text else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(_shown(value), style=_STYLES.get(str(value), "")) for value in row))
    return Group(
        Text("\n".join(headlines), style="bold"),
        table,
        Text("\n".join(worst[:5]), style="yellow"),
        Text("   ".join(filter(None, ("q quits; pgjobs doctor says what to do", source))), style="dim"),
    )


def lines_of(findings: list[Finding]) -> list[str]:
    """Findings in a line each."""
    return [f"{found.severity}: {cell(found.subject)}: {cell(found.message)}" for found in findings]


def columns() -> list[str]:
    """The names of what is told of a job."""
    from pgjobs.queue.records import TopJob

    return [field.name for field in fields(TopJob)]


def _shown(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else cell(value)


def headline(now: Overview) -> str:
    """The whole queue in a line."""
    line = f"{now.waiting} due, {now.scheduled} scheduled, {now.claimed + now.running} claimed or running"
    late = f"{now.overdue} overdue" if now.overdue else ""
    pace = f"{now.completed_per_minute:.0f} completed/min, {now.failed_last_hour} failed in the last hour"
    alive = f"{now.workers - now.silent_workers} of {now.workers} workers alive"
    return f"{now.at.astimezone():%H:%M:%S}   {line} {late}   {pace}   {alive}"
