"""`pgjobs schedules`."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pgjobs.cli.bulk import Reason
from pgjobs.cli.database import Url, operator, with_queue
from pgjobs.cli.durations import duration
from pgjobs.cli.output import AsJson, Limit, print_document, print_pairs, print_table, say
from pgjobs.cli.selectors import complete_job, complete_schedule

if TYPE_CHECKING:
    from pgjobs.queue.records import Schedule, ScheduleDocument
    from pgjobs.queue.server import ServerQueue

schedules = typer.Typer(
    help="Recurring jobs: add, list, pause and run schedules.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ScheduleRef: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SCHEDULE",
        help="Address of the schedule, room:name; or its public id.",
        autocompletion=complete_schedule,
    ),
]
Every: TypeAlias = Annotated[
    timedelta | None,
    typer.Option(parser=duration, metavar="DURATION", help="How often: 90s, 10m, 2h, 1d."),
]
Cron: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Cron expression: minute, hour, day of the month, month, day of the week."),
]
Timezone: TypeAlias = Annotated[str, typer.Option(help="Time zone of cron, such as Europe/Berlin.")]

_SHOWN = (
    "full_name", "uuid", "id", "job", "state", "words", "cron", "every", "timezone", "next_run_at",
    "last_run_at", "paused_at", "created_at", "priority", "max_attempts", "missed", "overlap", "owner",
    "project", "tags",
)  # fmt: skip


@schedules.command("list")
def list_all(
    *,
    url: Url = None,
    room: Annotated[str | None, typer.Option(help="Only schedules of this room.")] = None,
    job: Annotated[
        str | None, typer.Option(help="Only those of this job.", autocompletion=complete_job)
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List schedules: those due next first, the paused ones last."""
    found = with_queue(url, lambda queue: queue.list_schedules(room, job=job, page_size=limit))
    if as_json:
        from pgjobs.cli.json_output import counted
        from pgjobs.server.api.schedule_schemas import ScheduleSeen
        from pgjobs.server.api.schemas import Page

        listed = [ScheduleSeen.of(schedule) for schedule in found]
        print_document(Page[ScheduleSeen].of(listed, counted(found, limit), limit, 0))
        return
    print_table(
        ("schedule", "job", "runs", "timezone", "next", "last", "state"),
        ((s.full_name, s.job, s.words, s.timezone, s.next_run_at, _last_status(s), s.state) for s in found),
    )
    if len(found) == limit:
        say(f"There may be more than {limit}: --limit")


@schedules.command()
def show(schedule: ScheduleRef, url: Url = None, as_json: AsJson = False) -> None:
    """Show a schedule, its next times and its last runs."""
    _print(with_queue(url, lambda queue: queue.get_schedule(schedule)), as_json)


@schedules.command()
def add(
    name: Annotated[str, typer.Argument(help="What to call it, once in a room.")],
    job: Annotated[str, typer.Argument(autocompletion=complete_job,
        help="Address of the job, room:category:name.")],
    *,
    url: Url = None,
    cron: Cron = None,
    every: Every = None,
    timezone: Timezone = "UTC",
    payload: Annotated[str, typer.Option(metavar="JSON",
        help="Payload: JSON, @file, or - for stdin.")] = "{}",
    room: Annotated[str | None, typer.Option(help="The room to submit from; else the job's.")] = None,
    priority: Annotated[int | None, typer.Option(help="Of its tasks: 1 (most urgent) to 10.")] = None,
    max_attempts: Annotated[int | None, typer.Option(help="Attempts its tasks may use.")] = None,
    missed: Annotated[str, typer.Option(metavar="once|skip|each",
        help="Missed runs, when no process was up: one run for all, none, or each.")] = "once",
    no_overlap: Annotated[bool, typer.Option("--no-overlap",
        help="Skip a run while the one before has not ended.")] = False,
    owner: Annotated[str | None, typer.Option(help="Owner of its tasks.")] = None,
    project: Annotated[str | None, typer.Option(help="Project of its tasks.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag of its tasks; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Add a schedule, by cron or interval; adding it again replaces it."""
    options: dict[str, Any] = {
        "cron": cron,
        "every": every,
        "timezone": timezone,
        "payload": _read(payload),
        "room": room,
        "priority": priority,
        "max_attempts": max_attempts,
        "missed": missed,
        "overlap": not no_overlap,
        "owner": owner,
        "project": project,
        "tags": tag or None,
        "actor": operator(),
    }

    async def run(queue: ServerQueue) -> tuple[str, ScheduleDocument]:
        registration = await queue.register_schedule(name, job, **options)
        return registration.registered, await queue.get_schedule(str(registration.schedule_id))

    registered, schedule = with_queue(url, run)
    if as_json:
        _print(schedule, as_json=True)
    else:
        typer.echo(schedule.full_name)
    say(f"{schedule.full_name} is {registered}. {_times(schedule)}")


@schedules.command()
def run(schedule: ScheduleRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Run a schedule now. Prints the number of its task; its next time stays."""
    started = with_queue(url, lambda queue: queue.run_schedule(schedule, actor=operator(), reason=reason))
    if as_json:
        from pgjobs.server.api.schedule_schemas import RunStarted

        print_document(RunStarted(task_id=started.task_uuid))
    else:
        typer.echo(started.task_id)


@schedules.command()
def pause(schedule: ScheduleRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Pause a schedule until it is resumed. Missed runs are not run later."""
    _act(url, lambda queue: queue.pause_schedule(schedule, actor=operator(), reason=reason), as_json)


@schedules.command()
def resume(schedule: ScheduleRef, url: Url = None, reason: Reason = None, as_json: AsJson = False) -> None:
    """Resume a paused schedule, from its next time on."""
    _act(url, lambda queue: queue.resume_schedule(schedule, actor=operator(), reason=reason), as_json)


@schedules.command()
def remove(schedule: ScheduleRef, url: Url = None, reason: Reason = None) -> None:
    """Remove a schedule; tasks it has submitted stay."""
    with_queue(url, lambda queue: queue.retire_schedule(schedule, actor=operator(), reason=reason))
    say(f"{schedule} is removed.")


@schedules.command()
def preview(
    *,
    url: Url = None,
    cron: Cron = None,
    every: Every = None,
    timezone: Timezone = "UTC",
    quantity: Annotated[int, typer.Option(min=1, max=100, help="How many times to print.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Print when a schedule would run, without adding it."""
    times = with_queue(
        url,
        lambda queue: queue.preview_schedule(cron, every=every, timezone=timezone, quantity=quantity),
    )
    from pgjobs.queue.cron import words

    if as_json:
        from pgjobs.server.api.schedule_schemas import Preview

        print_document(Preview.of(cron, every, times))
        return
    for time in times:
        typer.echo(_local(time, timezone))
    say(f"{words(cron, every)}, in the time zone {timezone}.")


def _act(url: str | None, call: Callable[[ServerQueue], Awaitable[Schedule]], as_json: bool) -> None:
    schedule = with_queue(url, call)
    if as_json:
        from pgjobs.server.api.schedule_schemas import ScheduleSeen

        print_document(ScheduleSeen.of(schedule))
    say(f"{schedule.full_name} is {schedule.state}. {_times(schedule)}")


def _times(schedule: Schedule) -> str:
    """When it runs, and when next."""
    if schedule.next_run_at is None:
        return f"{schedule.words}, once it is resumed."
    return f"{schedule.words}; next {_local(schedule.next_run_at, schedule.timezone)}."


def _last_status(schedule: Schedule) -> str | None:
    return schedule.recent[0].status if schedule.recent else None


def _print(schedule: ScheduleDocument, as_json: bool) -> None:
    if as_json:
        from pgjobs.server.api.schedule_schemas import ScheduleInFull

        print_document(ScheduleInFull.of_document(schedule))
        return
    print_pairs((name, getattr(schedule, name)) for name in _SHOWN)
    print_pairs([("payload", schedule.payload)])
    print_pairs(("upcoming", _local(time, schedule.timezone)) for time in schedule.upcoming)
    print_pairs(
        ("run", f"{_local(run.due_at, schedule.timezone)} {run.status} {run.task_uuid or run.reason}")
        for run in schedule.recent
    )


def _local(time: datetime, timezone: str) -> str:
    """In the schedule's time zone, which people mean when they write cron."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        clocks: tzinfo = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # This machine need not know every place that the database knows.
        clocks = UTC
    return time.astimezone(clocks).isoformat(sep=" ", timespec="seconds")


def _read(payload: str) -> Any:
    try:
        if payload == "-":
            return json.load(sys.stdin)
        if payload.startswith("@"):
            return json.loads(Path(payload[1:]).read_text(encoding="utf-8"))
        return json.loads(payload)
    except OSError as error:
        raise typer.BadParameter(str(error), param_hint="--payload") from None
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="--payload") from None
