"""Chaos: thousands of tasks while workers, servers, Postgres, pools, clocks and disks fail. `make chaos`"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from tests.chaos.faults import FAULTS
from tests.chaos.flows import EACH
from tests.chaos.round import Plan, Result, run

HOME = Path(__file__).parents[2] / "benchmarks" / "results" / "chaos"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=14, help="faults stop after so long")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two faults, at most")
    parser.add_argument("--home", type=Path, default=HOME, help="where results are kept")
    wish = parser.parse_args()
    # A pool says so each time it cannot connect, which is what this is about.
    logging.getLogger("asyncpg.pool").setLevel(logging.CRITICAL)
    plan = Plan(wish.tasks, wish.seed, wish.minutes * 60, wish.faults, wish.pause)
    result = asyncio.run(run(plan, _say))
    wish.home.mkdir(parents=True, exist_ok=True)
    name = f"{result.tasks}-{result.seed}"
    (wish.home / f"{name}.json").write_text(json.dumps(asdict(result), indent=1) + "\n")
    text = report(result)
    (wish.home / f"{name}.md").write_text(text)
    sys.stdout.write(f"\n{text}")
    return 0 if result.is_good else 1


def report(result: Result) -> str:
    verdict = (
        "Nothing lost, nothing doubled." if result.is_good else "**Something was lost, doubled or left.**"
    )
    lines = [
        f"# {result.tasks:,} tasks, {sum(result.faults.values())} faults", "", verdict, "",
        f"Seed {result.seed}, Postgres {result.postgres}, Python {platform.python_version()}, {result.seconds:.0f} s. A fifth of the tasks",
        "were in workflows of five, with steps, transactional steps, sleeps, signals, parents and called tasks; each transactional step left a line of",
        "a ledger. A twentieth was submitted and done through HTTP, the others through SQL, with a line in the transaction that completes.",
        "", "| | |", "|---|---|",
        f"| tasks | {result.tasks:,} |",
        f"| of them in workflows | {result.workflows * EACH:,} in {result.workflows:,} |",
        f"| lost | {result.lost} |",
        f"| doubled | {result.doubled} |",
        f"| failed or cancelled | {result.failed} |",
        f"| without an end | {result.unfinished} |",
        f"| late acknowledgements refused | {result.refused} |",
        f"| violations found by `check()` | {result.violations} |",
        "", "| fault | times |", "|---|---|",
        *(f"| {name.replace('_', ' ')} | {times} |" for name, times in sorted(result.faults.items())),
        *(f"| {name.replace('_', ' ')} | skipped: {reason} |" for name, reason in sorted(result.skipped.items())),
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def _say(text: str) -> None:
    is_screen = sys.stdout.isatty()
    sys.stdout.write(f"\r\x1b[K{text[:100]}" if is_screen else f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
