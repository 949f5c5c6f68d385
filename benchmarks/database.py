"""A durable Postgres of the benchmark's own, with a queue and the floor beside it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from pgjobs import Queue
from pgjobs.drivers.binaries import find_binaries

HERE = Path(__file__).parent
PAYLOAD = {
    "n": 1,
    "text": "some payload of about one hundred bytes, which is what most people send, more or less",
}


class Bench:
    """One database: verbs through `queue`, everything else through `connection`."""

    def __init__(self, url: str, queue: Queue, connection: asyncpg.Connection) -> None:
        self.url = url
        self.queue = queue
        self.connection = connection

    async def reset(self, *, jobs: int = 1) -> None:
        """Empty tables, `jobs` registered jobs (numbers 1 to `jobs`) and a fresh floor."""
        await self.connection.execute(
            "drop schema if exists pgjobs cascade; drop table if exists floor_queue"
        )
        await self.queue.migrate()
        await self.connection.execute((HERE / "pgbench" / "floor.sql").read_text())
        for number in range(jobs):
            await self.queue.register_job("@global", "bench", f"job{number}")

    async def fill(self, quantity: int, *, jobs: int = 1) -> None:
        """`quantity` waiting tasks, evenly over the jobs."""
        each = quantity // jobs
        for job in range(1, jobs + 1):
            for start in range(0, each, 10_000):
                await self.queue.submit_tasks(str(job), [PAYLOAD] * min(10_000, each - start))

    async def fill_floor(self, quantity: int) -> None:
        await self.connection.execute(
            "insert into floor_queue (payload) select $1 from generate_series(1, $2::int)",
            json.dumps(PAYLOAD),
            quantity,
        )

    async def settle(self) -> None:
        """Statistics and visibility as a quiet server would have them, and no checkpoint due."""
        await self.connection.execute("vacuum analyze")
        await self.connection.execute("checkpoint")

    def pgbench(
        self,
        script: str,
        *,
        batch: int,
        clients: int,
        seconds: float | None = None,
        transactions: int | None = None,
    ) -> float:
        """Transactions per second of one script."""
        command = [
            str(find_pgbench()),
            "--no-vacuum",
            "--protocol=prepared",
            f"--client={clients}",
            f"--jobs={min(clients, 2)}",
            f"--define=batch={batch}",
            f"--file={HERE / 'pgbench' / script}",
        ]
        command.append(f"--time={seconds:g}" if transactions is None else f"--transactions={transactions}")
        done = subprocess.run([*command, self.url], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        line = next(line for line in done.stdout.splitlines() if line.startswith("tps = "))
        return float(line.split()[2])


def find_pgbench() -> Path:
    path = Path(find_binaries()) / "pgbench"
    if not path.exists():
        raise FileNotFoundError("pgbench is not installed beside this Postgres")
    return path


@asynccontextmanager
async def open_bench(url: str) -> AsyncIterator[Bench]:
    queue = await Queue.connect(url, max_size=70)
    connection = await asyncpg.connect(url)
    try:
        yield Bench(url, queue, connection)
    finally:
        await connection.close()
        await queue.close()
