"""`pgjobs tasks why`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import AsJson, print_document, print_table, say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from pgjobs.queue.operator_records import Reason
    from pgjobs.queue.queue import Queue


def why(task: TaskRef, url: Url = None, as_json: AsJson = False) -> None:
    """Say why a task is where it is: checks in order, and the SQL that would change it."""

    async def run(queue: Queue) -> list[Reason]:
        return await queue.why((await find(queue, task)).id)

    reasons = with_queue(url, run)
    if as_json:
        from pgjobs.server.console_api.answers import Check, Reasons

        print_document(Reasons(items=[Check.of(reason) for reason in reasons]))
        return
    print_table(
        ("check", "ok", "answer", "sql"),
        ((reason.checked, reason.is_ok, reason.answer, reason.advice) for reason in reasons),
    )
    reason = next((reason for reason in reasons if not reason.is_ok), None)
    say(reason.answer if reason else "Nothing stands in its way.")
