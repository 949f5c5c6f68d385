"""A small round of chaos: what `make chaos` does with thousands of tasks."""

from __future__ import annotations

import pytest

from pgjobs.schema.binaries import EmbeddedPostgresError
from tests.chaos.__main__ import report
from tests.chaos.round import Plan, run

QUICK = (
    "kill_worker",
    "freeze_worker",
    "kill_postgres",
    "cut_sessions",
    "cut_listeners",
    "cancel_statements",
)


@pytest.mark.long
async def test_a_few_hundred_tasks_survive_what_goes_wrong():
    said: list[str] = []
    try:
        result = await run(Plan(tasks=300, faults=QUICK, pause=0.3, seconds=60), said.append)
    except EmbeddedPostgresError as error:
        pytest.skip(str(error))
    assert result.is_good, report(result)
    assert set(result.faults) | set(result.skipped) == set(QUICK)
    assert len(said) == sum(result.faults.values())
