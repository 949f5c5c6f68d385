"""What keys cost: limits by key beside none, turns beside none, and both while a transaction is held."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from benchmarks.database import PAYLOAD, Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario

_CLAIMERS = 8
_KEYS = 1_000
ACTIVE = 10_000
_SUBMIT = """
select count(*) from pgjobs.submit_tasks(
  '1', array_fill($1::text::jsonb, array[$2::int]),
  keys => array(select 'key ' || n % $3::int from generate_series(1, $2::int) as n)
)
"""
_CLAIM = """
select task_id, token
from pgjobs.claim_tasks(holder => 'bench', lease => '1 minute', job_ids => array[1], quantity => $1)
"""
COMPLETE = "select count(*) from pgjobs.complete_tasks($1::bigint[], $2::uuid[])"
_LIMITED = "select pgjobs.limit_job('1', max_running_per_key => 100)"
FAIR = "select pgjobs.limit_job('1', fair => true)"


_POLICIES = {"without keys": None, "limited by key": _LIMITED, "keys take turns": FAIR}


async def throughput(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Tasks of a thousand keys claimed and completed by eight claimers, with a limit by key and without."""
    tasks = min(scale.tasks, 20_000)
    for _ in range(scale.rounds):
        for name, policy in (
            ("without keys", None),
            ("limited by key", _LIMITED),
            ("keys take turns", FAIR),
        ):
            await prepare(bench, policy, tasks, _KEYS)
            samples.add(name, tasks / await _drain(bench))
            async with held(bench) as hold:
                await prepare(bench, policy, tasks, _KEYS)
                await hold()
                samples.add(f"{name}, held", tasks / await _drain(bench))


async def fair_claims(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Median claim of one task, with ten thousand keys that have a turn and without keys."""
    async with AsyncExitStack() as stack:
        benches: dict[str, Bench] = {}
        for name, policy in (("plain claim", None), ("fair claim", FAIR)):
            benches[name] = await stack.enter_async_context(bench.beside(f"sharing_{len(benches)}"))
            await prepare(benches[name], policy, 2 * ACTIVE, ACTIVE)
        for _ in range(scale.rounds):
            for name, one in benches.items():
                samples.add(name, await claim_p50(one, 150))


async def prepare(bench: Bench, policy: str | None, tasks: int, keys: int) -> None:
    await bench.reset()
    if policy is not None:
        await bench.connection.execute(policy)
    for start in range(0, tasks, 10_000):
        await bench.connection.execute(_SUBMIT, PAYLOAD, min(10_000, tasks - start), keys)
    await bench.settle()


async def _drain(bench: Bench) -> float:
    """Seconds until everything is done."""
    started = time.perf_counter()
    await asyncio.gather(*(_work(bench.url) for _ in range(_CLAIMERS)))
    return time.perf_counter() - started


async def _work(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        while rows := await connection.fetch(_CLAIM, 10):
            tasks, tokens = [row["task_id"] for row in rows], [row["token"] for row in rows]
            await connection.execute(COMPLETE, tasks, tokens)
    finally:
        await connection.close()


async def claim_p50(bench: Bench, claims: int) -> float:
    connection = await asyncpg.connect(bench.url)
    try:
        times = []
        for _ in range(claims):
            started = time.perf_counter()
            rows = await connection.fetch(_CLAIM, 1)
            times.append(time.perf_counter() - started)
            assert len(rows) == 1
        return statistics.median(times) * 1000
    finally:
        await connection.close()


@asynccontextmanager
async def held(bench: Bench) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Somebody who reads in an open transaction, from when they are told to."""
    holders: list[asyncpg.Connection] = []

    async def hold() -> None:
        connection = await asyncpg.connect(bench.url)
        await connection.execute("begin isolation level repeatable read")
        await connection.fetch("select count(*) from pgjobs.tasks")
        holders.append(connection)

    try:
        yield hold
    finally:
        for connection in holders:
            await connection.close()


SCENARIOS = [
    Scenario(
        "keys",
        "throughput with a thousand keys",
        "tasks/s",
        throughput,
        (
            Bar("limited by key ÷ without", "limited by key", "without keys", 0.5, 0.7),
            Bar("limited by key, held ÷ not", "limited by key, held", "limited by key", 0.9, 1.0),
            Bar("keys take turns, held ÷ not", "keys take turns, held", "keys take turns", 0.9, 1.0),
        ),
        minutes=2.0,
    ),
    Scenario(
        "fair",
        "claim p50 with ten thousand keys",
        "ms",
        fair_claims,
        (Bar("fair claim ÷ plain claim", "fair claim", "plain claim", 3, 2, True),),
        minutes=0.5,
    ),
]
