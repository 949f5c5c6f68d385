"""Data on stdout, talk on stderr; drawn for people on a terminal, plain for programs in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pgjobs.drivers.redaction import unturned

if TYPE_CHECKING:
    from pydantic import BaseModel

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, as HTTP answers it.")
]
Limit: TypeAlias = Annotated[int, typer.Option(min=1, max=500, help="At most this many.")]

_STYLES = {
    "running": "cyan", "claimed": "cyan", "completed": "green", "failed": "red", "cancelled": "yellow",
    "ignored": "dim", "blocked": "red", "overdue": "red", "retrying": "yellow", "no": "red", "stale": "red",
    "skipped": "yellow", "paused": "dim",
}  # fmt: skip


class Bar:
    """How far something has come; this one does not tell anybody."""

    def advance(self, steps: int = 1) -> None: ...

    def reach(self, done: int, total: int) -> None: ...

    def say(self, text: str) -> None:
        """A line that stays, above the bar."""
        say(text)


def say(text: str) -> None:
    typer.echo(unturned(text), err=True)


def print_document(model: BaseModel) -> None:
    typer.echo(model.model_dump_json(by_alias=True, indent=2))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table on a terminal; else lines of values with tabs between, the names first."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            typer.echo("\t".join(map(cell, row)))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        shown = map(cell, row)
        table.add_row(*(Text(text, style=_STYLES.get(text, "")) for text in shown))
    Console().print(table)


def print_pairs(pairs: Iterable[tuple[str, Any]]) -> None:
    """One thing, a line for each of its values that is there; on a terminal, more for a text of several."""
    for name, value in pairs:
        is_drawn = isinstance(value, str) and sys.stdout.isatty()
        texts = [cell(line) for line in value.splitlines()] if is_drawn else [cell(value)]
        for label, text in zip([name, *[""] * len(texts)], texts, strict=False):
            if text:
                typer.echo(f"{label:<20} {text}")


def first_line(text: str | None) -> str:
    """What an error says, without the traceback below it."""
    return (text or "").strip().partition("\n")[0]


def cell(value: Any) -> str:
    """A value in one line that cannot do anything to a terminal."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        text = value.astimezone().isoformat(sep=" ", timespec="seconds")
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, timedelta):
        text = str(value)
    elif isinstance(value, dict | list):
        text = json.dumps(value, default=str, ensure_ascii=False)
    else:
        text = str(value)
    return "".join(letter if letter.isprintable() else " " for letter in unturned(text))


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Bar]:
    """A bar on stderr while something takes long; nothing for one thing, or where stderr is no terminal."""
    if total == 1 or not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        shown = bars.add_task(title, total=total)

        class Drawn(Bar):
            def advance(self, steps: int = 1) -> None:
                bars.advance(shown, steps)

            def reach(self, done: int, total: int) -> None:
                bars.update(shown, completed=done, total=total)

            def say(self, text: str) -> None:
                bars.console.print(text, markup=False, highlight=False)

        yield Drawn()
