"""`pgjobs tasks steps`: what a handler has kept, and what it waits in."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import AsJson, Limit, cell, print_table, say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from pgjobs.queue.server import ServerQueue

_SHOWN_CHARACTERS = 80


def steps(task: TaskRef, *, url: Url = None, limit: Limit = 200, as_json: AsJson = False) -> None:
    """Show the steps of a task, kept and awaited."""

    async def run(queue: ServerQueue) -> None:
        found = await find(queue, task)
        # As readers are shown them: without what looks like a secret.
        kept = await queue.show_steps(found.uuid, page_size=limit)
        if as_json:
            for step in kept:
                typer.echo(json.dumps(asdict(step), ensure_ascii=False, default=str))
            return
        if not kept:
            say(f"Task {found.id} has no steps.")
            return
        print_table(
            ("step", "name", "kind", "done", "until", "saved", "result"),
            (
                (
                    step.number,
                    step.name,
                    step.kind,
                    step.is_done,
                    step.until,
                    step.saved_at,
                    cell(json.dumps(step.result, ensure_ascii=False))[:_SHOWN_CHARACTERS],
                )
                for step in kept
            ),
        )

    with_queue(url, run)
