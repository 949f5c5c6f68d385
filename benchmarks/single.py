"""One task at a time: in SQL, on a fresh connection, and in instructions."""

from __future__ import annotations

import asyncio
import json
import shutil

from benchmarks.core import CYCLE, SUBMIT
from benchmarks.database import Bench
from benchmarks.instructions import COMMITTED, measure
from benchmarks.scenario import Bar, Samples, Scale, Scenario

CLIENTS = 4
TRANSACTIONS = 1_500
"""Of each client in a full turn."""
CONNECTIONS = 300
"""Opened by each client in a full turn, one after the other."""
AT_THE_START = {"submit one": 793.0, "claim and complete one": 1_877.0}
"""Thousands of instructions before the single task was made fast, counted on Postgres 15.20."""


async def single(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Submit of one, and claim + complete of one, by four clients, each waiting for the disk."""
    transactions = max(5, int(TRANSACTIONS * scale.share))
    for _ in range(scale.rounds):
        await bench.reset()
        for name in ("floor", "pgjobs"):
            tps = await bench.pgbench(SUBMIT[name], batch=1, clients=CLIENTS, transactions=transactions)
            samples.add(f"{name} submit", tps)
        await bench.settle()
        for name in ("floor", "pgjobs"):
            tps = await bench.pgbench(CYCLE[name], batch=1, clients=CLIENTS, transactions=transactions)
            samples.add(f"{name} claim + complete", tps)


async def fresh(bench: Bench, scale: Scale, samples: Samples) -> None:
    """A connection for each submit: connecting, compiling and planning included."""
    await bench.reset()
    connections = max(3, int(CONNECTIONS * scale.share))
    scripts = {"floor": "floor_function.sql", "pgjobs": SUBMIT["pgjobs"]}
    for _ in range(scale.rounds):
        for name, script in scripts.items():
            tps = await bench.pgbench(
                script, batch=1, clients=1, transactions=connections, is_connecting=True
            )
            samples.add(name, 1000 / tps)
    samples.modes["floor"] = "a plpgsql function that inserts one row"


async def instructions(_bench: Bench, scale: Scale, samples: Samples) -> None:
    """Instructions of a warm backend; short rounds take the committed counts."""
    if scale.name == "full" and shutil.which("valgrind"):
        version, found = await asyncio.to_thread(measure, tuple(AT_THE_START))
        counts = {name: count.warm for name, count in found.items()}
    else:
        committed = json.loads(COMMITTED.read_text())
        version, counts = committed["server"], {n: c["warm"] for n, c in committed["counts"].items()}
    for name, before in AT_THE_START.items():
        samples.add(name, counts[name])
        samples.modes[name] = f"Postgres {version}"
        samples.add(f"{name}, at the start", before)


SCENARIOS = [
    Scenario(
        "single",
        f"submit one, and claim + complete one, by {CLIENTS} clients",
        "tasks/s",
        single,
        tuple(
            Bar(f"SQL {what} of one ÷ floor", f"pgjobs {what}", f"floor {what}", 0.6, 0.75)
            for what in ("submit", "claim + complete")
        ),
        minutes=1.0,
    ),
    Scenario(
        "fresh",
        "submit one on a connection of its own",
        "ms",
        fresh,
        (
            Bar(
                "submit on a fresh connection ÷ a plpgsql function that inserts one row",
                "pgjobs",
                "floor",
                1.4,
                1.2,
                True,
            ),
        ),
        minutes=1.5,
    ),
    Scenario(
        "instructions",
        "instructions of one call",
        "thousands",
        instructions,
        tuple(
            Bar(f"instructions: {name} ÷ at the start", name, f"{name}, at the start", 0.6, 0.4, True)
            for name in AT_THE_START
        ),
        minutes=2.0,
    ),
]
