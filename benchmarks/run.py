"""Measures the SQL core: `python benchmarks/run.py [--quick] [--only NAME]`.

Every number is a ratio of two things done in turn in one run; machines differ, ratios travel.
Results go to benchmarks/results as JSON, Markdown and, with matplotlib, a plot.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.database import Bench, open_bench
from benchmarks.report import markdown, plot
from benchmarks.scenarios import SCENARIOS, Samples, Scale, Scenario
from pgjobs.drivers.embedded import EmbeddedPostgres

RESULTS = Path(__file__).parent / "results"
FULL = Scale(rounds=5, seconds=5, tasks=500_000, backlog=1_000_000)
QUICK = Scale(rounds=2, seconds=2, tasks=40_000, backlog=100_000)
SMALLEST = Scale(rounds=1, seconds=0.5, tasks=8_000, backlog=5_000)
SERVER = {"shared_buffers": "1GB", "max_wal_size": "8GB", "max_connections": "120"}


async def run(url: str, scale: Scale, only: list[str]) -> list[dict[str, Any]]:
    async with open_bench(url) as bench:
        chosen = [scenario for scenario in SCENARIOS if not only or scenario.name in only]
        return [await measure(bench, scale, scenario) for scenario in chosen]


async def measure(bench: Bench, scale: Scale, scenario: Scenario) -> dict[str, Any]:
    started = time.monotonic()
    samples = Samples(tick=lambda: print(".", end="", flush=True, file=sys.stderr))
    print(f"{scenario.title:<40}", end="", flush=True, file=sys.stderr)
    await scenario.measure(bench, scale, samples)
    names = list(samples.values)
    ours = scenario.ours if scenario.ours in names else next(n for n in names if n != scenario.against)
    ratio = samples.median(ours) / samples.median(scenario.against)
    verdict = scenario.bar.says(ratio)
    print(f" {ratio:.2f} ({verdict}, {time.monotonic() - started:.0f} s)", file=sys.stderr)
    return {
        "name": scenario.name,
        "title": scenario.title,
        "unit": scenario.unit,
        "ours": ours,
        "against": scenario.against,
        "medians": {name: samples.median(name) for name in names},
        "samples": samples.values,
        "ratio": ratio,
        "bar": {"must": scenario.bar.must, "aim": scenario.bar.aim, "at_most": scenario.bar.at_most},
        "verdict": verdict,
    }


async def describe(url: str) -> dict[str, Any]:
    """The machine and the settings, without which numbers mean little."""
    async with open_bench(url) as bench:
        settings = ("server_version", "shared_buffers", "synchronous_commit", "fsync", "max_wal_size", "jit")
        shown = {name: await bench.connection.fetchval(f"show {name}") for name in settings}
    return {
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
        "postgres": shown,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds; nothing is written")
    parser.add_argument("--only", action="append", default=[], choices=[s.name for s in SCENARIOS])
    parser.add_argument("--url", help="an empty database to use; without it a server is started")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    if options.url:
        results = measure_all(options.url, scale, options.only)
    else:
        with tempfile.TemporaryDirectory(prefix="pgjobs-bench-") as directory:
            Path(directory).chmod(0o755)
            with EmbeddedPostgres(Path(directory) / "server", options=SERVER) as server:
                results = measure_all(server.url, scale, options.only)
    print(markdown(results))
    if not options.quick and not options.only:
        (RESULTS / "core.json").write_text(json.dumps(results, indent=2) + "\n")
        (RESULTS / "core.md").write_text(markdown(results))
        plot(results, RESULTS / "core.png")


def measure_all(url: str, scale: Scale, only: list[str]) -> dict[str, Any]:
    about = asyncio.run(describe(url))
    return {"about": about, "results": asyncio.run(run(url, scale, only))}


if __name__ == "__main__":
    main()
