"""Hot verbs find their rows by index, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pgjobs.drivers.sqlite.scripts import Step, Verb, read_verb

HOT = [
    "claim_tasks",
    "start_tasks",
    "report_progress",
    "renew_tasks",
    "complete_tasks",
    "fail_tasks",
    "release_tasks",
    "submit_tasks",
    "cancel_task",
    "cancel_tasks",
    "retry_task",
    "retry_tasks",
    "ignore_task",
    "ignore_tasks",
    "unignore_tasks",
    "get_task",
    "watch_task",
    "sweep",
    "mark_waiting",
    "heartbeat_worker",
    "heartbeat_and_show",
]
GROWING = ("tasks", "attempts", "events")
# Partial indexes: leases are as many as workers can hold, and the schedule is read up to a limit.
BOUNDED = re.compile(r"USING (?:COVERING )?INDEX tasks_(?:leased|scheduled)")
STOPS_EARLY = "order by k.id limit 1"


@pytest.mark.parametrize("name", HOT)
async def test_no_hot_verb_reads_a_whole_table(name, queue, job, connection):
    await queue.bound_to(connection).get_job(job)
    for step in _steps(read_verb(name)):
        parameters = dict.fromkeys(re.findall(r"(?<![\w:]):(\w+)", step.sql))
        tables = {alias: table for table, alias in re.findall(r"\b(?:from|join) (\w+) as (\w+)", step.sql)}
        plan = connection.execute(f"explain query plan {step.sql}", parameters).fetchall()
        for *_, line in plan:
            if line.startswith("SCAN") and tables.get(line.split()[1]) in GROWING:
                assert BOUNDED.search(line) or STOPS_EARLY in step.sql, f"{line} in {step.sql}"


def _steps(verb: Verb) -> Iterator[Step]:
    """The statements of a verb, and those of the verbs it calls."""
    for step in verb.steps:
        if step.call is None:
            yield step
        else:
            yield from _steps(step.call.verb)
