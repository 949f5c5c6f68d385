"""`pgjobs tasks log`: what the handler wrote with `task.log`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import AsJson, cell, say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from pgjobs.queue.records import LogLine
    from pgjobs.queue.server import ServerQueue

_PAGE = 500


def log(
    task: TaskRef,
    *,
    url: Url = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print lines as they come, until the task ends.")
    ] = False,
    attempt: Annotated[int | None, typer.Option(min=1, help="Only lines of this attempt.")] = None,
    lines: Annotated[int, typer.Option(min=1, max=_PAGE, help="How many lines, the last ones.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Show the log lines of a task."""
    import asyncio

    async def run(queue: ServerQueue) -> None:
        found = await find(queue, task)
        printer = _Printer(as_json)
        page = await queue.list_log(found.id, of_attempt=attempt, newest=True, page_size=lines)
        printer.print(page)
        if not page and not follow:
            say(f"Task {found.id} has no log lines.")
        while follow:
            is_ended = (await queue.get_task(found.id)).is_ended
            while page := await queue.list_log(found.id, of_attempt=attempt, after=printer.position):
                printer.print(page)
            if is_ended:
                return
            await asyncio.sleep(1)

    with_queue(url, run)


class _Printer:
    def __init__(self, as_json: bool) -> None:
        self.position = 0
        self._as_json = as_json
        self._last: LogLine | None = None

    def print(self, page: list[LogLine]) -> None:
        for line in page:
            if self._as_json:
                self._print_json(line)
            else:
                self._print(line)
            self._last, self.position = line, line.position

    def _print(self, line: LogLine) -> None:
        is_next = self._last is not None and self._last.attempt == line.attempt
        if not is_next:
            typer.echo(f"Attempt {line.attempt}")
        # The first lines of a page that begins in the middle are left out too, and not missing.
        missing = line.number - self._last.number - 1 if is_next and self._last else 0
        if missing > 0:
            typer.echo(f"  … {missing} {'line' if missing == 1 else 'lines'} not kept")
        first, *more = line.message.splitlines() or [""]
        typer.echo(f"{line.at:%H:%M:%S}.{line.at.microsecond // 1000:03d} {line.level:<8} {cell(first)}")
        for text in more:
            typer.echo(f"{'':22}{cell(text)}")

    @staticmethod
    def _print_json(line: LogLine) -> None:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(line) | {"at": line.at.isoformat()}, ensure_ascii=False))
