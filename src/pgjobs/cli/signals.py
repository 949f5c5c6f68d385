"""`pgjobs tasks signal`: a named fact for a task that waits for it, or will."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.output import say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from pgjobs.queue.server import ServerQueue


def signal(
    task: TaskRef,
    name: Annotated[str, typer.Argument(help="What the handler waits for.")],
    payload: Annotated[str, typer.Argument(help="JSON that the handler gets.")] = "null",
    url: Url = None,
) -> None:
    """Send a signal to a task. The first of a name counts."""
    try:
        document = json.loads(payload)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="PAYLOAD") from None

    async def run(queue: ServerQueue) -> None:
        found = await find(queue, task)
        sent = await queue.send_signal(found.id, name, document, actor=operator())
        if sent.is_new:
            say(f"Signal {name} sent to task {found.id}.")
        else:
            say(f"Task {found.id} had the signal {name} already: {json.dumps(sent.kept, ensure_ascii=False)}")

    with_queue(url, run)
