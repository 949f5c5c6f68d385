"""The SQL core by plain pgbench, with the least a queue in Postgres can do beside it."""

from __future__ import annotations

import asyncpg

from benchmarks.database import Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario

BATCHES = (1, 10, 100, 500)


async def cycle(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Claim and complete in batches of 100 by eight clients, against the floor doing the same.

    Long enough that compiling functions, which every new session does once, is a small part of it.
    """
    for _ in range(scale.rounds):
        for name in ("floor", "pgjobs"):
            samples.add(name, await _drain(bench, name, batch=100, clients=8, tasks=scale.tasks * 2))


async def batches(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Submit, and claim with complete, at every batch size."""
    for _ in range(min(scale.rounds, 3)):
        await bench.reset()
        for batch in BATCHES:
            transactions = max(2, int((500 if batch < 100 else 100) * scale.share))
            for name in ("floor", "pgjobs"):
                for what, scripts in (("submit", SUBMIT), ("cycle", CYCLE)):
                    tps = await bench.pgbench(
                        scripts[name], batch=batch, clients=4, transactions=transactions
                    )
                    samples.add(f"{name} {what} × {batch}", tps * batch)


async def workers(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Claim and complete in batches of 10 by eight clients, and by sixty-four."""
    tasks = scale.tasks // 4
    for _ in range(scale.rounds):
        for name, clients in (("8 workers", 8), ("64 workers", 64)):
            samples.add(name, await _drain(bench, "pgjobs", batch=10, clients=clients, tasks=tasks))


async def submit(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Submit in batches of 1,000 by two clients, against a plain multi-row insert of the same payload."""
    for _ in range(scale.rounds):
        for name in ("floor", "pgjobs"):
            samples.add(name, await _fill(bench, name, batch=1_000, clients=2, tasks=scale.tasks))


async def held(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Drain by four workers, freely or while somebody holds a transaction open."""
    for _ in range(scale.rounds):
        for name in ("free", "held"):
            await bench.reset()
            await bench.fill(scale.tasks * 2)
            await bench.settle()
            holder = await asyncpg.connect(bench.url)
            try:
                if name == "held":
                    await holder.execute("begin isolation level repeatable read; select txid_current()")
                transactions = scale.tasks * 2 // 100 // 4
                tps = await bench.pgbench("cycle.sql", batch=100, clients=4, transactions=transactions)
            finally:
                await holder.close()
            samples.add(name, tps * 100)


async def space(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Bytes of WAL and of disk per task from submit to outcome, against the floor's insert, claim and delete.

    The floor keeps nothing, so its disk is what its dead rows occupy until vacuum.
    """
    tasks = min(scale.tasks, 40_000)
    for _ in range(min(scale.rounds, 3)):
        for name in ("floor", "pgjobs"):
            await bench.reset()
            await bench.settle()
            wal, disk = await _used(bench)
            await bench.pgbench(SUBMIT[name], batch=1_000, clients=1, transactions=tasks // 1_000)
            await bench.pgbench(CYCLE[name], batch=100, clients=1, transactions=tasks // 100)
            more_wal, more_disk = await _used(bench)
            samples.add(f"{name} WAL", (more_wal - wal) / tasks)
            samples.add(f"{name} disk", (more_disk - disk) / tasks)


SUBMIT = {"floor": "floor_submit.sql", "pgjobs": "submit.sql"}
CYCLE = {"floor": "floor_cycle.sql", "pgjobs": "cycle.sql"}


async def _used(bench: Bench) -> tuple[float, float]:
    """Bytes of WAL and of disk so far."""
    wal = await bench.connection.fetchval("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
    return float(wal), float(await bench.connection.fetchval("select pg_database_size(current_database())"))


async def _fill(bench: Bench, name: str, *, batch: int, clients: int, tasks: int) -> float:
    """Tasks submitted per second."""
    await bench.reset()
    await bench.settle()
    transactions = tasks // clients // batch
    return batch * await bench.pgbench(SUBMIT[name], batch=batch, clients=clients, transactions=transactions)


async def _drain(bench: Bench, name: str, *, batch: int, clients: int, tasks: int) -> float:
    """Tasks claimed and completed per second."""
    await bench.reset()
    await (bench.fill_floor if name == "floor" else bench.fill)(tasks)
    await bench.settle()
    # A fixed number of transactions, four fifths of what waits: nobody runs dry.
    transactions = tasks * 4 // 5 // batch // clients
    return batch * await bench.pgbench(CYCLE[name], batch=batch, clients=clients, transactions=transactions)


SCENARIOS = [
    Scenario(
        "cycle",
        "claim + complete, batch 100 by 8 clients",
        "tasks/s",
        cycle,
        (Bar("SQL claim + complete, batch 100 × 8 clients ÷ floor", "pgjobs", "floor", 0.7, 0.8),),
        minutes=1.8,
    ),
    Scenario(
        "submit",
        "bulk submit, 1,000 a call by 2 clients",
        "tasks/s",
        submit,
        (Bar("bulk submit ÷ plain multi-row insert of the same payload", "pgjobs", "floor", 0.5, 0.7),),
    ),
    Scenario(
        "held",
        "drain with a transaction held open",
        "tasks/s",
        held,
        (Bar("drain with a transaction held open ÷ none", "held", "free", 0.9, 0.97),),
        minutes=3.7,
    ),
    Scenario("batches", "submit and cycle at batch 1, 10, 100, 500", "tasks/s", batches, minutes=1.0),
    Scenario("workers", "claim + complete, batch 10, by 8 and 64 clients", "tasks/s", workers, minutes=1.0),
    Scenario(
        "space",
        "WAL and disk per task, submit to outcome",
        "bytes",
        space,
        (Bar("WAL bytes per task, submit to outcome ÷ floor", "pgjobs WAL", "floor WAL", 1.7, 1.5, True),),
        minutes=0.5,
    ),
]
