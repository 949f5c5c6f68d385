"""What a task costs behind a coordinator: CPU seconds and WAL of every server process, at 1, 2 and 4 nodes.

`python -m benchmarks.cluster` starts Debian's Postgres servers on loopback, their data in memory, and ends
them. Sizes are fixed: not how fast a machine is, but how much work there is. Producers submit one task per
call through the coordinator, workers claim and complete at the nodes, as docs/scale.md recommends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.schema.embedded import EmbeddedPostgres
from tests.cluster.router import has_plproxy, make_cluster
from tests.server import new_home

BINARIES = Path("/usr/lib/postgresql/15/bin")
RESULT = Path(__file__).parent / "results" / "cluster.json"
JOB = "@global:bench:Work"
PRODUCERS = 4
# No autovacuum, and no checkpoint but those asked for: they come by the clock, not by the task.
OPTIONS = {
    "shared_buffers": "64MB",
    "max_connections": "60",
    "autovacuum": "off",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "full_page_writes": "off",
    "jit": "off",
}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Of one task, over all servers."""

    nodes: int
    tasks: int
    cpu_ms_of_nodes: float
    cpu_ms_of_coordinator: float
    wal_bytes_of_nodes: float
    wal_bytes_of_coordinator: float

    @property
    def cpu_ms(self) -> float:
        return self.cpu_ms_of_nodes + self.cpu_ms_of_coordinator


def cpu_seconds(server: EmbeddedPostgres) -> float:
    """Of the postmaster, its processes that live and those that are gone."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return _ticks(postmaster, 4) + sum(_ticks(int(child), 2) for child in children)


def _ticks(process: int, quantity: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11 : 11 + quantity])) / _TICKS


async def wal_of(server: EmbeddedPostgres) -> int:
    connection = await asyncpg.connect(server.url)
    position = await connection.fetchval("select (pg_current_wal_insert_lsn() - '0/0')::bigint")
    await connection.close()
    return int(position)


async def produce(url: str, quantity: int) -> None:
    async with await Queue.connect(url, max_size=2) as queue:
        for number in range(quantity):
            await queue.submit_task(JOB, {"order": number})


async def work(url: str) -> int:
    """Everything that is due at one node."""
    done = 0
    async with await Queue.connect(url, max_size=2) as queue:
        while leases := await queue.claim_tasks(
            holder="bench", lease=timedelta(hours=1), in_room="@global", quantity=50, start=True
        ):
            await queue.complete_tasks(leases)
            done += len(leases)
    return done


async def round_of(coordinator: EmbeddedPostgres, nodes: list[EmbeddedPostgres], tasks: int) -> None:
    share = tasks // PRODUCERS
    await asyncio.gather(*(produce(coordinator.url, share) for _ in range(PRODUCERS)))
    done = await asyncio.gather(*(work(node.url) for node in nodes))
    assert sum(done) == share * PRODUCERS, f"{sum(done)} of {share * PRODUCERS} were done"


async def measured(quantity: int, tasks: int) -> Cost:
    """A cluster of so many nodes, warm."""
    home = new_home()
    try:
        with ExitStack() as running:
            coordinator, *nodes = [
                running.enter_context(
                    EmbeddedPostgres(home / str(number), options=OPTIONS, binaries=BINARIES)
                )
                for number in range(quantity + 1)
            ]
            if not await has_plproxy(coordinator.url):
                raise SystemExit("The server has no PL/Proxy: apt-get install postgresql-15-plproxy")
            await make_cluster(coordinator.url, {n: node.url for n, node in enumerate(nodes, 1)})
            async with await Queue.connect(coordinator.url, max_size=2) as queue:
                await queue.register_job(*JOB.split(":"))
            await round_of(coordinator, nodes, max(PRODUCERS, tasks // 10))
            servers = [coordinator, *nodes]
            before = [(cpu_seconds(server), await wal_of(server)) for server in servers]
            await round_of(coordinator, nodes, tasks)
            after = [(cpu_seconds(server), await wal_of(server)) for server in servers]
            cpu = [(end[0] - begin[0]) * 1000 / tasks for begin, end in zip(before, after, strict=True)]
            wal = [(end[1] - begin[1]) / tasks for begin, end in zip(before, after, strict=True)]
            return Cost(quantity, tasks, sum(cpu[1:]), cpu[0], sum(wal[1:]), wal[0])
    finally:
        shutil.rmtree(home, ignore_errors=True)


def told(cost: Cost, base: Cost) -> str:
    cpu, wal = cost.cpu_ms / base.cpu_ms - 1, cost.wal_bytes_of_nodes / base.wal_bytes_of_nodes - 1
    return (
        f"{cost.nodes} nodes: {cost.cpu_ms:.3f} ms CPU per task ({cpu:+.1%} of one node's),"
        f" {cost.cpu_ms_of_coordinator / cost.cpu_ms:.0%} of it the coordinator's;"
        f" {cost.wal_bytes_of_nodes:.0f} bytes WAL ({wal:+.1%}),"
        f" the coordinator's {cost.wal_bytes_of_coordinator:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000, help="at each size")
    parser.add_argument("--rounds", type=int, default=3, help="of which the cheapest counts")
    parser.add_argument("--write", action="store_true", help=f"keep them in {RESULT.name}")
    chosen = parser.parse_args()
    costs: list[Cost] = []
    for quantity in (1, 2, 4):
        found = [asyncio.run(measured(quantity, chosen.tasks)) for _ in range(chosen.rounds)]
        costs.append(min(found, key=lambda cost: cost.cpu_ms))
        print(told(costs[-1], costs[0]), flush=True)
    if chosen.write:
        RESULT.write_text(json.dumps([asdict(cost) for cost in costs], indent=2) + "\n")


if __name__ == "__main__":
    main()
