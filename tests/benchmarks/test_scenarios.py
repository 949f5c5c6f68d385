"""The smallest round of every scenario, so that the harness cannot rot. Times are not judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.contests import turn
from benchmarks.database import Bench, find_pgbench, open_bench
from benchmarks.peers import PEERS, environments
from benchmarks.peers.environments import Node, NotInstallable
from benchmarks.progress import Progress
from benchmarks.run import SMALLEST, chosen, describe, measure, run
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from benchmarks.scenarios import SCENARIOS


@pytest.fixture
def pgbench() -> None:
    try:
        find_pgbench()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("pgbench")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_scenario_measures_us(empty_database_url: str, scenario: Scenario) -> None:
    async with open_bench(empty_database_url) as bench:
        await bench.reset()
        result = await measure(bench, SMALLEST, scenario, Progress([scenario], is_full=False))
        broken = [rule.rule for rule in await bench.queue.check() if rule.violations]
    assert result["medians"]
    assert all(value >= 0 for values in result["samples"].values() for value in values)
    ours = {bar.ours for bar in scenario.bars}
    assert ours <= set(result["medians"])
    assert broken == []


async def test_a_peer_takes_its_turn(empty_database_url: str) -> None:
    peer = next((peer for peer in PEERS if peer.environment.is_installed and peer.only is None), None)
    if peer is None:
        pytest.skip("no peer is installed; benchmarks/run.py --install does it")
    async with open_bench(empty_database_url) as bench:
        async with turn(bench, peer) as player:
            rates = [await player.ask("bulk", count=20), await player.ask("drain", count=20)]
            rates.append(await player.ask("one", seconds=0.1))
        async with turn(bench, peer) as player:
            rates += await player.ask("pickup", count=1)
    assert player.mode.startswith(peer.name)
    assert all(rate > 0 for rate in rates)


async def test_a_run_goes_on_where_it_was_interrupted_and_writes_tables(
    empty_database_url: str, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")

    async def take_no_time(bench: Bench, scale: Scale, samples: Samples) -> None:
        samples.add("pgjobs", 2.0)

    drain = next(scenario for scenario in SCENARIOS if scenario.name == "drain")
    await run(empty_database_url, SMALLEST, [replace(drain, measure=take_no_time)], [], tmp_path)
    names = {scenario.name for scenario in SCENARIOS}
    assert {scenario.name for scenario in chosen("", tmp_path, is_resumed=True)} == names - {"drain"}
    assert [scenario.name for scenario in chosen("drain", tmp_path, is_resumed=False)] == ["drain"]
    about, results = report.read(tmp_path)
    assert about["postgres"]["server_version"]
    assert [result["name"] for result in results] == ["drain"]
    written = (tmp_path / "README.md").read_text()
    assert "| pgjobs |" in report.systems(results)
    assert "| ≥ 1.3 | ≥ 1.5 | – | not measured |" in report.bars(results)  # noqa: RUF001
    assert report.bars(results) in written
    assert "Graphile Worker | – | | left out: not installed or not chosen" in written  # noqa: RUF001
    assert (tmp_path / "systems.png").stat().st_size > 1_000


def test_a_bar_says_whether_it_is_reached() -> None:
    least = Bar("speed", "ours", "theirs", must=1, aim=2)
    most = Bar("cost", "ours", None, must=1, aim=0.5, at_most=True)
    assert [least.says(least.value({"ours": value, "theirs": 10})) for value in (9, 10, 20)] == [
        "missed",
        "must",
        "aim",
    ]
    assert [most.says(most.value({"ours": value})) for value in (1.1, 1, 0.5)] == ["missed", "must", "aim"]
    assert least.says(least.value({"ours": 5})) == "not measured"
    wish = Bar("wish", "ours", None, must=None, aim=2)
    assert [wish.says(value) for value in (1, 2)] == ["short of the aim", "aim"]


def test_where_a_peer_is_better_the_report_says_so() -> None:
    def result(name: str, ours: float, theirs: float) -> report.Result:
        return {"name": name, "title": name, "medians": {"pgjobs": ours, "Peer": theirs}}

    said = report.faster_peers([result("drain", 10, 20), result("pickup", 10, 20), result("idle", 3, 1)])
    assert said == [
        "Peer is 2.00 times better than pgjobs at: drain.",
        "Peer is 3.00 times better than pgjobs at: idle.",
    ]


def test_a_peer_that_cannot_be_installed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "HOME", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    environment = Node("nobody", ("nothing",))
    with pytest.raises(NotInstallable, match="npm is not installed"):
        environment.ensure()
    assert not environment.is_installed


async def test_results_say_on_what_machine_they_were_measured(empty_database_url: str) -> None:
    about = json.loads(json.dumps(await describe(empty_database_url, SMALLEST)))
    assert about["cpus"] >= 1
    assert about["scale"]["rounds"] == 1
    assert about["postgres"]["synchronous_commit"] in {"on", "off"}
