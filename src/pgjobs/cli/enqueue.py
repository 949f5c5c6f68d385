"""`pgjobs enqueue`."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.durations import duration
from pgjobs.cli.output import AsJson, print_document, progress, say

if TYPE_CHECKING:
    from pgjobs.queue.records import Submitted
    from pgjobs.queue.server import ServerQueue

_BATCH = 1000


def enqueue(
    job: Annotated[str, typer.Argument(help="Address of the job, room:category:name.")],
    payload: Annotated[str, typer.Argument(help="JSON, or - to read it from stdin.")] = "{}",
    *,
    url: Url = None,
    lines: Annotated[bool, typer.Option("--lines", help="One task for each line of JSON on stdin.")] = False,
    room: Annotated[str | None, typer.Option(help="The room to submit from.")] = None,
    priority: Annotated[int | None, typer.Option(help="1 (most urgent) to 10.")] = None,
    delay: Annotated[timedelta | None, typer.Option(parser=duration, metavar="DURATION",
        help="Due after this long: 90s, 5m, 2h, 1d.")] = None,
    at: Annotated[datetime | None, typer.Option(help="Due at this time.",
        formats=["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S"])] = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key gets the same task.")] = None,
    group: Annotated[str | None, typer.Option(metavar="KEY",
        help="What it is grouped by, for limits by key.")] = None,
    max_attempts: Annotated[int | None, typer.Option(help="Attempts it may use.")] = None,
    owner: Annotated[str | None, typer.Option(help="Owner: whose work it is.")] = None,
    project: Annotated[str | None, typer.Option(help="Project it belongs to.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag to find it by; may be repeated.")] = None,
    require_workers: Annotated[bool, typer.Option("--require-workers",
        help="Refuse if no worker serves the job.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Submit a task and print its number."""
    if lines and key:
        raise typer.BadParameter("one key cannot name many tasks", param_hint="--key")
    payloads = _lines() if lines else [_parsed(sys.stdin.read() if payload == "-" else payload)]
    options: dict[str, Any] = {
        "room": room,
        "priority": priority,
        "delay": delay,
        "available_at": at and at.astimezone(),
        "max_attempts": max_attempts,
        "owner": owner,
        "project": project,
        "tags": tag or None,
        "submitter": operator(),
        "require_workers": require_workers or None,
        "idempotency_keys": [key] if key else None,
    }

    async def submit(queue: ServerQueue) -> list[Submitted]:
        submitted: list[Submitted] = []
        with progress("Submitting", len(payloads)) as bar:
            for start in range(0, len(payloads), _BATCH):
                batch = payloads[start : start + _BATCH]
                keys = [group] * len(batch) if group else None
                submitted += await queue.submit_tasks(job, batch, keys=keys, **options)
                bar.advance(len(batch))
        if as_json:
            await _print_json(queue, submitted, is_list=lines)
        return submitted

    submitted = with_queue(url, submit)
    if not as_json:
        for task in submitted:
            typer.echo(task.task_id)
    repeated = sum(not task.is_new for task in submitted)
    if repeated:
        say("The key names a task submitted before.")
    elif lines:
        say(f"Submitted {len(submitted)} tasks.")


async def _print_json(queue: ServerQueue, submitted: list[Submitted], *, is_list: bool) -> None:
    from pgjobs.cli.json_output import shown, shown_page

    if is_list:
        tasks = [await queue.get_task(task.task_id) for task in submitted]
        print_document(await shown_page(queue, tasks, len(tasks) + 1))
    else:
        print_document(await shown(queue, submitted[0].task_id))


def _lines() -> list[Any]:
    return [_parsed(line) for line in sys.stdin if line.strip()]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="PAYLOAD") from None
