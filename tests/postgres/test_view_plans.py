"""How much the operator's views and why() read when very many tasks wait: a bounded number of rows."""

from __future__ import annotations

import pytest

from tests.postgres.crowd import READY, reads_counted
from tests.postgres.test_operators import VIEWS
from tests.postgres.test_plans import SCENARIOS, crowd, crowded_url  # noqa: F401

# Of lines, 20,000 over all jobs are counted; a list shows at most 500.
BOUNDED = 25_000
ASKED = {
    "task": "order by id desc limit 50",
    "generic_jobs": f"where id = {READY // 2}",
    "task_events": f"where task_id = {READY // 2} order by at",
}
CONSOLE = {
    "tasks": "find_tasks()",
    "waiting tasks": "find_tasks(status => 'pending')",
    "a text nobody says": "find_tasks(matching => 'nothing says this')",
    "an owner nobody is": "find_tasks(owner => 'nobody')",
    "count": "count_found_tasks()",
    "count of those waiting": "count_found_tasks(status => 'pending')",
    "count of a text": "count_found_tasks(matching => 'nothing says this')",
    "a task": f"inspect_task(pgjobs.task_uuid({READY // 2}))",
    "workers": "show_workers()",
}
"""What its pages ask for that is not a view."""


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_look_reads_a_bounded_number_of_rows(crowd, scenario):  # noqa: F811
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    many: dict[str, int] = {}
    looks = {view: f"select * from pgjobs.{view} {ASKED.get(view, '')}" for view in VIEWS}
    looks["why"] = "select w.* from pgjobs.waiting as t cross join pgjobs.why(t.task_id) as w limit 10"
    looks["why at the end"] = "select * from pgjobs.why((select max(id) from pgjobs.tasks))"
    looks |= {f"console, {name}": f"select * from pgjobs.{call}" for name, call in CONSOLE.items()}
    for name, look in looks.items():
        async with reads_counted(crowd) as reads:
            await crowd.fetch(look)
        many |= {f"{name}: {table}": rows for table, rows in reads.rows.items() if rows > BOUNDED}
    assert many == {}


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_clean_up_tasks_are_found_without_reading_the_others(crowd, scenario):  # noqa: F811
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    job = "@internal:maintenance:incomplete-cleanup"
    await crowd.execute("select pgjobs.register_job('@internal', 'maintenance', 'incomplete-cleanup')")
    await crowd.execute(
        'select pgjobs.submit_tasks($1, array_fill(\'{"node_id": "a"}\'::jsonb, array[30]))', job
    )
    for look in (
        "list_cleanups()",
        "list_cleanups(of_node => 'a')",
        "count_cleanups()",
        "count_cleanups('{done}')",
    ):
        async with reads_counted(crowd) as reads:
            assert await crowd.fetch(f"select * from pgjobs.{look}")
        assert reads.scans == {}, look
        # Leases are few and have no index by job.
        assert max(rows for table, rows in reads.rows.items() if table != "leases") < 1_000, look
