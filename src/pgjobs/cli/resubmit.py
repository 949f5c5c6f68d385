"""`pgjobs tasks resubmit`: a copy of a task, with another payload if one is given."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.bulk import Reason
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import AsJson, print_document, say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from pgjobs.queue.server import ServerQueue


def resubmit(
    task: TaskRef,
    payload: Annotated[
        str | None, typer.Argument(help="JSON, or - to read it from stdin; without it, that of the task.")
    ] = None,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Ignore the first task: the copy takes its place.")
    ] = False,
    url: Url = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Submit a copy of a task and print its number. Secrets left as they are shown keep their value."""
    document = None if payload is None else _parsed(sys.stdin.read() if payload == "-" else payload)

    async def run(queue: ServerQueue) -> int:
        found = await find(queue, task)
        copy = await queue.resubmit_task(
            found.id, payload=document, replace=replace, actor=operator(), reason=reason
        )
        if as_json:
            from pgjobs.cli.json_output import shown

            print_document(await shown(queue, copy.id))
        else:
            typer.echo(copy.id)
        return found.id

    number = with_queue(url, run)
    if replace:
        say(f"The copy takes the place of task {number}.")


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="PAYLOAD") from None
