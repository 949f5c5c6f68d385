"""How much the operator's views and why() read when a million tasks wait: a bounded number of rows."""

from __future__ import annotations

import pytest

from tests.postgres.crowd import reads_counted
from tests.postgres.test_operators import VIEWS
from tests.postgres.test_plans import SCENARIOS, crowd, crowded_url  # noqa: F401

# Of lines, 20,000 over all jobs are counted; a list shows at most 500.
BOUNDED = 25_000
ASKED = {
    "task": "order by id desc limit 50",
    "generic_jobs": "where id = 500000",
    "task_events": "where task_id = 500000 order by at",
}


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_look_reads_a_bounded_number_of_rows(crowd, scenario):  # noqa: F811
    for statement in SCENARIOS[scenario]:
        await crowd.execute(statement)
    many: dict[str, int] = {}
    looks = {view: f"select * from pgjobs.{view} {ASKED.get(view, '')}" for view in VIEWS}
    looks["why"] = "select w.* from pgjobs.waiting as t cross join pgjobs.why(t.task_id) as w limit 10"
    looks["why at the end"] = "select * from pgjobs.why((select max(id) from pgjobs.tasks))"
    for name, look in looks.items():
        async with reads_counted(crowd) as reads:
            await crowd.fetch(look)
        many |= {f"{name}: {table}": rows for table, rows in reads.rows.items() if rows > BOUNDED}
    assert many == {}
