"""What a claim costs while very much waits, many jobs are served, or much is scheduled for later."""

from __future__ import annotations

import statistics
import time
from contextlib import AsyncExitStack

import asyncpg

from benchmarks.database import Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario

FEW = 1_000
_CLAIM = "select * from pgjobs.claim_tasks(holder => 'bench', lease => '1 minute', job_ids => $1)"


async def backlog(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task while few or very many wait."""
    many = scale.backlog
    middle = [size for size in (100_000, 1_000_000) if FEW < size < many]
    sizes = {f"{size:,} waiting" if size < many else "most waiting": size for size in (FEW, *middle, many)}
    samples.modes["most waiting"] = f"{many:,} tasks"
    async with AsyncExitStack() as stack:
        benches = {}
        for name, size in sizes.items():
            benches[name] = await stack.enter_async_context(bench.beside(f"backlog_{size}"))
            await benches[name].reset()
            await benches[name].fill(size)
            await benches[name].settle()
        claims = min(150, FEW // scale.rounds)
        for _ in range(scale.rounds):
            for name, one in benches.items():
                samples.add(name, await _claim_p50(one, [1], claims))


async def many_jobs(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task by a worker that serves one job or a hundred."""
    async with AsyncExitStack() as stack:
        benches = {}
        for jobs in (1, 100):
            benches[jobs] = await stack.enter_async_context(bench.beside(f"jobs_{jobs}"))
            await benches[jobs].reset(jobs=jobs)
            await benches[jobs].fill(min(scale.tasks, 100_000), jobs=jobs)
            await benches[jobs].settle()
        for _ in range(scale.rounds):
            for jobs, one in benches.items():
                served = list(range(1, jobs + 1))
                samples.add("1 job" if jobs == 1 else f"{jobs} jobs", await _claim_p50(one, served, 150))


async def scheduled(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task while nothing else, or very much, is scheduled for tomorrow."""
    async with AsyncExitStack() as stack:
        benches = {}
        for name, future in (("nothing scheduled", 0), ("much scheduled", scale.scheduled)):
            benches[name] = await stack.enter_async_context(bench.beside(f"scheduled_{future}"))
            await benches[name].reset()
            await benches[name].fill(future, ahead="1 day")
            await benches[name].fill(FEW)
            await benches[name].settle()
        samples.modes["much scheduled"] = f"{scale.scheduled:,} tasks"
        claims = min(150, FEW // scale.rounds)
        for _ in range(scale.rounds):
            for name, one in benches.items():
                samples.add(name, await _claim_p50(one, [1], claims))


async def _claim_p50(bench: Bench, job_ids: list[int], claims: int) -> float:
    """Milliseconds, over one connection so that the session's scan floors are kept."""
    connection = await asyncpg.connect(bench.url)
    try:
        await connection.fetch("select 1")
        times = []
        for _ in range(claims):
            started = time.perf_counter()
            rows = await connection.fetch(_CLAIM, job_ids)
            times.append(time.perf_counter() - started)
            assert len(rows) == 1
        return statistics.median(times) * 1000
    finally:
        await connection.close()


SCENARIOS = [
    Scenario(
        "backlog",
        "claim p50 by how many wait",
        "ms",
        backlog,
        (Bar("claim p50, 5 million waiting ÷ 1 thousand", "most waiting", "1,000 waiting", 1.3, 1.15, True),),
        minutes=2.5,
    ),
    Scenario(
        "jobs",
        "claim p50 by how many jobs are served",
        "ms",
        many_jobs,
        (Bar("claim p50, worker serving 100 jobs ÷ 1", "100 jobs", "1 job", 4, 2.5, True),),
        minutes=0.3,
    ),
    Scenario("scheduled", "claim p50 with a million scheduled", "ms", scheduled, minutes=0.7),
]
