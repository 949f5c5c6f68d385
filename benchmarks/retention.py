"""What retention costs the workers beside it, and what it does to the files."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from benchmarks.database import Bench
from benchmarks.scenario import Bar, Samples, Scale, Scenario
from benchmarks.views import END
from pgjobs.sweeper import catch_up

MOST = 500_000
CLIENTS, BATCH = 2, 10
SIZE = """
select sum(pg_total_relation_size(c.oid)) / 1048576.0
from pg_class as c
where c.relnamespace = to_regnamespace('pgjobs') and c.relkind = 'r'
"""


async def beside_workers(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Claim and complete by two clients, alone and while a sweeper removes ended tasks."""
    ended = min(MOST, scale.backlog // 2)
    await bench.reset()
    await bench.fill(ended * 2)
    await bench.connection.execute(END.format(batches=ended // 500, jobs=1))
    await bench.connection.execute("update pgjobs.settings set retain_completed = '1 microsecond'")
    await bench.settle()
    transactions = max(1, ended // 2 // scale.rounds // BATCH // CLIENTS)
    for _ in range(scale.rounds):
        for name in ("alone", "beside retention"):
            sweeping = asyncio.create_task(_remove(bench)) if name != "alone" else None
            tps = await bench.pgbench("cycle.sql", batch=BATCH, clients=CLIENTS, transactions=transactions)
            if sweeping is not None:
                sweeping.cancel()
                with suppress(asyncio.CancelledError):
                    await sweeping
            samples.add(name, tps * BATCH)


async def _remove(bench: Bench) -> None:
    while True:
        await catch_up(bench.queue, 30)


async def files(bench: Bench, scale: Scale, samples: Samples) -> None:
    """Size of all tables with ended tasks, after they were removed, and with as many new ones."""
    ended = min(MOST, scale.backlog // 2)
    await bench.reset()
    for name, after in (("full", "emptied"), ("full again", "emptied again")):
        await bench.fill(ended)
        await bench.connection.execute(END.format(batches=ended // 500, jobs=1))
        await bench.settle()
        samples.add(name, float(await bench.connection.fetchval(SIZE)))
        while await bench.queue.prune_tasks(older_than=timedelta(), batch=10_000):
            pass
        await bench.settle()
        samples.add(after, float(await bench.connection.fetchval(SIZE)))


SCENARIOS = [
    Scenario(
        "retention",
        "claim + complete beside retention",
        "tasks/s",
        beside_workers,
        (Bar("claim + complete, beside retention ÷ alone", "beside retention", "alone", 0.9, 0.97),),
        minutes=5.0,
    ),
    Scenario(
        "files",
        "disk before and after retention",
        "MB",
        files,
        (
            Bar("disk, all ended tasks removed ÷ before", "emptied", "full", 0.9, 0.5, True),
            Bar("disk, filled again ÷ filled first", "full again", "full", 1.1, 1.0, True),
        ),
        minutes=5.0,
    ),
]
