"""`pgjobs tasks why`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgjobs.cli.database import Url, with_queue
from pgjobs.cli.output import AsJson, print_document, print_table, say
from pgjobs.cli.selectors import TaskRef, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgjobs.drivers import Row
    from pgjobs.queue.records import Reason
    from pgjobs.queue.server import ServerQueue


def why(task: TaskRef, url: Url = None, as_json: AsJson = False) -> None:
    """Explain why a task waits or ended. Checks in order, each with the SQL that would change it."""

    async def run(queue: ServerQueue) -> list[Reason]:
        return await queue.why((await find(queue, task)).id)

    async def documented(queue: ServerQueue) -> Sequence[Row]:
        return await queue.driver.call("show_why", task_uuid=(await find(queue, task)).uuid)

    if as_json:
        from pgjobs.server.console_api.answers import Check, Reasons

        print_document(Reasons(items=[Check.of_row(row) for row in with_queue(url, documented)]))
        return
    reasons = with_queue(url, run)
    print_table(
        ("check", "ok", "answer", "sql"),
        ((reason.checked, reason.is_ok, reason.answer, reason.advice) for reason in reasons),
    )
    reason = next((reason for reason in reasons if not reason.is_ok), None)
    say(reason.answer if reason else "Nothing keeps it from being claimed.")
