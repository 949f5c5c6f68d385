"""Every bar of sharing in one run of fixed size: `python -m benchmarks.fairness [--tiny] [--out DIRECTORY]`.

Starts a durable Postgres of its own. Writes sharing.json, sharing.md and sharing.png.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.database import PAYLOAD, Bench, open_bench
from benchmarks.run import FULL, SERVER, SMALLEST
from benchmarks.scenario import Bar, Samples, Scale
from benchmarks.sharing import ACTIVE, COMPLETE, FAIR, SCENARIOS, claim_p50, held, prepare
from pgjobs.schema.embedded import EmbeddedPostgres

# At commit, one transaction of a key after the other, so that none overlooks another's lease.
_GUARD = """
create function public.refuse_excess() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(42, hashtext(new.key));
  if (select count(*) from pgjobs.leases as l where l.job_id = new.job_id and l.key = new.key) > 2 then
    raise exception 'too many tasks of key %', new.key;
  end if;
  return null;
end
$$;
create constraint trigger no_excess after insert on pgjobs.leases deferrable initially deferred
for each row execute function public.refuse_excess();
"""
_CLAIM = """
select task_id, token, claimed_at
from pgjobs.claim_tasks(holder => 'bench', lease => '1 minute', job_ids => array[1], quantity => $1)
"""
_SERVED = """
select t.key, o.claimed_at, o.ended_at from pgjobs.outcomes as o join pgjobs.tasks as t on t.id = o.task_id
"""


@dataclass(frozen=True)
class Size:
    name: str
    claimers: int
    tasks: int
    keys: int
    backlog: int
    small_keys: int
    rate: int
    rate_seconds: int
    rate_claimers: int
    rounds: int
    scale: Scale


WHOLE = Size("full", 64, 100_000, 1_000, 100_000, 100, 500, 20, 16, 5, FULL)
TINY = Size("tiny", 6, 600, 20, 500, 10, 50, 3, 4, 1, SMALLEST)

BARS = (
    *(bar for scenario in SCENARIOS for bar in scenario.bars),
    Bar("fair claim held ÷ not", "fair claim, held", "fair claim", 1.1, 1.0, True),
    Bar("limit by key exceeded, times", "excess", None, 0, 0, True),
    Bar("a free slot beside waiting work, s", "unused slot", None, 8, 1, True),
    Bar("rounds between two turns of a small key", "rounds", None, 2, 1, True),
    Bar("most claims in a window ÷ rate", "window", "rate", 1, 1, True),
    Bar("claims ÷ what the rate allows", "claimed", "allowed", 0.9, 0.98),
)


async def crowd(bench: Bench, size: Size, samples: Samples) -> None:
    """A limit of two by key under many claimers: a constraint trigger refuses what exceeds it."""
    await prepare(bench, "select pgjobs.limit_job('1', max_running_per_key => 2)", size.tasks, size.keys)
    await bench.connection.execute(_GUARD)
    looks: list[list[tuple[float, float, bool]]] = [[] for _ in range(size.claimers)]
    left = Counter(tasks=size.tasks)

    async def work(mine: list[tuple[float, float, bool]]) -> int:
        connection = await asyncpg.connect(bench.url)
        excess = 0
        try:
            while left["tasks"] > 0:
                began = time.time()
                try:
                    rows = await connection.fetch(_CLAIM, 10)
                except asyncpg.RaiseError:
                    excess += 1
                    continue
                mine.append((began, time.time(), bool(rows)))
                if not rows:
                    await asyncio.sleep(0.05)
                    continue
                await connection.execute(
                    COMPLETE, [row["task_id"] for row in rows], [row["token"] for row in rows]
                )
                left["tasks"] -= len(rows)
        finally:
            await connection.close()
        return excess

    started = time.perf_counter()
    excesses = await asyncio.gather(*(work(mine) for mine in looks))
    samples.add("crowd", size.tasks / (time.perf_counter() - started))
    samples.add("excess", sum(excesses))
    samples.add("unused slot", await _longest_unused(bench, looks))


async def _longest_unused(bench: Bench, looks: list[list[tuple[float, float, bool]]]) -> float:
    """The longest time in which a claimer found nothing though all the while a key had work and a slot."""
    steps: list[tuple[float, str, int, int]] = []
    waiting: Counter[str] = Counter()
    for row in await bench.connection.fetch(_SERVED):
        waiting[row["key"]] += 1
        steps.append((row["claimed_at"].timestamp(), row["key"], 1, -1))
        steps.append((row["ended_at"].timestamp(), row["key"], -1, 0))
    running: Counter[str] = Counter()
    able = sum(1 for key in waiting if waiting[key])
    # Since when some key has been able to run a task without a break, at each step.
    since: list[tuple[float, float | None]] = [(0.0, 0.0)]
    for at, key, more, less in sorted(steps):
        could = waiting[key] > 0 and running[key] < 2
        running[key] += more
        waiting[key] += less
        able += (waiting[key] > 0 and running[key] < 2) - could
        before = since[-1][1]
        since.append((at, None if able == 0 else at if before is None else before))
    longest, place = 0.0, 0
    empty = sorted((began, ended) for mine in looks for began, ended, found in mine if not found)
    for began, ended in empty:
        while place + 1 < len(since) and since[place + 1][0] <= ended:
            place += 1
        begun = since[place][1]
        if begun is not None and begun <= began:
            longest = max(longest, ended - max(begun, began))
    return longest


async def turns(bench: Bench, size: Size, samples: Samples) -> list[str]:
    """One key with a large backlog beside small ones: whose task came when."""
    await prepare(bench, FAIR, size.backlog, 1)
    await bench.connection.execute(
        "select count(*) from pgjobs.submit_tasks('1', array_fill($1::text::jsonb, array[$2::int]), "
        "keys => array(select 'small ' || n % $3::int from generate_series(1, $2::int) as n))",
        PAYLOAD,
        10 * size.small_keys,
        size.small_keys,
    )
    served: list[str] = []
    keys = {row["id"]: row["key"] for row in await bench.connection.fetch("select id, key from pgjobs.tasks")}
    while sum(key.startswith("small") for key in served) < 10 * size.small_keys:
        rows = await bench.connection.fetch(_CLAIM, 10)
        served += [keys[row["task_id"]] for row in rows]
        await bench.connection.execute(
            COMPLETE, [row["task_id"] for row in rows], [row["token"] for row in rows]
        )
    last: dict[str, int] = {}
    worst = 0
    for place, key in enumerate(served):
        if key.startswith("small"):
            worst = max(worst, place - last.get(key, -1))
            last[key] = place
    samples.add("rounds", worst / (size.small_keys + 1))
    return served


async def rates(bench: Bench, size: Size, samples: Samples) -> None:
    """A rate in a window of one second under claimers who want more: the most in any window."""
    tasks = size.rate * (size.rate_seconds + 5)
    await prepare(bench, f"select pgjobs.limit_job('1', rate => '{size.rate}/s')", tasks, 1)
    ends = time.perf_counter() + size.rate_seconds

    async def work() -> None:
        connection = await asyncpg.connect(bench.url)
        try:
            while time.perf_counter() < ends:
                rows = await connection.fetch(_CLAIM, 10)
                if not rows:
                    await asyncio.sleep(0.01)
                    continue
                await connection.execute(
                    COMPLETE, [row["task_id"] for row in rows], [row["token"] for row in rows]
                )
        finally:
            await connection.close()

    await asyncio.gather(*(work() for _ in range(size.rate_claimers)))
    notes = await bench.connection.fetch(
        "select at, total from pgjobs.rate_notes where of_job order by at, total"
    )
    most, first = 0, 0
    for note in notes:
        while notes[first]["at"] <= note["at"] - timedelta(seconds=1):
            first += 1
        below = notes[first - 1]["total"] if first else 0
        most = max(most, note["total"] - below)
    samples.add("window", most)
    samples.add("rate", size.rate)
    span = (notes[-1]["at"] - notes[0]["at"]).total_seconds()
    samples.add("claimed", notes[-1]["total"])
    samples.add("allowed", size.rate * (int(span) + 1))


async def held_fair_claims(bench: Bench, size: Size, samples: Samples) -> None:
    """A fair claim with ten thousand keys while somebody holds a transaction open."""
    active = ACTIVE if size is WHOLE else 200
    for _ in range(size.rounds):
        async with held(bench) as hold:
            await prepare(bench, FAIR, 2 * active, active)
            await hold()
            samples.add("fair claim, held", await claim_p50(bench, 150))


async def measure(bench: Bench, size: Size) -> tuple[Samples, list[str]]:
    samples = Samples(tick=lambda name, value: print(f"{name:<28}{value:>14.2f}", flush=True))
    await crowd(bench, size, samples)
    served = await turns(bench, size, samples)
    await rates(bench, size, samples)
    for scenario in SCENARIOS:
        await scenario.measure(bench, size.scale, samples)
    await held_fair_claims(bench, size, samples)
    return samples, served


def write(samples: Samples, served: list[str], size: Size, directory: Path) -> None:
    medians = samples.medians()
    rows: list[dict[str, Any]] = [
        {
            "title": bar.title,
            "value": bar.value(medians),
            "must": bar.must,
            "aim": bar.aim,
            "at_most": bar.at_most,
        }
        | {"verdict": bar.says(bar.value(medians))}
        for bar in BARS
    ]
    document = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"), "size": size.name,
        "bars": rows, "medians": medians, "samples": samples.values,
    }  # fmt: skip
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "sharing.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    lines = ["| what | measured | must | verdict |", "|---|---|---|---|"]
    for row in rows:
        value = "not measured" if row["value"] is None else f"{row['value']:.2f}"
        bound = f"{'at most' if row['at_most'] else 'at least'} {row['must']}"
        lines.append(f"| {row['title']} | {value} | {bound} | {row['verdict']} |")
    (directory / "sharing.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    _plot(served, size, directory / "sharing.png")


def _plot(served: list[str], size: Size, path: Path) -> None:
    from matplotlib import pyplot

    counts = {"one key, 100,000 waiting": 0, "each of a hundred keys with ten": 0.0}
    curves: dict[str, list[float]] = {name: [] for name in counts}
    for key in served:
        is_small = key.startswith("small")
        counts["each of a hundred keys with ten"] += 1 / size.small_keys if is_small else 0
        counts["one key, 100,000 waiting"] += 0 if is_small else 1
        for name, count in counts.items():
            curves[name].append(count)
    figure, axes = pyplot.subplots(figsize=(8, 4))
    for name, curve in curves.items():
        axes.plot(curve, label=name)
    axes.set_xlabel("tasks served")
    axes.set_ylabel("of this key")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


async def run(url: str, size: Size, directory: Path) -> None:
    async with open_bench(url) as bench:
        started = time.perf_counter()
        samples, served = await measure(bench, size)
        print(f"{(time.perf_counter() - started) / 60:.1f} minutes")
    write(samples, served, size, directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="so small that it only shows that it works")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "sharing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pgjobs-sharing-") as place:
        Path(place).chmod(0o755)
        with EmbeddedPostgres(Path(place) / "server", options=SERVER) as server:
            asyncio.run(run(server.url, TINY if given.tiny else WHOLE, given.out))


if __name__ == "__main__":
    main()
