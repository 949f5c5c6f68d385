"""The smallest round of every scenario, so that the harness cannot rot. Times are not judged."""

from __future__ import annotations

import pytest

from benchmarks.database import find_pgbench, open_bench
from benchmarks.report import markdown
from benchmarks.run import SMALLEST, describe, measure
from benchmarks.scenarios import SCENARIOS, Scenario


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_scenario_gives_a_ratio(empty_database_url: str, scenario: Scenario) -> None:
    try:
        find_pgbench()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    async with open_bench(empty_database_url) as bench:
        result = await measure(bench, SMALLEST, scenario)
        rules = await bench.queue.check()
    assert result["ratio"] > 0
    assert [rule.rule for rule in rules if rule.violations] == []
    table = markdown({"about": await describe(empty_database_url), "results": [result]})
    assert scenario.title in table
