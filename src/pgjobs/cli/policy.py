"""`pgjobs jobs policy`: how a job is retried and recorded."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer

from pgjobs.cli.bulk import Reason
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.durations import duration
from pgjobs.cli.output import AsJson, print_document, print_pairs, say
from pgjobs.cli.selectors import complete_job

_SHOWN = ("max_attempts", "backoff_base", "backoff_cap", "events")


class Recorded(StrEnum):
    """Which events of a job are kept."""

    failures = "failures"
    full = "full"


def policy(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="Address of the job, room:category:name.", autocompletion=complete_job
        ),
    ],
    *,
    max_attempts: Annotated[int | None, typer.Option(help="Attempts of tasks submitted from now on.")] = None,
    backoff: Annotated[
        timedelta | None,
        typer.Option(parser=duration, metavar="DURATION", help="Wait before the second attempt: 90s, 5m."),
    ] = None,
    longest_backoff: Annotated[
        timedelta | None, typer.Option(parser=duration, metavar="DURATION", help="It doubles up to this.")
    ] = None,
    events: Annotated[Recorded | None, typer.Option(help="Which events are kept.")] = None,
    url: Url = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Show or set how a job is retried and recorded. A worker with a policy in its code sets that again."""
    wanted: dict[str, Any] = {
        "max_attempts": max_attempts,
        "backoff_base": backoff,
        "backoff_cap": longest_backoff,
        "events": events and events.value,
    }
    is_change = any(value is not None for value in wanted.values())
    if is_change:
        found = with_queue(
            url, lambda queue: queue.set_job_policy(job, **wanted, actor=operator(), reason=reason)
        )
    else:
        found = with_queue(url, lambda queue: queue.get_job(job))
    if as_json:
        from pgjobs.server.api.schemas import JobOut

        print_document(JobOut.of(found))
    elif not is_change:
        print_pairs((name, getattr(found, name)) for name in _SHOWN)
    if is_change:
        say(f"{found.full_name} has a new policy.")
