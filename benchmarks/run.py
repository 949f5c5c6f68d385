"""Measures pgjobs and its peers: `python benchmarks/run.py [--quick] [--only drain,pickup] [--peers none]`.

Starts a durable Postgres of its own and saves each scenario's result as soon as it is
finished, so that `--resume` goes on where a run was interrupted. Machines differ, ratios
travel: what is compared is done in turns, A B A B, and medians are taken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report
from benchmarks.database import Bench, open_bench
from benchmarks.peers import PEERS, Peer
from benchmarks.peers.environments import NotInstallable
from benchmarks.progress import Progress
from benchmarks.scenario import Samples, Scale, Scenario
from benchmarks.scenarios import SCENARIOS
from pgjobs.schema.embedded import EmbeddedPostgres

FULL = Scale(
    "full", rounds=5, seconds=4, tasks=250_000, backlog=5_000_000, scheduled=1_000_000, share=1, pickups=30,
    repeats=100, idle=45,
)  # fmt: skip
QUICK = Scale(
    "quick", rounds=1, seconds=2, tasks=20_000, backlog=50_000, scheduled=20_000, share=0.06, pickups=10,
    repeats=20, idle=6,
)  # fmt: skip
SMALLEST = Scale(
    "smallest", rounds=1, seconds=1, tasks=1_600, backlog=1_000, scheduled=200, share=0.005, pickups=1,
    repeats=2, idle=0.5,
)  # fmt: skip
SERVER = {"shared_buffers": "1GB", "max_wal_size": "8GB", "max_connections": "150"}


async def measure(bench: Bench, scale: Scale, scenario: Scenario, progress: Progress) -> dict[str, Any]:
    progress.begin(scenario)
    samples = Samples(tick=progress.tick)
    for peer in PEERS if scenario.is_contest else ():
        if peer not in bench.peers and peer.takes_part(scenario.name):
            samples.skip(peer.name, "not installed or not chosen")
    before, load = processor_time(), os.getloadavg()[0]
    await scenario.measure(bench, scale, samples)
    medians = samples.medians()
    judged = [(bar, bar.value(medians)) for bar in scenario.bars]
    progress.end("  ".join(f"{report.short(value or 0)} {bar.says(value)}" for bar, value in judged))
    return {
        "name": scenario.name,
        "title": scenario.title,
        "unit": scenario.unit,
        "bars": [{**asdict(bar), "value": value, "verdict": bar.says(value)} for bar, value in judged],
        "medians": medians,
        "samples": samples.values,
        "modes": samples.modes,
        "skipped": {name: why for name, why in samples.skipped.items() if name not in medians},
        "stolen": stolen_since(before),
        "load": {"before": load, "after": os.getloadavg()[0]},
    }


def processor_time() -> tuple[int, int]:
    """What others of the same host have taken of this machine's time so far, and all of it; Linux tells."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0, 0
    return int(fields[7]), sum(map(int, fields[:8]))


def stolen_since(before: tuple[int, int]) -> float | None:
    stolen, total = (now - then for now, then in zip(processor_time(), before, strict=True))
    return stolen / total if total else None


async def describe(url: str, scale: Scale) -> dict[str, Any]:
    """The machine and the settings, without which numbers mean little."""
    connection = await asyncpg.connect(url)
    try:
        settings = ("server_version", "shared_buffers", "synchronous_commit", "fsync", "max_wal_size", "jit")
        shown = {name: await connection.fetchval(f"show {name}") for name in settings}
    finally:
        await connection.close()
    return {
        "started_at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "scale": asdict(scale),
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "postgres": shown,
        "scenarios": [scenario.name for scenario in SCENARIOS],
    }


async def run(
    url: str, scale: Scale, scenarios: Sequence[Scenario], peers: Sequence[Peer], directory: Path
) -> None:
    """Measures one scenario after the other and keeps each result at once."""
    about = directory / "about.json"
    if not about.exists():
        about.write_text(json.dumps(await describe(url, scale), indent=2) + "\n")
    progress = Progress(list(scenarios), is_full=scale is FULL)
    async with open_bench(url, peers) as bench:
        for scenario in scenarios:
            try:
                result = await measure(bench, scale, scenario, progress)
            except Exception:
                # One broken scenario must not cost the others; --resume tries it again.
                traceback.print_exc()
                progress.end("failed")
                continue
            (directory / f"{scenario.name}.json").write_text(json.dumps(result, indent=2) + "\n")
            report.write(directory)


def install(chosen: str) -> list[Peer]:
    """Puts the chosen peers where they belong; those that cannot be had are left out with a note."""
    named = {peer.environment.name: peer.environment for peer in PEERS}
    names = {"all": list(named), "none": []}.get(chosen, chosen.split(","))
    if unknown := set(names) - set(named):
        raise SystemExit(f"There is no peer {', '.join(sorted(unknown))}; there are {', '.join(named)}")
    for name in names:
        environment = named[name]
        if not environment.is_installed:
            print(f"installing {name} …", file=sys.stderr, flush=True)
            try:
                environment.ensure()
            except NotInstallable as reason:
                print(f"{name} is left out: {reason}", file=sys.stderr)
    return [peer for peer in PEERS if peer.environment.name in names and peer.environment.is_installed]


def main() -> None:
    options = _arguments()
    peers = install(options.peers)
    if options.install:
        return
    scale = QUICK if options.quick else FULL
    directory = options.out or report.RESULTS / scale.name
    directory.mkdir(parents=True, exist_ok=True)
    scenarios = chosen(options.only, directory, is_resumed=options.resume)
    began = time.monotonic()
    if options.url:
        asyncio.run(run(options.url, scale, scenarios, peers, directory))
    else:
        with tempfile.TemporaryDirectory(prefix="pgjobs-bench-") as place:
            Path(place).chmod(0o755)
            with EmbeddedPostgres(Path(place) / "server", options=SERVER) as server:
                asyncio.run(run(server.url, scale, scenarios, peers, directory))
    results = report.read(directory)[1]
    print(report.bars(results))
    if failed := {scenario.name for scenario in scenarios} - {result["name"] for result in results}:
        raise SystemExit(f"Failed, and tried again by --resume: {', '.join(sorted(failed))}")
    print(f"{(time.monotonic() - began) / 60:.1f} minutes; everything is in {directory}/README.md")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=_list()
    )
    parser.add_argument("--quick", action="store_true", help="one small round of everything, in minutes")
    parser.add_argument("--only", default="", metavar="NAME,…", help="these scenarios")
    parser.add_argument("--peers", default="all", metavar="NAME,…", help="these peers; or all, or none")
    parser.add_argument("--resume", action="store_true", help="leave out what has a result already")
    parser.add_argument("--install", action="store_true", help="install the peers and measure nothing")
    parser.add_argument(
        "--url",
        help="a database of a superuser's, beside which others are made; without it a server is started",
    )
    parser.add_argument("--out", type=Path, help="where results go; results/full or results/quick")
    return parser.parse_args()


def _list() -> str:
    scenarios = "\n".join(f"  {scenario.name:<12} {scenario.title}" for scenario in SCENARIOS)
    return f"scenarios:\n{scenarios}\n\npeers:\n  {', '.join(peer.environment.name for peer in PEERS)}"


def chosen(only: str, directory: Path, *, is_resumed: bool) -> list[Scenario]:
    names = only.split(",") if only else [scenario.name for scenario in SCENARIOS]
    if unknown := set(names) - {scenario.name for scenario in SCENARIOS}:
        raise SystemExit(f"There is no scenario {', '.join(sorted(unknown))}\n\n{_list()}")
    if not is_resumed and not only:
        # A new run: its results must not be mixed with those of another.
        for old in directory.glob("*.json"):
            old.unlink()
    done = {old.stem for old in directory.glob("*.json")} if is_resumed else set()
    return [scenario for scenario in SCENARIOS if scenario.name in names and scenario.name not in done]


if __name__ == "__main__":
    main()
