"""What is measured, each as one ratio between two things done in turn in the same run."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import asyncpg

from benchmarks.database import Bench

BATCH = 100


@dataclass(frozen=True)
class Bar:
    """What the ratio must reach; `at_most` for costs, else at least."""

    must: float
    aim: float
    at_most: bool = False

    def says(self, ratio: float) -> str:
        reached = [
            name for name, bound in (("must", self.must), ("aim", self.aim)) if self._holds(ratio, bound)
        ]
        return reached[-1] if reached else "missed"

    def _holds(self, ratio: float, bound: float) -> bool:
        return ratio <= bound if self.at_most else ratio >= bound


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    unit: str
    ours: str
    against: str
    bar: Bar
    measure: Callable[[Bench, Scale, Samples], Awaitable[None]]


@dataclass(frozen=True)
class Scale:
    """How much of everything; `quick` for a look, the full size for results that are kept."""

    rounds: int
    seconds: float
    tasks: int
    backlog: int


@dataclass
class Samples:
    """Measurements by what was measured."""

    values: dict[str, list[float]] = field(default_factory=dict)
    tick: Callable[[], None] = lambda: None

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)
        self.tick()

    def median(self, name: str) -> float:
        return statistics.median(self.values[name])


async def cycle(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Claim and complete in batches of 100 by eight clients, against the floor doing the same."""
    for _ in range(scale.rounds):
        for name, script in (("floor", "floor_cycle.sql"), ("pgjobs", "cycle.sql")):
            await bench.reset()
            await (bench.fill_floor if name == "floor" else bench.fill)(scale.tasks)
            await bench.settle()
            # A fixed number of transactions, four fifths of what waits: nobody runs dry.
            transactions = scale.tasks * 4 // 5 // BATCH // 8
            tps = await asyncio.to_thread(
                bench.pgbench, script, batch=BATCH, clients=8, transactions=transactions
            )
            samples.add(name, tps * BATCH)


async def submit(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Submit in batches of 1,000 by two clients, against a plain multi-row insert of the same payload."""
    for _ in range(scale.rounds):
        for name, script in (("insert", "floor_submit.sql"), ("pgjobs", "submit.sql")):
            await bench.reset()
            await bench.settle()
            transactions = scale.tasks // 2 // 1000
            tps = await asyncio.to_thread(
                bench.pgbench, script, batch=1000, clients=2, transactions=transactions
            )
            samples.add(name, tps * 1000)


async def backlog(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task while few or very many wait."""
    for _ in range(scale.rounds):
        for name, waiting in (("1 thousand", 1_000), (f"{scale.backlog:,}", scale.backlog)):
            await bench.reset()
            await bench.fill(waiting)
            await bench.settle()
            samples.add(name, await _claim_p50(bench, [1]))


async def many_jobs(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task by a worker that serves one job or a hundred."""
    for _ in range(scale.rounds):
        for name, jobs in (("1 job", 1), ("100 jobs", 100)):
            await bench.reset(jobs=jobs)
            await bench.fill(min(scale.tasks, 100_000), jobs=jobs)
            await bench.settle()
            samples.add(name, await _claim_p50(bench, list(range(1, jobs + 1))))


async def held(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Drain by four workers, freely or while somebody holds a transaction open."""
    for _ in range(scale.rounds):
        for name in ("free", "held"):
            await bench.reset()
            await bench.fill(scale.tasks)
            await bench.settle()
            holder = await asyncpg.connect(bench.url)
            try:
                if name == "held":
                    await holder.execute("begin isolation level repeatable read; select txid_current()")
                transactions = scale.tasks // BATCH // 4
                tps = await asyncio.to_thread(
                    bench.pgbench, "cycle.sql", batch=BATCH, clients=4, transactions=transactions
                )
            finally:
                await holder.close()
            samples.add(name, tps * BATCH)


async def wal(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Bytes of WAL per task from submit to outcome, against the floor's insert, claim and delete."""
    scripts = {"floor": ("floor_submit.sql", "floor_cycle.sql"), "pgjobs": ("submit.sql", "cycle.sql")}
    tasks = min(scale.tasks, 50_000)
    for _ in range(min(scale.rounds, 3)):
        for name, (filling, draining) in scripts.items():
            await bench.reset()
            await bench.settle()
            before = await bench.connection.fetchval("select pg_current_wal_insert_lsn()")
            await asyncio.to_thread(bench.pgbench, filling, batch=1000, clients=1, transactions=tasks // 1000)
            await asyncio.to_thread(
                bench.pgbench, draining, batch=BATCH, clients=1, transactions=tasks // BATCH
            )
            spent = await bench.connection.fetchval(
                "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)", before
            )
            samples.add(name, float(spent) / tasks)


async def _claim_p50(bench: Bench, job_ids: list[int], *, claims: int = 300) -> float:
    """Milliseconds, over one connection so that the session's scan floors are kept."""
    text = "select * from pgjobs.claim_tasks(holder => 'bench', lease => '1 minute', job_ids => $1)"
    connection = await asyncpg.connect(bench.url)
    try:
        times = []
        for _ in range(claims):
            started = time.perf_counter()
            rows = await connection.fetch(text, job_ids)
            times.append(time.perf_counter() - started)
            assert len(rows) == 1
        return statistics.median(times) * 1000
    finally:
        await connection.close()


SCENARIOS = [
    Scenario(
        "cycle",
        "claim + complete, batch 100 by 8 clients",
        "tasks/s",
        "pgjobs",
        "floor",
        Bar(0.7, 0.8),
        cycle,
    ),
    Scenario("submit", "bulk submit, 1,000 a call", "tasks/s", "pgjobs", "insert", Bar(0.5, 0.7), submit),
    Scenario(
        "backlog", "claim p50 with many waiting", "ms", "many", "1 thousand", Bar(1.3, 1.15, True), backlog
    ),
    Scenario("jobs", "claim p50 serving many jobs", "ms", "100 jobs", "1 job", Bar(4, 2.5, True), many_jobs),
    Scenario("held", "drain with a transaction held open", "tasks/s", "held", "free", Bar(0.9, 0.97), held),
    Scenario("wal", "WAL per task, submit to outcome", "bytes", "pgjobs", "floor", Bar(1.7, 1.5, True), wal),
]
